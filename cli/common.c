#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

#include "cli/cli.h"
#include "base/json.h"
#include "base/number.h"

enum { OCCUPANCY_BYTES_MAX = 1 << 28, BAR_WIDTH = 30 };

coremap_error *cli_why;

static atomic_bool stop_wanted;

/* Why a file is bad that has no bytes: readers do not all see that, nor know its name. */
static void print_empty(const cm_error *error)
{
  static const char seen[] = "the file is empty";
  const char *detail = strncmp(error->detail, seen, strlen(seen)) == 0 ? error->detail + strlen(seen) : error->detail;
  cli_print_detail(cli_empty_input());
  fputs(detail == error->detail ? " is empty: " : " is empty", stderr);
  cli_print_detail(detail);
}

int cli_fail(const cm_error *error)
{
  const bool bad_file = error->status == CM_BAD_NETWORK || error->status == CM_BAD_CHIP || error->status == CM_BAD_OCCUPANCY ||
                        error->status == CM_BAD_MAPPING || error->status == CM_DAMAGED;
  cli_print_head(NULL);
  if (bad_file && cli_empty_input() != NULL)
    print_empty(error);
  else
    cli_print_detail(error->detail);
  fputc('\n', stderr);
  switch (error->status) {
    case CM_BAD_NETWORK: case CM_BAD_CHIP: case CM_BAD_OCCUPANCY: case CM_BAD_OPTION:
    case CM_BAD_MAPPING: case CM_BAD_REQUEST: case CM_DAMAGED: case CM_TOO_LARGE:
    case CM_NOT_FOUND: return EXIT_USAGE;
    default: return EXIT_REFUSED;
  }
}

int cli_usage(const char *command, const char *format, ...)
{
  va_list arguments;
  char *text;
  va_start(arguments, format);
  const int size = vasprintf(&text, format, arguments);
  va_end(arguments);
  cli_print_head(command);
  cli_print_detail(size >= 0 ? text : "out of memory");
  free(size >= 0 ? text : NULL);
  cli_printf(stderr, "; see coremap %s --help\n", command);
  return EXIT_USAGE;
}

static void on_signal(CM_UNUSED int number)
{
  atomic_store(&stop_wanted, true);
}

/* What is left at the pace so far; 0: not known yet. */
static double remaining_of(const cli_run *cli, double fraction)
{
  static const double known_from = 0.05;
  if (!cli->whole)
    return cli->remaining;
  return fraction > known_from ? (cm_now() - cli->started) * (1 - fraction) / fraction : 0;
}

static void show_bar(const cli_run *cli, const cm_progress *progress)
{
  char bar[BAR_WIDTH + 1];
  double fraction = fmin(fmax(cli->whole ? progress->whole : progress->fraction, 0), 1), remaining = remaining_of(cli, fraction);
  int filled = (int)(fraction * BAR_WIDTH);
  for (int i = 0; i < BAR_WIDTH; i++)
    bar[i] = i < filled ? '#' : '.';
  bar[BAR_WIDTH] = '\0';
  fputs("\r\033[K", stderr);
  cli_printf(stderr, "%-10s [%s] %3.0f %%", progress->phase, bar, fraction * 100);
  if (remaining >= 1)
    cli_printf(stderr, remaining < 100 ? ", %.0f s left" : ", %.0f min left", remaining < 100 ? remaining : remaining / 60);
  if (progress->level >= 0)
    cli_printf(stderr, "  level %d, %llu vertices", progress->level, (unsigned long long)progress->vertices);
  fflush(stderr);
}

static void on_progress(void *user, const cm_progress *progress)
{
  cli_run *cli = user;
  if (cm_now() < cli->shown_from)
    return;
  if (cli->terminal)
    show_bar(cli, progress);
  else if (strcmp(cli->phase, progress->phase) != 0)
    cli_printf(stderr, "%7.2f s  %s\n", cm_now() - cli->started, progress->phase);
  (void)snprintf(cli->phase, sizeof cli->phase, "%s", progress->phase);
}

void cli_run_begin(cli_run *cli, bool quiet)
{
  *cli = (cli_run){.quiet = quiet, .terminal = isatty(STDERR_FILENO) == 1, .started = cm_now()};
  cm_memory_init(&cli->memory, 0);
  cm_run_init(&cli->run);
  cli->run.memory = &cli->memory;
  cli->run.cancel = &stop_wanted;
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  if (!quiet) {
    cli->run.on_progress = on_progress;
    cli->run.user = cli;
  }
}

void cli_run_begin_silent(cli_run *cli)
{
  cli_run_begin(cli, false);
  cli->shown_from = cli->started + 1;
}

void cli_run_end(cli_run *cli)
{
  cm_run_finish(&cli->run);
  if (!cli->quiet && cli->terminal && cli->phase[0] != '\0')
    fputs("\r\033[K", stderr);
}

