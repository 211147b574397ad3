/* coremap show: what a file is, in a few lines. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/show.h"
#include "base/json.h"
#include "base/text.h"
#include "core/verify/check.h"
#include "core/mapping/pareto/pareto.h"
#include "core/operators/evaluate.h"
#include "core/operators/onnx/onnx.h"
#include "core/operators/permute/permutations.h"
#include "core/operators/shapes.h"

enum { OCCUPANCY = 1, SHAPE, PLOT, FORMAT };

static const cli_flag flags[] = {
  {"occupancy", "FILE", OCCUPANCY, "of a chip: how many of its cores are free, and how broken up they are"},
  {"shape", "NAME=DIMS", SHAPE, "of a model: extents of an input that it leaves open; once for each"},
  {"plot", "FILE", PLOT, "draw the Pareto set of a mapping as SVG: time of a step against energy, with the lower bounds"},
  {"format", "NAME", FORMAT, "FILE is a network of this format, whatever it looks like: @N"},
  CLI_JSON_FLAG,
  {0}};

/* "name value" lines of an object's plain members. */
static void show_members(const char *title, const json_t *object)
{
  const char *name;
  json_t *value;
  printf("  %s\n", title);
  json_object_foreach((json_t *)object, name, value)
  {
    if (json_is_number(value))
      printf("    %-22s %.10g\n", name, json_number_value(value));
    else if (json_is_string(value))
      printf("    %-22s %s\n", name, json_string_value(value));
  }
}

static cm_status draw(const char *path, const json_t *summary, cm_error *error)
{
  cm_file file;
  if (cm_file_create(&file, path, error) != CM_OK)
    return error->status;
  if (cm_pareto_draw(json_object_get(json_object_get(summary, "report"), "pareto"), file.stream, error) == CM_OK)
    return cm_file_commit(&file, error);
  cm_file_discard(&file);
  return error->status;
}

static int show_mapping(const char *path, bool as_json, const char *plot, cm_error *error)
{
  cli_run cli;
  json_t *summary;
  cli_run_begin(&cli, true);
  if (cm_mapping_read_summary(path, &cli.run, &summary, error) != CM_OK)
    return cli_fail(error);
  if (plot != NULL && draw(plot, summary, error) != CM_OK) {
    json_decref(summary);
    return cli_fail(error);
  }
  if (as_json)
    cm_json_dumpf(summary, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
  else {
    const json_t *network = json_object_get(summary, "network"), *chip = json_object_get(summary, "chip");
    printf("mapping of %" JSON_INTEGER_FORMAT " neurons to %" JSON_INTEGER_FORMAT " cores of %s\n",
           json_integer_value(json_object_get(network, "neurons")),
           json_integer_value(json_object_get(summary, "parts")), json_string_value(json_object_get(chip, "name")));
    show_members("region", json_object_get(summary, "region"));
    show_members("options", json_object_get(summary, "options"));
    show_members("metrics", json_object_get(summary, "metrics"));
    cli_print_scenarios(json_object_get(summary, "scenarios"));
    cli_print_steps(json_object_get(summary, "report"));
  }
  json_decref(summary);
  return EXIT_DONE;
}

static void show_ends(const char *title, const cm_model *model, const uint32_t *values, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const cm_value *v = &model->values[values[i]];
    printf("  %-16s %s, %s", title, v->name, cm_type_name(v->shape.type));
    for (uint32_t k = 0; v->shape.rank != CM_UNKNOWN_RANK && k < v->shape.rank; k++)
      if (v->shape.dims[k] < 0)
        printf("%s%s", k == 0 ? " " : " x ", v->dim_names[k] != NULL ? v->dim_names[k] : "?");
      else
        printf("%s%lld", k == 0 ? " " : " x ", (long long)v->shape.dims[k]);
    putchar('\n');
  }
}

