/* coremap show: what a file is, in a few lines. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "base/json.h"
#include "base/order.h"
#include "base/text.h"
#include "core/chip/classes.h"
#include "core/chip/fragments.h"
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

static void show_limit(const char *name, uint64_t limit)
{
  if (limit != 0)
    printf("  %-16s %llu per core\n", name, (unsigned long long)limit);
}

static void show_limits(const cm_limits *limits)
{
  show_limit("neurons", limits->neurons);
  show_limit("synapses", limits->synapses);
  show_limit("inbound axons", limits->inbound_axons);
  show_limit("outbound axons", limits->outbound_axons);
  show_limit("target cores", limits->target_cores);
  show_limit("bits of memory", limits->memory_bits);
  show_limit("populations", limits->populations);
}

/* What one neuron may take in and reach. */
static void show_neuron_limits(const cm_chip *chip)
{
  if (chip->limits.fan_in != 0)
    printf("  %-16s %llu per neuron%s\n", "fan-in", (unsigned long long)chip->limits.fan_in,
           chip->relays ? ", further ones through relays" : "");
  if (chip->limits.neuron_target_cores != 0)
    printf("  %-16s %llu per neuron, further ones by copies of it\n", "target cores",
           (unsigned long long)chip->limits.neuron_target_cores);
}

static void show_network_on_chip(const cm_chip *chip)
{
  json_t *stated = cm_chip_json(chip);
  const char *kind = json_string_value(json_object_get(json_object_get(stated, "interconnect"), "kind"));
  bool torus = chip->torus_x || chip->torus_y;
  printf("  %-16s %s%s\n", "interconnect", kind != NULL ? kind : torus ? "torus" : "mesh", kind != NULL && torus ? ", torus" : "");
  json_decref(stated);
  if (chip->table_entries != 0)
    printf("  %-16s %u entries per router\n", "routing table", chip->table_entries);
}

static void show_classes(const cm_chip *chip)
{
  for (uint32_t k = 0; k < chip->class_count; k++) {
    const cm_core_class *c = &chip->classes[k];
    uint32_t cores = 0;
    for (uint32_t i = 0; i < cm_chip_cores(chip); i++)
      cores += chip->class_of[i] == k + 1;
    printf("  class %s: %u cores, takes", c->name, cores);
    for (uint32_t i = 0; i < c->label_count; i++)
      printf("%s %s", i == 0 ? "" : ",", c->label[i]);
    puts(c->label_count == 0 ? " any label" : "");
    if (c->own_limits)
      show_limits(&c->limits);
  }
}

static int show_chip(const cm_chip *chip, bool json, cm_error *error)
{
  if (json) {
    char *text;
    if (cm_chip_print(chip, &text, error) != CM_OK)
      return cli_fail(error);
    puts(text);
    free(text);
    return EXIT_DONE;
  }
  printf("chip %s: %s\n", chip->name, chip->description);
  printf("  %-16s %u x %u (%u x %u dies of %u x %u), %u x %u behind a router\n", "cores", chip->width, chip->height,
         chip->dies_x, chip->dies_y, chip->die_width, chip->die_height, chip->router_x, chip->router_y);
  show_limits(&chip->limits);
  show_neuron_limits(chip);
  show_network_on_chip(chip);
  printf("  %-16s router %g pJ, link east-west %g, north-south %g, between dies %g\n", "energy", chip->energy_pj.router,
         chip->energy_pj.east_west, chip->energy_pj.north_south, chip->energy_pj.die_to_die);
  printf("  %-16s router %g ns, link east-west %g, north-south %g, between dies %g\n", "latency",
         chip->latency_ns.router, chip->latency_ns.east_west, chip->latency_ns.north_south,
         chip->latency_ns.die_to_die);
  if (chip->dead_core_count + chip->dead_link_count > 0)
    printf("  %-16s %u cores, %u links\n", "dead", chip->dead_core_count, chip->dead_link_count);
  show_classes(chip);
  return EXIT_DONE;
}

