/* coremap emit: C from programs that coremap compile made. */
#include <jansson.h>

#include "cli/cli.h"

typedef struct arguments {
  cli_line line;
  const char *folder, *target, *name, *weights;
  uint64_t lanes, seed;
  bool pieces;
} arguments;

static const cli_flag flags[] = {
  {"output", "DIR|FILE.tar", CLI_TEXT, "write the files there; needed", CLI_AT(folder), "the folder that the files go to"},
  {"target", cli_code_targets, CLI_TEXT, "what the code is for; host unless given", CLI_AT(target)},
  {"name", "NAME", CLI_TEXT, "of files and functions: model unless given", CLI_AT(name)},
  {"lanes", "N", 1, "threads or cores at most; unless given as many as the program has units that compute, or one thread where more would not pay"},
  {"seed", "N", CLI_WHOLE, "of the inputs that the test stores", CLI_AT(seed)},
  {"weights", "arrays|binary", CLI_TEXT, "arrays of C, or a file NAME_weights.bin that the device reads or has in flash; arrays unless given", CLI_AT(weights)},
  {"pieces", NULL, CLI_ON, "on one lane; the test then also writes what each piece takes: model_test ROUNDS FILE, for coremap calibrate", CLI_AT(pieces)},
  CLI_JSON_FLAG,
  {0}};

static int take(void *given, CM_UNUSED int code)
{
  return cli_whole(optarg, 1, 4096, &((arguments *)given)->lanes) ? -1 : cli_usage("emit", "--lanes is a whole number from 1 to 4096, not \"%s\"", optarg);
}

static bool is_archive(const char *path)
{
  const size_t length = strlen(path);
  return length > 4 && strcmp(path + length - 4, ".tar") == 0;
}

cm_status cli_emit(const char *path, const char *to, json_t *asked, cm_run *run, json_t **report, cm_error *error)
{
  coremap_program *program = NULL;
  char *text = NULL, *options = NULL;
  cm_status status = asked != NULL && json_object_set_new(asked, is_archive(to) ? "archive" : "output_dir", json_string(to)) == 0
                       ? cli_json_text(asked, &options, error)
                       : cm_fail(error, CM_BAD_REQUEST, "a name is not text");
  json_decref(asked);
  CM_THEN(status, cli_read_program(path, run, &program, error));
  CM_THEN(status, library_status(coremap_program_emit(program, options, library_on_run, run, &text, &cli_why), &cli_why, error));
  CM_THEN(status, cli_report(text, report, error));
  free(options);
  coremap_program_free(program);
  return status;
}

static void print_result(const void *given, const json_t *r)
{
  const arguments *a = given;
  cli_printf(stdout, "code          %s for %s: %s, %s of %s\n", a->folder, cli_text(r, "target"), cli_count(cli_number(r, "lanes"), "lane").text,
             cli_count(cli_number(r, "kernels"), "kernel").text, cli_count(cli_number(r, "pieces"), "piece").text);
  cli_printf(stdout, "memory        %s of the chip, %s of lanes, %s outside; weights %s\n", cli_size(cli_number(r, "chip_bytes")).text,
             cli_size(cli_number(r, "scratch_bytes")).text, cli_size(cli_number(r, "outside_bytes")).text, cli_size(cli_number(r, "weight_bytes")).text);
}

static cm_status emit(void *given, cli_run *cli, json_t **report, cm_error *error)
{
  const arguments *a = given;
  json_t *asked = json_pack("{s:s*, s:s*, s:s*, s:I, s:I, s:b}", "target", a->target, "name", a->name, "weights", a->weights, "lanes", (json_int_t)a->lanes, "seed", (json_int_t)a->seed, "pieces", a->pieces);
  return cli_emit(a->line.file, a->folder, asked, &cli->run, report, error);
}

const cli_command cli_command_emit = {
  .name = "emit", .what = "write a program as C for a device", .take = take, .make = emit, .print = print_result,
  .word = "program", .size = sizeof(arguments), .defaults = &(const arguments){.seed = 1},
  .usage = "PROGRAM -o DIR [OPTION...]",
  .about = "Writes a program as C99 that needs nothing: code, header, weights, a test with stored inputs and outputs, a Makefile.", .flags = flags};
