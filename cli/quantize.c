/* coremap quantize: an ONNX model in float32 in, one in 8-bit integers out. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/remote.h"
#include "cli/upload.h"

typedef struct arguments {
  cli_where where;
  const char *name, *model, *output, *data;
  json_t *options;
} arguments;

enum { DATA = 1 };

static const cli_flag flags[] = {
  {"output", "FILE", CLI_OUTPUT, "where the model (ONNX) goes; needed"},
  {"data", "DIR|FILE", DATA, "samples, a folder or file: each a .npy or raw file, or for several inputs a .npz or a folder; random numbers unless given"},
  CLI_SERVER_FLAGS,
  CLI_JSON_FLAG,
  CLI_QUIET_FLAG,
  {0}};

/* Negative: go on. */
static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_quantize, argc, argv)) != -1;)
    switch (flag) {
    case CLI_OUTPUT: a->output = cli_output(optarg); break;
    case DATA: a->data = cli_input(optarg); break;
    case CLI_TAKES_OPTION:
      if (!cli_option_set(a->options, cli_taken(), optarg))
        return cli_usage("quantize", "--%s \"%s\" is not text", cli_taken(), optarg);
      break;
    default:
      if (!cli_where_take(&a->where, flag))
        return cli_ended(flag);
    }
  if (optind + 1 != argc)
    return cli_usage("quantize", optind == argc ? "no model is named" : "one model is needed");
  if (a->output == NULL)
    return cli_usage("quantize", "-o is needed: where the model in integers goes");
  a->name = argv[optind];
  a->model = cli_input(a->name);
  return -1;
}

static void print_report(const json_t *r)
{
  const json_t *bytes = json_object_get(r, "constant_bytes"), *products = json_object_get(r, "products"), *one;
  size_t i;
  cli_printf(stdout, "%-10s %-8s %9s  %s\n", "operator", "type", "error", "output");
  json_array_foreach(json_object_get(r, "layers"), i, one)
    cli_printf(stdout, "%-10s %-8s %8.3f%%  %s\n", cli_text(one, "operator"), cli_text(one, "type"), 100 * cli_number(one, "error"),
               cli_text(one, "output"));
  cli_printf(stdout, "samples       %.0f%s, ranges by method %s\n", cli_number(r, "samples"),
             json_is_true(json_object_get(r, "random")) ? ", random: give real ones with --data" : "", cli_text(r, "method"));
  cli_printf(stdout, "products      %.0f in int8, %.0f in float32\n", cli_number(products, "int8"), cli_number(products, "float32"));
  cli_printf(stdout, "constants     %s -> %s\n", cli_size(cli_number(bytes, "before")).text, cli_size(cli_number(bytes, "after")).text);
  json_array_foreach(json_object_get(r, "outputs"), i, one)
    cli_printf(stdout, "output        %s: error %.3f%%, at most %.4g\n", cli_text(one, "name"), 100 * cli_number(one, "error"),
               cli_number(one, "largest"));
}

static cm_status quantize(const arguments *a, cli_run *cli, json_t **report, cm_error *error)
{
  coremap_error *why = NULL;
  char *options = NULL, *text;
  cm_status status = cli_check_options("quantize", a->options, error);
  if (status == CM_OK && a->data != NULL && json_object_set_new(a->options, "data", json_string(a->data)) != 0)
    status = cm_fail(error, CM_BAD_OPTION, "\"%s\" is not text", a->data);
  CM_THEN(status, cli_json_text(a->options, &options, error));
  CM_THEN(status, library_status(coremap_quantize(a->model, options, a->output, library_on_run, &cli->run, &text, &why), &why, error));
  free(options);
  CM_THEN(status, cm_whole((*report = library_json(text)) != NULL, "the report", error));
  return status;
}

/* The same by a server: samples are sent, and deleted there when the job has ended. */
static int quantize_there(cli_server *server, cli_run *cli, const void *given, cm_error *error)
{
  const arguments *a = given;
  char upload[80] = "", path[160];
  json_t *job = NULL;
  cm_status status = cli_check_options("quantize", a->options, error);
  if (status == CM_OK && a->data != NULL)
    status = cli_send_upload(server, cli, a->data, "samples", upload, error);
  if (status == CM_OK && upload[0] != '\0')
    status = cm_json_set(a->options, "data", json_pack("{s:s}", "upload", upload), "the job's options", error);
  CM_THEN(status, cli_run_errand(server, cli, &(cli_upload){a->model, a->name, NULL, NULL}, &(cli_errand){"quantize", NULL, a->options}, &job, error));
  cli_drop_upload(server, upload);
  if (status == CM_OK) {
    (void)snprintf(path, sizeof path, "/v1/programs/%s/model", cli_id(job, "program"));
    status = cli_fetch_file(server, cli, path, a->output, error);
  }
  json_t *report = status == CM_OK ? json_incref(json_object_get(job, "report")) : NULL;
  json_decref(job);
  return status == CM_OK ? cli_tell(CM_OK, report, a->where.json, print_report, error) : -1;
}

static int quantize_command(int argc, char **argv)
{
  arguments a = {.options = json_object()};
  cm_error error;
  cli_run cli;
  json_t *report = NULL;
  int parsed = parse(argc, argv, &a);
  if (parsed >= 0) {
    json_decref(a.options);
    return parsed;
  }
  if (a.where.server != NULL || a.where.context != NULL) {
    const int done = cli_on_server(&a.where, quantize_there, &a);
    json_decref(a.options);
    return done;
  }
  cli_run_begin(&cli, a.where.quiet);
  cm_status status = quantize(&a, &cli, &report, &error);
  cli_run_end(&cli);
  json_decref(a.options);
  return cli_tell(status, report, a.where.json, print_report, &error);
}

const cli_command cli_command_quantize = {
  .name = "quantize", .what = "turn a float32 model's products into 8-bit integers", .run = quantize_command, .options = CLI_OPTIONS_QUANTIZE,
  .usage = "MODEL.onnx -o OUT.onnx [--data DIR|FILE] [--server URL] [OPTION...]",
  .about = "Writes the model with QuantizeLinear and DequantizeLinear around its products, which coremap compile turns into integer ones;\n"
           "scales follow from samples (docs/how-to/quantizing.md). Prints how wrong each product alone and each output becomes.",
  .flags = flags};
