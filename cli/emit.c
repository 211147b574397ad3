/* coremap emit: C from programs that coremap compile made. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { TARGET = 1, NAME, LANES, SEED, WEIGHTS, PIECES };

static const cli_flag flags[] = {
  {"output", "DIR|FILE.tar", CLI_OUTPUT, "write the files there; needed"},
  {"target", cli_code_targets, TARGET, "what the code is for; host unless given"},
  {"name", "NAME", NAME, "of files and functions: model unless given"},
  {"lanes", "N", LANES, "threads or cores at most; unless given as many as the program has units that compute, or one thread where more would not pay"},
  {"seed", "N", SEED, "of the inputs that the test stores"},
  {"weights", "arrays|binary", WEIGHTS, "arrays of C, or a file NAME_weights.bin that the device reads or has in flash; arrays unless given"},
  {"pieces", NULL, PIECES, "on one lane; the test then also writes what each piece takes: model_test ROUNDS FILE, for coremap calibrate"},
  CLI_JSON_FLAG,
  {0}};

typedef struct arguments {
  const char *program, *folder, *target, *name, *weights;
  uint64_t lanes, seed;
  bool json, pieces;
} arguments;

/* Negative: go on. */
static int parse(int argc, char **argv, arguments *a)
{
  for (int flag; (flag = cli_next(&cli_command_emit, argc, argv)) != -1;)
    switch (flag) {
    case CLI_OUTPUT: a->folder = optarg; break;
    case TARGET: a->target = optarg; break;
    case NAME: a->name = optarg; break;
    case LANES:
      if (!cli_whole(optarg, 1, 4096, &a->lanes))
        return cli_usage("emit", "--lanes is a whole number from 1 to 4096, not \"%s\"", optarg);
      break;
    case SEED:
      if (!cli_whole(optarg, 0, INT64_MAX, &a->seed))
        return cli_usage("emit", "--seed is a whole number, not \"%s\"", optarg);
      break;
    case WEIGHTS: a->weights = optarg; break;
    case PIECES: a->pieces = true; break;
    case CLI_JSON: a->json = true; break;
    default: return cli_ended(flag);
    }
  if (optind + 1 != argc)
    return cli_usage("emit", optind == argc ? "no program is named" : "one program is needed");
  if (a->folder == NULL)
    return cli_usage("emit", "-o DIR is needed: where the files go");
  a->program = cli_input(argv[optind]);
  return -1;
}

static bool is_archive(const char *path)
{
  const size_t length = strlen(path);
  return length > 4 && strcmp(path + length - 4, ".tar") == 0;
}

cm_status cli_emit(const char *path, const char *to, json_t *asked, cm_run *run, json_t **report, cm_error *error)
{
  coremap_program *program = NULL;
  coremap_error *why = NULL;
  char *text = NULL, *options = NULL;
  cm_status status = asked != NULL && json_object_set_new(asked, is_archive(to) ? "archive" : "output_dir", json_string(to)) == 0
                       ? cli_json_text(asked, &options, error)
                       : cm_fail(error, CM_BAD_REQUEST, "a name is not text");
  json_decref(asked);
  CM_THEN(status, cli_read_program(path, run, &program, error));
  CM_THEN(status, library_status(coremap_program_emit(program, options, library_on_run, run, &text, &why), &why, error));
  if (status == CM_OK)
    *report = library_json(text);
  free(options);
  coremap_program_free(program);
  return status;
}

static void print_result(const json_t *r, const char *folder)
{
  cli_printf(stdout, "code          %s for %s: %s, %s of %s\n", folder, cli_text(r, "target"), cli_count(cli_number(r, "lanes"), "lane").text,
             cli_count(cli_number(r, "kernels"), "kernel").text, cli_count(cli_number(r, "pieces"), "piece").text);
  cli_printf(stdout, "memory        %s of the chip, %s of lanes, %s outside; weights %s\n", cli_size(cli_number(r, "chip_bytes")).text,
             cli_size(cli_number(r, "scratch_bytes")).text, cli_size(cli_number(r, "outside_bytes")).text, cli_size(cli_number(r, "weight_bytes")).text);
}

static int emit(int argc, char **argv)
{
  arguments a = {.seed = 1};
  cm_error error;
  cli_run cli;
  json_t *report = NULL;
  int exit_status = parse(argc, argv, &a);
  if (exit_status >= 0)
    return exit_status;
  cli_run_begin(&cli, true);
  json_t *asked = json_pack("{s:s*, s:s*, s:s*, s:I, s:I, s:b}", "target", a.target, "name", a.name, "weights", a.weights, "lanes", (json_int_t)a.lanes, "seed", (json_int_t)a.seed, "pieces", a.pieces);
  cm_status status = cli_emit(a.program, a.folder, asked, &cli.run, &report, &error);
  cli_run_end(&cli);
  if (status == CM_OK && a.json)
    cli_print_json(report);
  else if (status == CM_OK)
    print_result(report, a.folder);
  json_decref(report);
  if (status != CM_OK)
    return cli_fail(&error);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

const cli_command cli_command_emit = {
  .name = "emit", .what = "write a program as C for a device", .run = emit,
  .usage = "PROGRAM -o DIR [OPTION...]",
  .about = "Writes a program as C99 that needs nothing: code, header, weights, a test with stored inputs and outputs, a Makefile.", .flags = flags};
