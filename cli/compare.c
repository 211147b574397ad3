/* coremap compare: two mappings of one network, metric by metric. */
#include <coremap/map.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/remote.h"
#include "cli/table.h"

static const cli_flag flags[] = {CLI_SERVER_FLAGS, CLI_JSON_FLAG, CLI_QUIET_FLAG, {0}};

enum { NAME_SHOWN = 24 };

/* The summary of a mapping: of a file, else of a server's, by its id or its job's. The caller's. */
static cm_status read_summary(const cli_line *line, cli_run *cli, const char *name, json_t **summary, cm_error *error)
{
  char *text = NULL;
  size_t size = 0;
  if (access(name, F_OK) == 0 || !cli_is_id(name)) {
    CM_TRY(library_status(coremap_mapping_about(name, &text, &cli_why), &cli_why, error));
    *summary = library_json(text);
    return cm_whole(*summary != NULL, "a summary", error);
  }
  FILE *stream = open_memstream(&text, &size);
  CM_TRY(cm_whole(stream != NULL, "a summary", error));
  cm_status status = cli_get_mapping(line, cli, name, "", stream, error);
  const bool whole = fclose(stream) == 0;
  CM_THEN(status, cm_whole(whole, "a summary", error));
  if (status == CM_OK) {
    *summary = cm_json_loadb(text, size, 0, NULL);
    status = *summary != NULL ? CM_OK : cm_fail(error, CM_IO, "%s: what the server says of it is no JSON", name);
  }
  free(text);
  return status;
}

/* Mappings of two networks have nothing to compare: by the file's digest, else by what they count. */
static cm_status check_network(char *const name[2], json_t *const summary[2], cm_error *error)
{
  const json_t *a = json_object_get(summary[0], "network"), *b = json_object_get(summary[1], "network");
  static const char *const counted[] = {"id", "neurons", "synapses"};
  for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
    const json_t *x = json_object_get(a, counted[i]), *y = json_object_get(b, counted[i]);
    if ((i == 0 && (!json_is_string(x) || !json_is_string(y))) || json_equal(x, y))
      continue;
    return cm_fail(error, CM_CONFLICT,
                   "%s maps a network of %.0f neurons and %.0f synapses, %s %s of %.0f and %.0f: only mappings of one network can be compared", name[0],
                   cli_number(a, "neurons"), cli_number(a, "synapses"), name[1], i == 0 ? "another one," : "one", cli_number(b, "neurons"),
                   cli_number(b, "synapses"));
  }
  return CM_OK;
}

/* "better", "worse", "same", or "other" where neither more nor less of it is better: what b is beside a. */
static const char *judge(const json_t *about, double a, double b)
{
  const char *better = cli_text(about, "x-better");
  if (a == b)
    return "same";
  return strcmp(better, "neither") == 0 ? "other" : (b < a) == (strcmp(better, "less") == 0) ? "better" : "worse";
}

/* Rows of all metrics that both have, by what b is; the caller's. */
static json_t *compare_metrics(json_t *const summary[2])
{
  json_t *a = json_object_get(summary[0], "metrics"), *other = json_object_get(summary[1], "metrics"), *value, *groups = json_object();
  const json_t *known = json_object_get(cli_table("metrics"), "properties");
  const char *name;
  json_object_foreach(a, name, value)
  {
    const json_t *beside = json_object_get(other, name), *about = json_object_get(known, name);
    if (!json_is_number(value) || !json_is_number(beside))
      continue;
    const double x = json_number_value(value), y = json_number_value(beside);
    const char *group = judge(about, x, y);
    json_t *row = json_pack("{s:s, s:f, s:f, s:s}", "metric", name, "a", x, "b", y, "unit", cli_text(about, "x-unit"));
    if (x != 0)
      (void)json_object_set_new(row, "percent", json_real((y / x - 1) * 100));
    if (json_object_get(groups, group) == NULL)
      (void)json_object_set_new(groups, group, json_array());
    (void)json_array_append_new(json_object_get(groups, group), row);
  }
  return groups;
}

static void show_number(json_t *row, const char *name)
{
  (void)json_object_set_new(row, name, json_string(cm_say("%.6g", cli_number(row, name)).text));
}

static void print_groups(const void *given, const json_t *groups)
{
  char *const *name = ((const cli_line *)given)->words;
  static const char *const titles[][2] = {{"better", "better"}, {"worse", "worse"}, {"other", "otherwise"}};
  const cli_column columns[] = {{"metric", "metric", 0}, {name[0], "a", NAME_SHOWN}, {name[1], "b", NAME_SHOWN}, {"change", "change", 0}, {"unit", "unit", 0}};
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
    json_t *rows = json_deep_copy(json_object_get(groups, titles[i][0])), *row;
    size_t k;
    if (rows == NULL)
      continue;
    json_array_foreach(rows, k, row) {
      char change[40] = "";
      if (json_object_get(row, "percent") != NULL)
        (void)snprintf(change, sizeof change, "%+.1f %%", cli_number(row, "percent"));
      (void)json_object_set_new(row, "change", json_string(change));
      show_number(row, "a");
      show_number(row, "b");
    }
    cli_printf(stdout, "%s is %s:\n", name[1], titles[i][1]);
    cli_print_table(rows, columns, sizeof columns / sizeof *columns, "");
    json_decref(rows);
  }
  cli_printf(stdout, "%zu metrics are the same\n", json_array_size(json_object_get(groups, "same")));
}

static cm_status compare(void *given, cli_run *cli, json_t **groups, cm_error *error)
{
  const cli_line *line = given;
  json_t *summary[2] = {NULL, NULL};
  cm_status status = read_summary(line, cli, line->words[0], &summary[0], error);
  CM_THEN(status, read_summary(line, cli, line->words[1], &summary[1], error));
  CM_THEN(status, check_network(line->words, summary, error));
  *groups = status == CM_OK ? compare_metrics(summary) : NULL;
  json_decref(summary[0]);
  json_decref(summary[1]);
  return status;
}

static int check(void *given)
{
  return ((cli_line *)given)->count == 2 ? -1 : cli_usage("compare", "name two mappings: files, or ids of a server");
}

const cli_command cli_command_compare = {
  .name = "compare", .what = "two mappings of one network, metric by metric", .check = check, .make = compare, .print = print_groups, .most = CLI_ANY, .reads = true, .server = true,
  .usage = "A B",
  .about = "Prints in what mapping B is better than A, in what worse, and what else differs. Each is a file of coremap map -o, or\n"
           "the id of a mapping on a server or of the job that made it.",
  .flags = flags};