uint64_t cli_run_peak(const cli_run *cli)
{
  uint64_t peak = 0;
  for (size_t i = 0; i < cli->run.phase_count; i++)
    peak = cli->run.phases[i].peak_bytes > peak ? cli->run.phases[i].peak_bytes : peak;
  return peak;
}

cm_status cli_name_file(const char *file, cm_status status, cm_error *error)
{
  char detail[CM_ERROR_DETAIL_MAX];
  if (access(file, F_OK) != 0 || cli_empty_input() != NULL)
    return status;
  (void)snprintf(detail, sizeof detail, "%s", error->detail);
  (void)snprintf(error->detail, sizeof error->detail, "%.200s: %.*s", file, (int)(sizeof detail - 203), detail);
  return status;
}

cm_status cli_read_program(const char *path, cm_run *run, coremap_program **made, cm_error *error)
{
  const cm_status status = library_status(coremap_program_read(path, library_on_run, run, made, &cli_why), &cli_why, error);
  return status == CM_DAMAGED ? cli_name_file(path, status, error) : status;
}

static cm_status open_chip(const char *chip, const char *mesh, const char *occupancy, coremap_chip **made, cm_error *error)
{
  if (mesh == NULL) {
    cm_status status = library_status(coremap_chip_open(chip, occupancy, made, &cli_why), &cli_why, error);
    return status == CM_BAD_CHIP ? cli_name_file(chip, status, error) : status;
  }
  unsigned width, height;
  int used = 0;
  if (sscanf(mesh, "%5ux%5u%n", &width, &height, &used) != 2 || mesh[used] != '\0')
    return cm_fail(error, CM_BAD_CHIP, "--mesh \"%s\" is not of the form WIDTHxHEIGHT, like 16x16", mesh);
  return library_status(coremap_chip_mesh(width, height, occupancy, made, &cli_why), &cli_why, error);
}

cm_status cli_chip(const char *chip, const char *mesh, const char *occupancy, coremap_chip **made, cm_error *error)
{
  char *text = NULL;
  size_t size;
  coremap_chip *bare;
  if (occupancy == NULL)
    return open_chip(chip, mesh, NULL, made, error);
  /* What is wrong with the chip comes first. */
  CM_TRY(open_chip(chip, mesh, NULL, &bare, error));
  coremap_chip_free(bare);
  CM_TRY(cm_file_read(occupancy, OCCUPANCY_BYTES_MAX, &text, &size, error));
  cm_status status = open_chip(chip, mesh, text, made, error);
  free(text);
  return status == CM_BAD_OCCUPANCY ? cli_name_file(occupancy, status, error) : status;
}

bool cli_whole(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
  uint64_t read;
  if (!cm_whole_parse(text, &read) || read < least || read > most)
    return false;
  *number = read;
  return true;
}

bool cli_whole32(const char *text, uint32_t least, uint32_t most, uint32_t *number)
{
  uint64_t read;
  if (!cli_whole(text, least, most, &read))
    return false;
  *number = (uint32_t)read;
  return true;
}

cm_status cli_counts(const coremap_network *network, json_t **counts, cm_error *error)
{
  char *text;
  json_t *about;
  CM_TRY(library_status(coremap_network_about(network, 0, &text, &cli_why), &cli_why, error));
  CM_TRY(cli_report(text, &about, error));
  *counts = json_pack("{s:O, s:O, s:O, s:O}", "format", json_object_get(about, "format"), "neurons", json_object_get(about, "neurons"), "hyperedges",
                      json_object_get(about, "hyperedges"), "synapses", json_object_get(about, "synapses"));
  json_decref(about);
  return CM_OK;
}

void cli_print_scenarios(const json_t *scenarios)
{
  static const char *const together[] = {"worst", "mean"};
  const json_t *p;
  size_t i;
  if (scenarios == NULL)
    return;
  cli_printf(stdout, "scenario%*s %14s %14s %18s %14s\n", 16, "", "core ns", "step ns", "energy of step pJ", "hops pJ");
  json_array_foreach(json_object_get(scenarios, "each"), i, p) {
    const json_t *m = json_object_get(p, "metrics");
    cli_printf(stdout, "  %-22.22s %14.6g %14.6g %18.6g %14.6g\n", json_string_value(json_object_get(p, "name")),
           cli_number(m, "core_ns_max"), cli_number(m, "step_ns"), cli_number(m, "energy_step_pj"), cli_number(m, "energy_pj"));
  }
  for (i = 0; i < 2; i++) {
    p = json_object_get(scenarios, together[i]);
    bool aim = strcmp(together[i], json_string_value(json_object_get(scenarios, "objective"))) == 0;
    char name[32];
    (void)snprintf(name, sizeof name, "%s%s", together[i], aim ? " (objective)" : "");
    cli_printf(stdout, "  %-22s %14.6g %14.6g %18.6g %14.6g\n", name, cli_number(p, "core_ns_max"), cli_number(p, "step_ns"), cli_number(p, "energy_step_pj"), cli_number(p, "energy_pj"));
  }
}

