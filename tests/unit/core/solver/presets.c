/* core/solver/presets: every row of the table is within the ranges that its fields state, and more effort is no less of anything. */
#include "tests/unit/unit.h"

#include "core/placement/qap/qap.h"
#include "core/solver/presets.h"

/* What an effort spends: of the preset below, never more. */
static const struct spent {
  const char *name;
  size_t at;
  bool whole; /* uint64_t */
} spent[] = {
#define REAL(field) {#field, offsetof(cm_effort, field), false}
#define WHOLE(field) {#field, offsetof(cm_effort, field), true}
  REAL(policy_looks), WHOLE(nets_pins), REAL(steps.visits), REAL(steps.growth_looks), REAL(mesh.visits),
  REAL(place.arrange.looks), REAL(place.arrange.block_entries), REAL(place.arrange.many_entries), REAL(place.arrange.way_entries),
  REAL(place.arrange.relief), REAL(place.trees.looks), REAL(place.trees.way_looks), REAL(place.trees.group_looks_max),
  REAL(place.links.looks), REAL(place.kind_entries),
#undef REAL
#undef WHOLE
};

static double spent_by(const cm_effort *effort, const struct spent *what)
{
  const char *at = (const char *)effort + what->at;
  return what->whole ? (double)*(const uint64_t *)at : *(const double *)at;
}

START_TEST(more_effort_spends_no_less_of_anything)
{
  const cm_effort *effort = &cm_efforts[_i], *below = effort->below;
  ck_assert_ptr_eq(cm_effort_least(effort), below == NULL ? effort : cm_effort_least(below));
  if (below == NULL)
    return;
  ck_assert_int_lt(cm_effort_preset(below), cm_effort_preset(effort));
  for (size_t i = 0; i < sizeof spent / sizeof *spent; i++)
    ck_assert_msg(spent_by(effort, &spent[i]) >= spent_by(below, &spent[i]), "preset %s spends less than %s: %s",
                  cm_preset_facts_of((cm_preset)_i)->name, cm_preset_facts_of(cm_effort_preset(below))->name, spent[i].name);
}
END_TEST

static void check_partitions(const cm_effort *e)
{
  ck_assert(e->axons.starts >= 1);
  ck_assert(e->axons_on_mesh.cycles >= 1 && e->axons_on_mesh.cycle_pins >= 1);
  ck_assert(e->edges.starts >= 1 && e->edges.tries >= 1 && e->edges.coarse_vertices > 0);
  ck_assert(e->nets.starts >= 1 && e->nets.attempts >= 1 && e->nets_free.starts >= 1 && e->nets_free.attempts >= 1);
  ck_assert(e->nets_pins > 0 && e->steps.growths >= 1 && e->steps.visits > 0);
  ck_assert(e->second != NULL || !e->second_always);
}

static void check_places(const cm_place_effort *p)
{
  const cm_arrange_budget *a = &p->arrange;
  ck_assert(a->few <= CM_QAP_CORES_MAX && (a->few == 0 || (a->looks > 0 && a->population >= 1 && a->sweeps_max > 0)));
  ck_assert(a->block_entries > 0 && a->block_sweeps_min > 0 && a->block_sweeps_min <= a->block_sweeps_max);
  ck_assert(a->many_entries > 0 && a->way_entries > 0 && a->way_sweeps > 0);
  ck_assert(p->trees.looks > 0 && p->trees.sweeps_min >= 1 && p->trees.sweeps_min <= p->trees.sweeps_max && p->trees.sweeps_last >= 1);
  ck_assert(p->trees.way_looks > 0 && p->trees.way_sweeps > 0 && p->trees.group_looks > 0);
  ck_assert(p->trees.group_looks_max >= p->trees.group_looks && p->links.looks > 0 && p->links.swaps > 0);
}

START_TEST(rows_are_within_the_ranges_of_their_fields)
{
  const cm_effort *effort = &cm_efforts[_i];
  const cm_preset_facts *facts = cm_preset_facts_of((cm_preset)_i);
  ck_assert_str_eq(cm_option_find(&cm_map_option_table, "preset")->words[_i], facts->name);
  ck_assert(facts->synapse_ns > 0 && facts->synapses_max > 0 && facts->least_s > 0 && facts->element_ns > 0 && facts->regions <= 64);
  ck_assert(effort->mesh.starts >= 1 && effort->mesh.descents >= 1 && effort->mesh.visits > 0 && effort->mesh.sweeps_max > 0);
  ck_assert(effort->place.kind_entries > 0 && effort->place.kind_sweeps > 0);
  check_places(effort->arranged_as != NULL ? &effort->arranged_as->place : &effort->place);
  if (!facts->edge_alone) /* the published method has parameters of its own, which are options */
    check_partitions(effort);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("presets");
  TCase *tests = tcase_create("presets");
  tcase_add_loop_test(tests, more_effort_spends_no_less_of_anything, 0, CM_PRESETS);
  tcase_add_loop_test(tests, rows_are_within_the_ranges_of_their_fields, 0, CM_PRESETS);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
