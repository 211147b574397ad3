libcoremap_a_SOURCES += \
  core/fabric/fabric_flows.h core/fabric/fabric_flows.c core/fabric/fabric_tree.h core/fabric/fabric_tree.c core/fabric/fabric_routes.h core/fabric/fabric_routes.c \
  core/fabric/fabric_place.h core/fabric/fabric_place.c core/fabric/fabric_placing.h core/fabric/fabric_nets.h core/fabric/fabric_nets.c core/fabric/fabric_fill.c \
  core/fabric/fabric_order.c core/fabric/fabric_cost.c core/fabric/fabric_swap.c
