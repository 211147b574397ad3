/* coremap quantize: an ONNX model in float32 in, one in 8-bit integers out. */
#include <jansson.h>

#include "base/json.h"
#include "cli/remote.h"
#include "cli/upload.h"

typedef struct arguments {
  cli_line line;
  const char *output, *data;
} arguments;

static const cli_flag flags[] = {
  {"output", "FILE", CLI_OUT, "where the model (ONNX) goes; needed", CLI_AT(output), "where the model in integers goes"},
  {"data", "DIR|FILE", CLI_IN, "samples, a folder or file: each a .npy or raw file, or for several inputs a .npz or a folder; random numbers unless given", CLI_AT(data)},
  CLI_SERVER_FLAGS, CLI_JSON_FLAG, CLI_QUIET_FLAG,
  {0}};

static void print_report(CM_UNUSED const void *given, const json_t *r)
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

static cm_status quantize(void *given, cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  char *options = NULL, *text;
  cm_status status = cli_check_options("quantize", a->line.options, error);
  if (status == CM_OK && a->data != NULL && json_object_set_new(a->line.options, "data", json_string(a->data)) != 0)
    status = cm_fail(error, CM_BAD_OPTION, "\"%s\" is not text", a->data);
  CM_THEN(status, cli_json_text(a->line.options, &options, error));
  CM_THEN(status, library_status(coremap_quantize(a->line.file, options, a->output, library_on_run, &cli->run, &text, &cli_why), &cli_why, error));
  free(options);
  CM_THEN(status, cli_report(text, report, error));
  return status;
}

/* The same by a server: samples are sent, and deleted there when the job has ended. */
static cm_status quantize_there(void *given, coremap_client *server, cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  char upload[80] = "";
  json_t *job = NULL;
  cm_status status = cli_check_options("quantize", a->line.options, error);
  CM_THEN_IF(status, a->data != NULL, cli_send_upload(server, cli, a->data, "samples", upload, error));
  CM_THEN_IF(status, upload[0] != '\0', cm_json_set(a->line.options, "data", json_pack("{s:s}", "upload", upload), "the job's options", error));
  CM_THEN(status, cli_run_errand(server, cli, &(cli_upload){a->line.file, a->line.words[0], NULL, NULL}, &(cli_errand){"quantize", NULL, a->line.options}, &job, error));
  cli_drop_upload(server, upload);
  CM_THEN(status, cli_fetch_file(server, cli, cm_say("/v1/programs/%s/model", cli_id(job, "program")).text, a->output, error));
  *report = json_incref(json_object_get(job, "report"));
  json_decref(job);
  return status;
}

const cli_command cli_command_quantize = {
  .name = "quantize", .what = "turn a float32 model's products into 8-bit integers", .make = quantize, .ask = quantize_there, .print = print_report,
  .word = "model", .size = sizeof(arguments), .options = CLI_OPTIONS_QUANTIZE,
  .usage = "MODEL.onnx -o OUT.onnx [--data DIR|FILE] [--server URL] [OPTION...]",
  .about = "Writes the model with QuantizeLinear and DequantizeLinear around its products, which coremap compile turns into integer ones;\n"
           "scales follow from samples (docs/how-to/quantizing.md). Prints how wrong each product alone and each output becomes.",
  .flags = flags};
