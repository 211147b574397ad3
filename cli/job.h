/* What the commands that work on a network under job options (map, partition) share: flags, inputs, seconds and
 * memory. */
#pragma once

#include <jansson.h>

#include "cli/cli.h"

typedef struct cli_job {
  /* As named on the command line; NULL: not named. */
  const char *network_name, *chip_name, *mesh, *occupancy_path, *cache_folder, *part, *placement, *output, *routes,
      *certificate, *pareto, *from, *policy, *format, *input, *poisson, *constraints, *fixed, *edited_from;
  const char *routes_name; /* as named: its ending says the view */
  json_t *flags; /* job options */
  bool json, quiet, verbose;
  /* Opened by cli_job_open. */
  cli_run cli;
  coremap_chip *chip; /* NULL when neither chip nor mesh is named */
  coremap_network *network;
  char scratch[CM_PATH_MAX];
} cli_job;

/* Their own flags beside the job options, for a command's table. */
enum {
  CLI_JOB_CHIP = 1, CLI_JOB_MESH, CLI_JOB_OCCUPANCY, CLI_JOB_CACHE, CLI_JOB_PART, CLI_JOB_PLACEMENT, CLI_JOB_ROUTES,
  CLI_JOB_CERTIFICATE, CLI_JOB_PARETO, CLI_JOB_FROM, CLI_JOB_POLICY, CLI_JOB_FORMAT, CLI_JOB_SET, CLI_JOB_VERBOSE, CLI_JOB_INPUT, CLI_JOB_POISSON,
  CLI_JOB_CONSTRAINTS, CLI_JOB_FIXED, CLI_JOB_LEVELS_FROM
};
#define CLI_JOB_INPUT_FLAGS(of_chip, of_mesh)                                                                \
  {"format", "NAME", CLI_JOB_FORMAT, CLI_FORMAT_ABOUT}, {"chip", "NAME|FILE", CLI_JOB_CHIP, of_chip},        \
    {"mesh", "WxH", CLI_JOB_MESH, of_mesh},                                                                  \
    {"occupancy", "FILE", CLI_JOB_OCCUPANCY, "cores that are taken or broken"},                              \
    {"set", "NAME=VALUE", CLI_JOB_SET, "a job option (docs/reference/options.md) by the name that it has over HTTP"}
#define CLI_JOB_LEVELS_FLAGS                                                                                                             \
  {"cache", "DIR", CLI_JOB_CACHE, "keep partitions and coarsened levels here between runs (at most 1 GiB; one run at a time)"},         \
  {"levels-from", "FILE", CLI_JOB_LEVELS_FROM, "of preset reference: carry over the coarsened levels of this network, which was edited"}
#define CLI_JOB_CONSTRAINTS_FLAG {"constraints", "FILE", CLI_JOB_CONSTRAINTS, "where neurons and populations may lie (docs/reference/constraints.md)"}
#define CLI_JOB_PLACED_FLAGS                                                                                 \
  {"placement", "FILE", CLI_JOB_PLACEMENT, "write part,x,y"},                                                \
    {"policy", "FILE", CLI_JOB_POLICY, "of mapper learned, from coremap train; unless given, the one that ships"}, \
    {"routes", "FILE", CLI_JOB_ROUTES, "write routes free of deadlock: tables or paths as .json or .csv, link loads as .bin"}, \
    {"certificate", "FILE", CLI_JOB_CERTIFICATE,                                                             \
     "write what coremap check --certificate can verify: limits, metrics, lower bounds"},                    \
    {"output", "FILE", CLI_OUTPUT, "write the whole mapping as JSON"},                                      \
    {"verbose", NULL, CLI_JOB_VERBOSE, "on a terminal too: all metrics, not only what matters most"}, CLI_JSON_FLAG, CLI_QUIET_FLAG

/* Reads the flags. Returns -1 to go on, else an exit status. */
int cli_job_parse(const cli_command *command, int argc, char **argv, cli_job *job);

/* Reads chip, occupancy and network, and makes *options, the caller's, of the flags as the library takes them; `parts`: those that are
 * to be placed, or NULL. */
cm_status cli_job_open(cli_job *job, const char *parts, char **options, cm_error *error);

/* Closes what was opened; harmless on a zeroed job. */
void cli_job_close(cli_job *job);

/* "network ..." and "chip ..." lines. */
void cli_job_print_inputs(const cli_job *job);

/* A name with spaces for its lines below, in `words`. */
const char *cli_job_words(const char *name, char words[40]);

/* How much of each limit of a core the fullest one uses, and how many cores. */
void cli_job_print_limits(const json_t *limits);

/* Parts of what was made, and how few there could be. */
void cli_job_print_parts(const json_t *made);

/* Attempts, when there was more than one. */
void cli_job_print_attempts(const json_t *attempts);

/* The metrics of what was made that say something, one a line. */
void cli_job_print_numbers(const json_t *made);

/* Cores, step, energy, fullest limit and what to try next, where the chip says what a step costs. */
void cli_print_summary(const cli_job *job, const json_t *made);

/* The report's table of more cores. */
void cli_print_choices(const json_t *choices);

/* Seconds of every phase, and the highest accounted memory. */
void cli_job_print_cost(const cli_job *job);

/* Adds "seconds" and "peak_bytes" to an object, prints it and drops it. */
void cli_job_print_json(const cli_job *job, json_t *object);