int cli_mapped_check(void *mapped)
{
  cli_mapped *m = mapped;
  const char *command = m->line.command->name;
  if (m->line.count == 0)
    return cli_usage(command, "no network is named");
  if ((m->chip == NULL) == (m->mesh == NULL))
    return cli_usage(command, "name either --chip or --mesh");
  m->line.file = cli_input(m->line.words[0]);
  return m->mapping != NULL ? -1 : cli_usage(command, "no --mapping is named");
}

json_t *cli_option_value(const char *text)
{
  json_t *parsed = cm_json_loadb(text, strlen(text), JSON_DECODE_ANY, NULL);
  if (json_is_number(parsed) || json_is_boolean(parsed))
    return parsed;
  json_decref(parsed);
  return json_string(text);
}

/* Adds one --shape to those in the option "shape". */
static void set_shape(json_t *options, const char *value)
{
  const char *before = json_string_value(json_object_get(options, "shape"));
  json_t *all = before == NULL ? json_string(value) : json_sprintf("%s,%s", before, value);
  (void)json_object_set_new(options, "shape", all);
}

bool cli_option_set(json_t *options, const char *flag, const char *value)
{
  char name[64];
  (void)snprintf(name, sizeof name, "%s", flag);
  for (char *c = name; *c != '\0'; c++)
    *c = *c == '-' ? '_' : *c;
  if (strcmp(name, "shape") == 0) {
    set_shape(options, value);
    return true;
  }
  return json_object_set_new(options, name, cli_option_value(value)) == 0;
}

cm_status cli_file_options(const char *kind, json_t *options, const cli_file_option *files, char **text, cm_error *error)
{
  cm_status status = cli_check_options(kind, options, error);
  for (; files->name != NULL && status == CM_OK; files++)
    if (files->path != NULL && json_object_set_new(options, files->name, json_string(files->path)) != 0)
      status = cm_fail(error, CM_BAD_OPTION, "\"%s\" is not text", files->path);
  return status == CM_OK ? cli_json_text(options, text, error) : status;
}

cm_status cli_report(char *text, json_t **report, cm_error *error)
{
  *report = library_json(text);
  return cm_whole(*report != NULL, "the report", error);
}

cm_status cli_json_text(const json_t *object, char **text, cm_error *error)
{
  *text = cm_json_dumps(object, JSON_COMPACT);
  return cm_whole(*text != NULL, "options", error);
}

cm_status cli_keep_json(const char *path, const json_t *object, cm_error *error)
{
  cm_file file;
  CM_TRY(cm_file_create(&file, path, error));
  if (cm_json_dumpf(object, file.stream, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0)
    (void)fputc('\n', file.stream);
  return cm_file_commit(&file, error);
}

cm_status cli_compile_files(const char *model, const coremap_chip *chip, const json_t *options, json_t *files, const char *output,
                            cm_run *run, json_t **report, cm_error *error)
{
  char *asked = NULL, *named = NULL, *text;
  cm_status status = files == NULL ? cm_fail(error, CM_BAD_REQUEST, "the name of a file is not text") : cli_json_text(files, &named, error);
  json_decref(files);
  CM_THEN(status, cli_json_text(options, &asked, error));
  CM_THEN(status, library_status(coremap_compile_files(model, chip, asked, named, output, library_on_run, run, &text, &cli_why), &cli_why, error));
  CM_THEN(status, cli_report(text, report, error));
  free(asked);
  free(named);
  return status == CM_BAD_NETWORK ? cli_name_file(model, status, error) : status;
}

cm_status cli_rename_options(const char *kind, json_t *options, cm_error *error)
{
  const json_t *sentence;
  size_t i;
  json_t *told = json_array();
  cm_status status = library_options_rename(kind, options, told, error);
  json_array_foreach(status == CM_OK ? told : NULL, i, sentence)
    cli_printf(stderr, "coremap: warning: %s\n", json_string_value(sentence));
  json_decref(told);
  return status;
}

cm_status cli_check_options(const char *kind, json_t *options, cm_error *error)
{
  char *text;
  CM_TRY(cli_rename_options(kind, options, error));
  CM_TRY(cli_json_text(options, &text, error));
  cm_status status = library_status(coremap_options_read(kind, text, NULL, NULL, &cli_why), &cli_why, error);
  free(text);
  return status;
}

const char *cli_text(const json_t *object, const char *name)
{
  const char *text = json_string_value(json_object_get(object, name));
  return text != NULL ? text : "";
}

double cli_number(const json_t *report, const char *name)
{
  return json_number_value(json_object_get(report, name));
}