/* CM_BAD_NETWORK leaves it open whether the file is a network after all. */
static cm_status show_model(const char *path, const cm_stated_shapes *shapes, cm_error *error)
{
  cli_run cli;
  cm_model *model;
  cli_run_begin(&cli, true);
  if (cm_onnx_read_beside(path, &cli.run, &model, error) != CM_OK)
    return error->status;
  cm_status status = cm_model_state_shapes(model, shapes, error);
  if (status == CM_OK)
    status = cm_infer(model, &cli.run, error);
  if (status == CM_OK) {
    printf("operator-level model, onnx, opset %lld%s%s\n", (long long)model->opset,
           model->producer_name[0] != '\0' ? ", made by " : "", model->producer_name);
    printf("  %-16s %zu\n", "operators", model->order_count);
    printf("  %-16s move %.1f KB\n", "permutations", (double)cm_permutation_bytes(model) / 1024);
    show_ends("input", model, model->inputs, model->input_count);
    show_ends("output", model, model->outputs, model->output_count);
  }
  cm_model_free(model);
  return status;
}

/* Whether a JSON file says early on that it is a mapping. */
static bool is_mapping(const char *path)
{
  char head[201] = "";
  FILE *stream = fopen(path, "rbe");
  if (stream == NULL)
    return false;
  head[fread(head, 1, sizeof head - 1, stream)] = '\0';
  fclose(stream);
  return strstr(head, "\"coremapd mapping") != NULL;
}

/* Whether a file begins as an object of JSON does. */
static bool is_object(const char *path)
{
  char head[200];
  FILE *stream = fopen(path, "rbe");
  if (stream == NULL)
    return false;
  size_t size = fread(head, 1, sizeof head - 1, stream);
  fclose(stream);
  head[size] = '\0';
  return cm_is_text(head, size) && head[strspn(head, " \n\r\t")] == '{';
}

static int show(int argc, char **argv)
{
  bool json = false;
  const char *occupancy = NULL, *format = NULL, *plot = NULL;
  cm_stated_shapes shapes = {.count = 0};
  cm_error error;
  for (int flag; (flag = cli_next(&cli_command_show, argc, argv)) != -1;) {
    switch (flag) {
      case SHAPE:
        if (cm_stated_shapes_parse(optarg, &shapes, &error) != CM_OK)
          return cli_fail(&error);
        break;
      case PLOT: plot = cli_output(optarg); break;
      case CLI_JSON: json = true; break;
      case OCCUPANCY: occupancy = cli_input(optarg); break;
      case FORMAT: format = optarg; break;
      default: return cli_ended(flag);
    }
  }
  if (optind + 1 != argc)
    return cli_usage("show", "one file or chip is needed");
  const char *name = cli_input(argv[optind]);
  if (strcmp(name, "chips") == 0)
    return cli_list_chips(&error);
  if (format != NULL)
    return cli_show_network(name, format, json, NULL, &error);
  if (strcmp(name, "operators") == 0) {
    cli_show_operators();
    return EXIT_DONE;
  }
  cm_error as_model;
  bool looks = false; /* what cannot be opened is told below */
  if (occupancy == NULL && cm_onnx_looks_like(name, &looks, &error) == CM_OK && looks) {
    cm_status status = show_model(name, &shapes, &error);
    as_model = error;
    if (status != CM_BAD_NETWORK)
      return status == CM_OK ? EXIT_DONE : cli_fail(&error);
  }
  if (occupancy == NULL && access(name, F_OK) == 0 && !is_object(name))
    return cli_show_network(name, NULL, json, looks ? &as_model : NULL, &error);
  if (occupancy == NULL && is_mapping(name))
    return show_mapping(name, json, plot, &error);
  if (plot != NULL)
    return cli_usage("show", "--plot draws a mapping of objective pareto (coremap map -o FILE)");
  cm_chip *chip;
  if (cm_chip_open(name, &chip, &error) != CM_OK)
    return cli_fail(&error);
  int status = occupancy != NULL ? cli_show_occupancy(occupancy, chip, json, &error) : cli_show_chip(chip, json, &error);
  cm_chip_free(chip);
  return status;
}

const cli_command cli_command_show = {
  .name = "show", .what = "describe a network, chip or mapping", .run = show, .reads = true,
  .usage = "FILE | chips | operators [--json] [--plot FILE] [--format NAME]\n"
           "MODEL.onnx [--shape NAME=DIMS]...\n"
           "CHIP --occupancy FILE [--json]",
  .about = "Describes a network file, an ONNX model, a chip (file or preset name) or a mapping (coremap map -o FILE); `chips`\n"
           "lists the presets, `operators` the ONNX operators that are compiled. With --json a chip is printed as a file to copy\n"
           "and change, a network in numbers, a mapping without its neurons. FILE - is standard input.",
  .flags = flags};