static int show_occupancy(const char *path, const cm_chip *chip, bool json, cm_error *error)
{
  cm_occupancy *occupancy;
  cm_fragmentation f;
  char *text = NULL;
  cm_status status = cli_occupancy(path, chip, &occupancy, error);
  if (status != CM_OK)
    return cli_fail(error);
  status = json ? cm_occupancy_print(occupancy, chip, &text, error) : cm_fragmentation_of(occupancy, &f, error);
  uint32_t broken = 0, cores = cm_chip_cores(chip);
  for (uint32_t c = 0; c < cores; c++)
    broken += occupancy->state[c] == CM_CORE_BROKEN;
  cm_occupancy_free(occupancy);
  if (status != CM_OK)
    return cli_fail(error);
  if (json)
    fputs(text, stdout);
  else {
    printf("occupancy of %s\n", chip->name);
    printf("  %-16s %u of %u, %u taken, %u broken\n", "free", f.free, cores, cores - f.free - broken, broken);
    printf("  %-16s %.1f %%: %u piece%s, the largest of %u cores, the largest free rectangle of %llu\n",
           "fragmentation", 100 * f.value, f.pieces, f.pieces == 1 ? "" : "s", f.largest_piece,
           (unsigned long long)f.largest_rectangle);
  }
  free(text);
  return EXIT_DONE;
}

static int list_chips(cm_error *error)
{
  for (const char *const *name = cm_chip_presets(); *name != NULL; name++) {
    cm_chip *chip;
    if (cm_chip_open(*name, &chip, error) != CM_OK)
      return cli_fail(error);
    printf("%-12s %4u x %-4u %s\n", *name, chip->width, chip->height, chip->description);
    cm_chip_free(chip);
  }
  return EXIT_DONE;
}

enum { POPULATIONS_SHOWN = 40 };

static void show_degrees(const char *name, uint32_t *degree, uint32_t count)
{
  qsort(degree, count, sizeof *degree, cm_ascending);
  printf("  %-16s median %u, largest %u\n", name, degree[count / 2], degree[count - 1]);
}

static cm_status show_topology(const cm_topology *t, const cm_import_report *report, cm_error *error)
{
  uint32_t *in = NULL, *out = NULL;
  if (CM_NEW(NULL, in, t->vertex_count, error) != CM_OK || CM_NEW(NULL, out, t->vertex_count, error) != CM_OK) {
    cm_free(in);
    return error->status;
  }
  for (uint32_t e = 0; e < t->net_count; e++) {
    out[cm_topology_source(t, e)] += (uint32_t)(t->net_first[e + 1] - t->net_first[e]);
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      in[t->pin[i]]++;
  }
  printf("network, %s%s, %llu bytes\n", report->format, report->gzipped ? " gzipped" : "",
         (unsigned long long)report->bytes);
  printf("  %-16s %u (total size %llu)%s\n", "neurons", t->vertex_count, (unsigned long long)t->size_total,
         t->label_text != NULL ? ", named" : "");
  printf("  %-16s %llu\n", t->directed ? "synapses" : "edges", (unsigned long long)cm_topology_synapses(t));
  if (t->directed)
    printf("  %-16s %llu\n", "hyperedges", (unsigned long long)cm_topology_hyperedges(t));
  if (t->vertex_count > 0) {
    show_degrees(t->directed ? "fan-out" : "degree", out, t->vertex_count);
    if (t->directed)
      show_degrees("fan-in", in, t->vertex_count);
  }
  if (cm_topology_inputs(t) > 0)
    printf("  %-16s %u\n", "inputs", cm_topology_inputs(t));
  if (t->pin_negative != NULL || t->zero_count > 0)
    printf("  %-16s %llu synapses, %llu of weight 0\n", "inhibitory", (unsigned long long)cm_topology_negatives(t),
           (unsigned long long)t->zero_count);
  for (uint32_t p = 0; p < t->population_count && p < POPULATIONS_SHOWN; p++) {
    uint32_t neurons = 0;
    for (uint32_t v = 0; v < t->vertex_count; v++)
      neurons += t->population_of[v] == p;
    printf("  %-16s %s, %u neurons%s%s\n", p == 0 ? "populations" : "", t->population[p].name, neurons,
           t->population[p].kind[0] != '\0' ? ", " : "", t->population[p].kind);
  }
  if (t->population_count > POPULATIONS_SHOWN)
    printf("  %-16s and %u more\n", "", t->population_count - POPULATIONS_SHOWN);
  if (t->duplicate_count + t->self_loop_count + t->empty_net_count > 0)
    printf("  %-16s %llu duplicates merged, %llu self loops %s, %u empty hyperedges dropped\n", "cleaned",
           (unsigned long long)t->duplicate_count, (unsigned long long)t->self_loop_count,
           t->directed ? "kept" : "dropped", t->empty_net_count);
  cm_free(in);
  cm_free(out);
  return CM_OK;
}

