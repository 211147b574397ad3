/* coremap show: what a file is, in a few lines. */
#include <jansson.h>
#include <unistd.h>

#include "cli/show.h"
#include "base/json.h"
#include "base/text.h"

typedef struct arguments {
  cli_line line;
  const char *occupancy, *format, *plot, *network, *asked[CLI_ASK_KINDS];
} arguments;

static const cli_flag flags[] = {
  {"occupancy", "FILE", CLI_IN, "of a chip: how many of its cores are free, and how broken up they are", CLI_AT(occupancy)},
  {"shape", "NAME=DIMS", CLI_OPTION, "of a model: extents of an input that it leaves open; once for each"},
  {"plot", "FILE", CLI_OUT, "draw the Pareto set of a mapping as SVG: time of a step against energy, with the lower bounds", CLI_AT(plot)},
  {"format", "NAME", CLI_TEXT, "FILE is a network of this format, whatever it looks like: @N", CLI_AT(format)},
  {"network", "FILE", CLI_IN, "of a mapping: its network, for what follows", CLI_AT(network)},
  {"links", "N", CLI_TEXT, "of a mapping: its N fullest links and ports, at most 32, with the axons that fill them", CLI_AT(asked[CLI_ASK_LINKS])},
  {"neuron", "NAME|NUMBER", CLI_TEXT, "of a mapping: where a neuron is and which cores it reaches", CLI_AT(asked[CLI_ASK_NEURON])},
  {"core", "X,Y", CLI_TEXT, "of a mapping: what a core sends where, and takes from where", CLI_AT(asked[CLI_ASK_CORE])},
  {"tree", "NEURON[,AXON]", CLI_TEXT, "of a mapping: the links that the packets of a neuron's axon take", CLI_AT(asked[CLI_ASK_TREE])},
  CLI_JSON_FLAG,
  {0}};

static void show_ends(const char *title, const json_t *ends)
{
  const json_t *end, *extent;
  size_t i, k;
  json_array_foreach(ends, i, end) {
    cli_printf(stdout, "  %-16s %s, %s", title, cli_text(end, "name"), cli_text(end, "type"));
    json_array_foreach(json_object_get(end, "dims"), k, extent) {
      fputs(k == 0 ? " " : " x ", stdout);
      if (json_is_integer(extent))
        cli_printf(stdout, "%" JSON_INTEGER_FORMAT, json_integer_value(extent));
      else
        cli_printf(stdout, "%s", json_is_string(extent) ? json_string_value(extent) : "?");
    }
    putchar('\n');
  }
}

/* CM_BAD_NETWORK leaves it open whether the file is a network after all. */
static cm_status show_model(const char *path, const json_t *shapes, cm_error *error)
{
  char *options, *text;
  CM_TRY(cli_json_text(shapes, &options, error));
  cm_status status = library_status(coremap_model_about(path, options, &text, &cli_why), &cli_why, error);
  free(options);
  if (status != CM_OK)
    return status;
  json_t *model = library_json(text);
  const char *producer = cli_text(model, "producer");
  cli_printf(stdout, "operator-level model, onnx, opset %.0f%s%s\n", cli_number(model, "opset"), producer[0] != '\0' ? ", made by " : "", producer);
  cli_printf(stdout, "  %-16s %.0f\n", "operators", cli_number(model, "operators"));
  cli_printf(stdout, "  %-16s move %s\n", "permutations", cli_size(cli_number(model, "permutation_bytes")).text);
  show_ends("input", json_object_get(model, "inputs"));
  show_ends("output", json_object_get(model, "outputs"));
  json_decref(model);
  return CM_OK;
}

