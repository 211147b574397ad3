/* Schemas of the options of mappings, models and simulations: what they say is what is read. */
#include "tests/unit/unit.h"

#include "base/threads.h"
#include "core/machine/compile.h"
#include "core/mapping/map.h"
#include "core/mapping/simulate/request.h"

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

int main(void)
{
  Suite *suite = suite_create("options");
  TCase *tests = tcase_create("options");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, schemas_of_options_are_what_is_read);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