/* The same for programs. */
static void print_topology(const cm_topology *t, const cm_import_report *report)
{
  json_t *populations = json_array(), *made;
  uint64_t *neurons = calloc(t->population_count + 1, sizeof *neurons);
  for (uint32_t v = 0; neurons != NULL && t->population_of != NULL && v < t->vertex_count; v++)
    neurons[t->population_of[v]]++;
  for (uint32_t p = 0; neurons != NULL && p < t->population_count; p++)
    (void)json_array_append_new(populations, json_pack("{s:s, s:s, s:I}", "name", t->population[p].name, "kind",
                                                       t->population[p].kind, "neurons", (json_int_t)neurons[p]));
  free(neurons);
  made = json_pack(
      "{s:s, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:o, s:{s:I, s:I, s:I, s:I}}", "format", report->format, "gzipped",
      report->gzipped, "directed", t->directed, "bytes", (json_int_t)report->bytes, "neurons", (json_int_t)t->vertex_count,
      "inputs", (json_int_t)cm_topology_inputs(t), "synapses", (json_int_t)cm_topology_synapses(t), "hyperedges",
      (json_int_t)cm_topology_hyperedges(t), "labels", t->label_text != NULL, "delays", t->pin_delay != NULL, "populations",
      populations, "report", "duplicates", (json_int_t)t->duplicate_count, "self_loops", (json_int_t)t->self_loop_count,
      "empty_nets", (json_int_t)t->empty_net_count, "zeros", (json_int_t)t->zero_count);
  (void)json_object_set_new(made, "inhibitory", json_integer((json_int_t)cm_topology_negatives(t)));
  cli_print_json(made);
  json_decref(made);
}

/* `as_model`: why it is no model, for what looks like one; NULL. */
static int show_network(const char *path, const char *format, bool json, const cm_error *as_model, cm_error *error)
{
  cli_run cli;
  cm_topology *topology;
  cm_import_report report;
  cli_run_begin(&cli, true);
  cm_status status = cli_import(path, format, &cli.run, &topology, &report, error);
  if (status != CM_OK)
    return cli_fail(as_model != NULL ? as_model : error);
  if (json)
    print_topology(topology, &report);
  else
    status = show_topology(topology, &report, error);
  cm_topology_free(topology);
  return status == CM_OK ? EXIT_DONE : cli_fail(error);
}

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
    return list_chips(&error);
  if (format != NULL)
    return show_network(name, format, json, NULL, &error);
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
    return show_network(name, NULL, json, looks ? &as_model : NULL, &error);
  if (occupancy == NULL && is_mapping(name))
    return show_mapping(name, json, plot, &error);
  if (plot != NULL)
    return cli_usage("show", "--plot draws a mapping of objective pareto (coremap map -o FILE)");
  cm_chip *chip;
  if (cm_chip_open(name, &chip, &error) != CM_OK)
    return cli_fail(&error);
  int status = occupancy != NULL ? show_occupancy(occupancy, chip, json, &error) : show_chip(chip, json, &error);
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
