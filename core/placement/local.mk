libcoremap_a_SOURCES += \
  core/placement/cluster_sites.h core/placement/cluster_sites.c core/placement/circuit_sites.h core/placement/circuit_sites.c core/placement/copy_leaving.h core/placement/copy_leaving.c core/placement/copying.h core/placement/copying.c core/placement/copy_rounds.h core/placement/copy_rounds.c core/placement/copying_together.c \
  core/placement/placement.h core/placement/task.h core/placement/bisection.c core/placement/force.c \
  core/placement/axes.h core/placement/axes.c core/placement/axis_prices.h core/placement/axis_prices.c \
  core/placement/qap/grid_symmetry.h core/placement/qap/grid_symmetry.c core/placement/qap/crossing.h core/placement/qap/crossing.c \
  core/placement/qap/qap.h core/placement/qap/qap.c core/placement/qap/work.c core/placement/qap/qap_internal.h \
  core/placement/mesh/mesh.h core/placement/mesh/mesh.c core/placement/mesh/mesh_descent.h \
  core/placement/mesh/mesh_descent.c core/placement/mesh/mesh_order.c core/placement/mesh/mesh_trials.c \
  core/placement/mesh/mesh_cycle.c core/placement/mesh/mesh_state.h core/placement/mesh/mesh_state.c \
  core/placement/mesh/mesh_grid.c core/placement/mesh/mesh_coarsen.h core/placement/mesh/mesh_coarsen.c \
  core/placement/mesh/mesh_layout.c core/placement/mesh/mesh_anneal.h core/placement/mesh/mesh_anneal.c core/placement/mesh/mesh_settle.c \
  core/placement/mesh/mesh_rebalance.c core/placement/mesh/mesh_halve.c \
  core/placement/arrange.h core/placement/arrange.c core/placement/curve.h core/placement/curve.c core/placement/swaps.h core/placement/swaps.c \
  core/placement/qap/qap_kernel.h core/placement/qap/qap_narrow.c core/placement/qap/qap_wide.c \
  core/placement/blocks.h core/placement/blocks.c core/placement/renumber.c core/placement/cluster_order.c \
  core/placement/exchange.h core/placement/exchange.c \
  core/placement/modes.h core/placement/modes.c core/placement/trades.h core/placement/trades.c \
  core/placement/ways/ways.h core/placement/ways/ways.c core/placement/ways/core_order.c core/placement/ways/mode_layout.h core/placement/ways/level.c core/placement/ways/level.h core/placement/ways/mode_layout.c \
  core/placement/kinds/kinds.h core/placement/kinds/kinds.c core/placement/kinds/pulls.h core/placement/kinds/pulls.c core/placement/kinds/turned.c core/placement/related/related.h core/placement/related/related.c core/placement/related/related_near.c \
  core/placement/reassign/dissolve.c core/placement/reassign/evict.c core/placement/reassign/hasten.c core/placement/reassign/hasten.h core/placement/reassign/place_new.c \
  core/placement/reassign/reassign.c core/placement/reassign/reassign.h core/placement/reassign/reassignment.h \
  core/placement/links/links.h core/placement/links/links.c \
  core/placement/relief/router_loads.h core/placement/relief/router_loads.c core/placement/relief/relief.h core/placement/relief/relief.c \
  core/placement/trees/casts.h core/placement/trees/casts.c \
  core/placement/trees/tree_state.h core/placement/trees/tree_state.c core/placement/trees/tree_prices.c \
  core/placement/trees/tree_walk.h core/placement/trees/mesh_walk.c core/placement/trees/way_walk.c \
  core/placement/trees/group_state.h core/placement/trees/group_state.c core/placement/trees/groups.c core/placement/trees/groups_orders.c \
  core/placement/trees/trees.h core/placement/trees/trees.c
