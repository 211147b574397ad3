libcoremap_a_SOURCES += \
  core/routing/key_order.c core/routing/minimise.c core/routing/minimise.h core/routing/minimise_ternary.c core/routing/routes.c \
  core/routing/routes.h core/routing/routes_export.c core/routing/routes_flows.c core/routing/shared_trees.c core/routing/tables.c \
  core/routing/tables.h core/routing/tables_fit.c core/routing/walk.c core/routing/walk.h core/routing/way_routes.c \
  core/routing/widen.c core/routing/widen.h core/routing/words.c core/routing/words.h
