/* Schemas of the options of mappings, models and simulations: what they say is what is read. */
#include "tests/unit/unit.h"

#include "base/threads.h"
#include "core/machine/compile.h"
#include "core/mapping/options.h"
#include "core/simulate/simulate_request.h"

static bool takes(const cm_options *table, const char *name, json_t *value)
{
  _Alignas(max_align_t) char fields[8192] = {0};
  cm_error error;
  json_t *object = json_pack("{s:o}", name, value);
  cm_status status = cm_options_read(table, object, fields, &error);
  ck_assert_msg(status == CM_OK || strstr(error.where, name) != NULL, "%s: \"%s\" at %s", name, error.detail, error.where);
  json_decref(object);
  return status == CM_OK;
}

/* What an option's schema allows is read, and what it does not is refused. */
static void check_schema(const cm_options *table, const char *name, const json_t *schema)
{
  const json_t *least = json_object_get(schema, "minimum"), *most = json_object_get(schema, "maximum"),
               *words = json_object_get(schema, "enum"), *normal = json_object_get(schema, "default");
  const char *type = json_string_value(json_object_get(schema, "type"));
  size_t i;
  json_t *word;
  ck_assert_msg(json_string_length(json_object_get(schema, "description")) > 3, "%s: %s", table->of, name);
  if (normal != NULL)
    ck_assert_msg(takes(table, name, json_deep_copy(normal)), "%s refuses its default", name);
  json_array_foreach(words, i, word)
    ck_assert_msg(takes(table, name, json_deep_copy(word)), "%s refuses a word", name);
  if (words != NULL)
    ck_assert(!takes(table, name, json_string("no such word")));
  if (most != NULL) {
    ck_assert_msg(takes(table, name, json_deep_copy(most)), "%s refuses its most", name);
    ck_assert_msg(!takes(table, name, json_real(json_number_value(most) * 4 + 1)), "%s takes more", name);
  }
  if (least != NULL) {
    ck_assert_msg(takes(table, name, json_deep_copy(least)), "%s refuses its least", name);
    ck_assert_msg(!takes(table, name, json_integer(-1)), "%s takes -1", name);
  }
  if (json_object_get(schema, "exclusiveMinimum") != NULL)
    ck_assert_msg(!takes(table, name, json_integer(0)), "%s takes 0", name);
  if (type != NULL && strcmp(type, "boolean") == 0)
    ck_assert(takes(table, name, json_true()) && !takes(table, name, json_integer(1)));
  ck_assert_msg(!takes(table, name, json_null()), "%s takes null", name);
}

START_TEST(schemas_of_options_are_what_is_read)
{
  const cm_options *const tables[] = {&cm_map_option_table, &cm_compile_option_table, &cm_simulate_option_table};
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
    json_t *schema = cm_options_schema(tables[t]), *one;
    const char *name;
    size_t count = 0;
    ck_assert(json_is_false(json_object_get(schema, "additionalProperties")));
    json_object_foreach(json_object_get(schema, "properties"), name, one)
    {
      check_schema(tables[t], name, one);
      count++;
    }
    ck_assert_uint_eq(count, tables[t]->count);
    ck_assert(!takes(tables[t], "colour", json_integer(1)));
    json_decref(schema);
  }
}
END_TEST

/* What the fields say after `object`, which is let go; NULL: it is refused. */
static json_t *said(const cm_options *table, json_t *object, cm_error *error)
{
  _Alignas(max_align_t) char fields[8192] = {0};
  cm_options_default(table, fields);
  cm_status status = cm_options_read(table, object, fields, error);
  json_decref(object);
  return status == CM_OK ? cm_options_json(table, fields, false) : NULL;
}

/* The names of then stand here, and are not taken from the tables. */
START_TEST(names_of_the_version_before_are_read)
{
  static const struct {
    const cm_options *table;
    const char *was, *now, *value, *same; /* `same`: the value as it is called now */
  } names[] = {{&cm_map_option_table, "communication", "traffic_model", "\"multicast\"", "\"multicast\""},
               {&cm_map_option_table, "force_share", "force_fraction", "0.25", "0.25"},
               {&cm_map_option_table, "force_rounds", "force_passes", "7", "7"},
               {&cm_map_option_table, "attempts", "capacity_tries", "3", "3"},
               {&cm_map_option_table, "policy_aim", "policy_objective", "\"reward\"", "\"reward\""},
               {&cm_map_option_table, "compare", "baseline", "\"fresh\"", "\"fresh\""},
               {&cm_map_option_table, "mapper", "mapper", "\"staged\"", "\"two-phase\""},
               {&cm_map_option_table, "mapper", "mapper", "\"mesh\"", "\"integrated\""},
               {&cm_simulate_option_table, "communication", "traffic_model", "\"multicast\"", "\"multicast\""}};
  cm_error error;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    json_t *value = json_loads(names[i].value, JSON_DECODE_ANY, NULL), *same = json_loads(names[i].same, JSON_DECODE_ANY, NULL);
    json_t *old = said(names[i].table, json_pack("{s:O}", names[i].was, value), &error),
           *new = said(names[i].table, json_pack("{s:O}", names[i].now, same), &error),
           *nothing = said(names[i].table, json_object(), &error);
    ck_assert_msg(old != NULL && json_equal(old, new) && !json_equal(old, nothing), "%s is not read as %s", names[i].was, names[i].now);
    json_t *told = json_array(), *renamed = json_pack("{s:O, s:i}", names[i].was, value, "seed", 4);
    ck_ok(cm_options_rename(names[i].table, renamed, told, &error));
    ck_assert(json_equal(json_object_get(renamed, names[i].now), same) && json_object_size(renamed) == 2);
    ck_assert_uint_eq(json_array_size(told), 1);
    const char *sentence = json_string_value(json_array_get(told, 0));
    ck_assert(strstr(sentence, names[i].was) != NULL && strstr(sentence, names[i].now) != NULL);
    ck_ok(cm_options_rename(names[i].table, renamed, told, &error)); /* what has its name is left as it is */
    ck_assert_uint_eq(json_array_size(told), 1);
    if (strcmp(names[i].was, names[i].now) != 0) {
      ck_assert_ptr_null(said(names[i].table, json_pack("{s:O, s:O}", names[i].was, value, names[i].now, value), &error));
      ck_assert(strncmp(error.where, "/options/", 9) == 0 && strcmp(error.where + 9, names[i].was) == 0);
    }
    json_decref(told);
    json_decref(renamed);
    json_decref(old);
    json_decref(new);
    json_decref(nothing);
    json_decref(value);
    json_decref(same);
  }
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("options");
  TCase *tests = tcase_create("options");
  tcase_add_test(tests, schemas_of_options_are_what_is_read);
  tcase_add_test(tests, names_of_the_version_before_are_read);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
