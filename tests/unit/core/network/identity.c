/* core/network/identity: neurons known again in another version of their network, in which some have come and some
 * gone, against a list of who is who. */
#include "tests/unit/networks.h"

#include "core/generate/generate.h"
#include "core/network/identity.h"

enum { N = 3000, MOST = N + 200 };

static cm_error error;
static cm_run run;

static void set_up(void)
{
  cm_run_init(&run);
}

/* A network without the neurons whose fate is false, and with `fresh` new ones that have a net to random others, at
 * random places. was[] gets the old number of each, CM_NOBODY for new ones. */
static cm_topology change(const cm_topology *t, const bool *stays, uint32_t fresh, cm_random *random, uint32_t *was)
{
  static uint32_t now[N];
  uint32_t count = 0, left = t->vertex_count;
  for (uint32_t v = 0; v < t->vertex_count; v++, left--) {
    while (fresh > 0 && below(random, left) < fresh) {
      was[count++] = CM_NOBODY;
      fresh--;
    }
    now[v] = CM_NOBODY;
    if (stays[v]) {
      now[v] = count;
      was[count++] = v;
    }
  }
  cm_topology made = {.directed = true, .vertex_count = count, .net_count = count, .size_total = count,
                      .weight_scale = t->weight_scale};
  made.net_first = network_array((size_t)count + 1, sizeof *made.net_first);
  made.net_weight = network_array(count, sizeof *made.net_weight);
  made.pin = network_array(t->pin_count + 40 * (size_t)count, sizeof *made.pin);
  for (uint32_t v = 0; v < count; v++) {
    uint64_t end = made.net_first[v], first = was[v] != CM_NOBODY ? t->net_first[was[v]] : 0;
    uint64_t targets = was[v] != CM_NOBODY ? t->net_first[was[v] + 1] - first : 30;
    made.net_weight[v] = was[v] != CM_NOBODY ? t->net_weight[was[v]] : 1 + below(random, 1000000);
    for (uint64_t i = 0; i < targets; i++) {
      uint32_t to = was[v] != CM_NOBODY ? now[t->pin[first + i]] : (uint32_t)(i * (count / 30));
      if (to != CM_NOBODY)
        made.pin[end++] = to;
    }
    made.net_first[v + 1] = end;
  }
  made.pin_count = made.net_first[count];
  return made;
}

static void give_names(cm_topology *t, const uint32_t *was)
{
  t->label_text = network_array(12 * (size_t)t->vertex_count, 1);
  t->label_first = network_array((size_t)t->vertex_count + 1, sizeof *t->label_first);
  uint64_t end = 0;
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    t->label_first[v] = end;
    bool old = was == NULL || was[v] != CM_NOBODY;
    end += 1 + (uint64_t)snprintf(t->label_text + end, 12, "%s%u", old ? "n" : "new", was == NULL || !old ? v : was[v]);
  }
  t->label_first[t->vertex_count] = end;
}

static uint32_t known_again(cm_topology *t, cm_topology *other, const uint32_t *was)
{
  static uint64_t old_key[MOST], key[MOST];
  static uint32_t old_of[MOST];
  static uint8_t taken[MOST];
  uint32_t right = 0;
  ck_ok(cm_identify(CM_DEMAND_OF(t), &run, old_key, &error));
  ck_ok(cm_identify(CM_DEMAND_OF(other), &run, key, &error));
  const cm_versions versions = {.old_key = old_key, .old_count = t->vertex_count, .key = key, .count = other->vertex_count};
  ck_ok(cm_match_neurons(&versions, t->label_text != NULL, &run, old_of, &error));
  memset(taken, 0, sizeof taken);
  for (uint32_t v = 0; v < other->vertex_count; v++) {
    ck_assert_uint_lt(key[v], UINT64_C(1) << CM_KEY_BITS);
    if (old_of[v] != CM_NOBODY) {
      ck_assert_uint_lt(old_of[v], t->vertex_count);
      ck_assert_uint_eq(taken[old_of[v]]++, 0);
    }
    right += old_of[v] == was[v];
  }
  return right;
}

START_TEST(neurons_are_known_again)
{
  static const struct {
    uint32_t loses_every, runs_of, fresh;
    bool named;
    double share; /* known again, at least */
  } cases[] = {{50, 1, 0, true, 1},     {50, 1, 40, true, 1},     {100, 1, 0, false, 0.97}, {200, 1, 15, false, 0.97},
               {2000, 90, 0, false, 0.97}, {5000, 1, 30, false, 0.97}, {5000, 1, 0, false, 1}};
  run.seed = 5;
  cm_topology *t;
  ck_ok(cm_generate_reservoir(N, 40, &run, &t, &error));
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    static bool stays[N];
    static uint32_t was[MOST];
    cm_random random;
    cm_random_init(&random, k, 1, 0);
    for (uint32_t v = 0; v < N; v++)
      stays[v] = true;
    for (uint32_t v = 0; v < N; v++)
      if (below(&random, cases[k].loses_every) == 0)
        memset(stays + v, false, N - v < cases[k].runs_of ? N - v : cases[k].runs_of);
    cm_topology old = *t, new = change(t, stays, cases[k].fresh, &random, was);
    if (cases[k].named) {
      give_names(&old, NULL);
      give_names(&new, was);
    }
    uint32_t right = known_again(&old, &new, was);
    ck_assert_msg(right >= cases[k].share * new.vertex_count, "case %zu: %u of %u", k, right, new.vertex_count);
    network_free(&new);
    CM_FREE(cases[k].named ? old.label_text : NULL, cases[k].named ? old.label_first : NULL);
  }
  cm_topology_free(t);
}
END_TEST

/* Names may repeat: the first of each goes to the first, and nobody goes twice. */
START_TEST(equal_keys_go_in_order)
{
  static const uint64_t old_key[] = {7, 3, 7, 9, 7}, key[] = {9, 7, 7, 5};
  static const uint32_t right[] = {3, 0, 2, CM_NOBODY};
  uint32_t old_of[4];
  ck_ok(cm_match_neurons(&(cm_versions){.old_key = old_key, .old_count = 5, .key = key, .count = 4}, true, &run, old_of, &error));
  ck_assert_mem_eq(old_of, right, sizeof right);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("identity");
  TCase *tests = tcase_create("all");
  tcase_add_checked_fixture(tests, set_up, NULL);
  suite_add_tcase(suite, tests);
  tcase_add_test(tests, neurons_are_known_again);
  tcase_add_test(tests, equal_keys_go_in_order);
  return test_main(suite);
}