/* What a JSON file says early on that it is: "mapping", "certificate", "routes"; "": nothing. */
static void read_format(const char *path, char format[32])
{
  static const char member[] = "\"format\"";
  char head[201] = "";
  format[0] = '\0';
  FILE *stream = fopen(path, "rbe");
  if (stream == NULL)
    return;
  head[fread(head, 1, sizeof head - 1, stream)] = '\0';
  fclose(stream);
  const char *stated = strstr(head, member);
  if (stated != NULL)
    (void)sscanf(stated + strlen(member), " : \"coremapd %31[a-z]", format);
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

/* Whether an object of JSON is a network, as NetworkX and d3 write it; what cannot be read is told by who reads it. */
static bool is_graph(const char *path)
{
  enum { BYTES_MAX = 1 << 30 };
  char *text;
  size_t size;
  cm_error ignored;
  if (cm_file_read(path, BYTES_MAX, &text, &size, &ignored) != CM_OK)
    return false;
  json_t *json = cm_json_loadb(text, size, 0, NULL);
  free(text);
  const bool graph = json_is_array(json_object_get(json, "nodes")) &&
                     (json_is_array(json_object_get(json, "links")) || json_is_array(json_object_get(json, "edges")));
  json_decref(json);
  return graph;
}

static cli_mapping_kind asked(const arguments *a)
{
  cli_mapping_kind kind = CLI_ASK_KINDS - 1;
  while (kind > CLI_ASK_NOTHING && a->asked[kind] == NULL)
    kind--;
  return kind;
}

/* Answers what is asked of a mapping. */
static int answer(const arguments *a)
{
  cm_error error;
  const cli_mapping_kind kind = asked(a);
  const cli_mapping_question q = {.kind = kind, .value = a->asked[kind], .mapping = a->line.file, .network = a->network, .format = a->format,
                                  .json = a->line.json};
  if (q.network == NULL)
    return cli_usage("show", "name the network of the mapping: --network FILE");
  return kind != CLI_ASK_NOTHING ? cli_ask_mapping(&q, &error) : cli_usage("show", "--network goes with --links, --neuron, --core or --tree");
}

static int check(void *given)
{
  cm_error error;
  json_t *options = ((cli_line *)given)->options;
  return json_object_size(options) == 0 || cli_check_options("compile", options, &error) == CM_OK ? -1 : cli_fail(&error);
}

static int show(void *given)
{
  const arguments *a = given;
  cm_error error, as_model;
  const char *name = a->line.file, *occupancy = a->occupancy;
  char format[32];
  if (a->network != NULL || asked(a) != CLI_ASK_NOTHING)
    return answer(a);
  if (strcmp(name, "chips") == 0)
    return cli_list_chips(&error);
  if (a->format != NULL)
    return cli_show_network(name, a->format, a->line.json, NULL, &error);
  if (strcmp(name, "operators") == 0) {
    cli_show_operators();
    return EXIT_DONE;
  }
  unsigned looks = 0; /* what cannot be opened is told below */
  if (occupancy == NULL && coremap_look(name, NULL, &looks, NULL) == 0 && (looks & COREMAP_LOOKS_LIKE_MODEL) != 0) {
    cm_status status = show_model(name, a->line.options, &error);
    as_model = error;
    if (status != CM_BAD_NETWORK)
      return status == CM_OK ? EXIT_DONE : cli_fail(&error);
  }
  const bool there = access(name, F_OK) == 0;
  if (occupancy == NULL && (there ? !is_object(name) || is_graph(name) : strchr(name, '.') != NULL)) /* no chip's name has a point */
    return cli_show_network(name, NULL, a->line.json, (looks & COREMAP_LOOKS_LIKE_MODEL) != 0 ? &as_model : NULL, &error);
  read_format(name, format);
  if (occupancy == NULL && strcmp(format, "mapping") == 0)
    return cli_show_mapping(name, a->line.json, a->plot, &error);
  if (format[0] != '\0') {
    (void)cm_fail(&error, CM_BAD_CHIP, "%s states the format %s of coremapd; networks, models, chips and mappings are shown, others are verified "
                  "(coremap check) or read as JSON", name, format);
    return cli_fail(&error);
  }
  if (a->plot != NULL)
    return cli_usage("show", "--plot draws a mapping of objective pareto (coremap map -o FILE)");
  return occupancy != NULL ? cli_show_occupancy(occupancy, name, a->line.json, &error) : cli_show_chip(name, a->line.json, &error);
}

const cli_command cli_command_show = {
  .name = "show", .what = "describe a network, chip or mapping", .run = show, .check = check, .reads = true,
  .word = "file or chip", .size = sizeof(arguments),
  .usage = "FILE | chips | operators [--json] [--plot FILE] [--format NAME]\n"
           "MODEL.onnx [--shape NAME=DIMS]...\n"
           "CHIP --occupancy FILE [--json]\n"
           "MAPPING.json --network FILE --links N | --neuron NAME|NUMBER | --core X,Y | --tree NEURON[,AXON] [--json]",
  .about = "Describes a network file, an ONNX model, a chip (file or preset name) or a mapping (coremap map -o FILE); `chips`\n"
           "lists the presets, `operators` the ONNX operators that are compiled. With --json a chip is printed as a file to copy\n"
           "and change, a network in numbers, a mapping without its neurons. FILE - is standard input.",
  .flags = flags};
