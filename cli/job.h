/* What the commands that work on a network under job options (map, partition) share: flags, inputs, seconds and
 * memory. */
#pragma once

#include <jansson.h>

#include "cli/cli.h"

typedef struct cli_job {
  cli_line line;
  /* As named on the command line; NULL: not named. */
  const char *chip_name, *mesh, *occupancy_path, *cache_folder, *part, *in, *placement, *output, *routes,
      *certificate, *pareto, *from, *policy, *format, *input, *poisson, *constraints, *fixed, *edited_from;
  bool verbose;
  /* Opened by cli_job_open. */
  cli_run cli;
  coremap_chip *chip; /* NULL when neither chip nor mesh is named */
  coremap_network *network;
  char scratch[CM_PATH_MAX];
} cli_job;

/* Their own flags beside the job options, for a command's table. */
#define CLI_JOB_AT(member) offsetof(cli_job, member)
#define CLI_JOB_INPUT_FLAGS(of_chip, of_mesh)                                                                \
  {"format", "NAME", CLI_TEXT, CLI_FORMAT_ABOUT, CLI_JOB_AT(format)},                                        \
    {"chip", "NAME|FILE", CLI_IN, of_chip, CLI_JOB_AT(chip_name)}, {"mesh", "WxH", CLI_TEXT, of_mesh, CLI_JOB_AT(mesh)}, \
    {"occupancy", "FILE", CLI_IN, "cores that are taken or broken", CLI_JOB_AT(occupancy_path)},             \
    {"set", "NAME=VALUE", CLI_SET, "a job option (docs/reference/options.md) by the name that it has over HTTP"}
#define CLI_JOB_LEVELS_FLAGS                                                                                                             \
  {"cache", "DIR", CLI_TEXT, "keep partitions and coarsened levels here between runs (at most 1 GiB; one run at a time)", CLI_JOB_AT(cache_folder)}, \
  {"levels-from", "FILE", CLI_IN, "of preset reference: carry over the coarsened levels of this network, which was edited", CLI_JOB_AT(edited_from)}
#define CLI_JOB_CONSTRAINTS_FLAG {"constraints", "FILE", CLI_IN, "where neurons and populations may lie (docs/reference/constraints.md)", CLI_JOB_AT(constraints)}
#define CLI_JOB_PART_FLAG {"part", "FILE", CLI_OUT, "write one part number a line", CLI_JOB_AT(part)}
#define CLI_JOB_PLACED_FLAGS                                                                                 \
  {"placement", "FILE", CLI_OUT, "write part,x,y", CLI_JOB_AT(placement)},                                   \
    {"policy", "NAME|FILE", CLI_IN, "of mapper learned: pilot (unless given), layout, letter, ..., or a file from coremap train", CLI_JOB_AT(policy)}, \
    {"routes", "FILE", CLI_TEXT, "write routes free of deadlock: tables or paths as .json or .csv, link loads as .bin", CLI_JOB_AT(routes)}, \
    {"certificate", "FILE", CLI_OUT, "write what coremap check --certificate can verify: limits, metrics, lower bounds", CLI_JOB_AT(certificate)}, \
    {"output", "FILE", CLI_OUT, "write the whole mapping as JSON", CLI_JOB_AT(output)},                      \
    {"verbose", NULL, CLI_ON, "on a terminal too: all metrics, not only what matters most", CLI_JOB_AT(verbose)}, CLI_JSON_FLAG, CLI_QUIET_FLAG

/* Whether what is named goes together: negative, else an exit status. */
int cli_job_check(void *job);

/* Reads chip, occupancy and network, and makes *options, the caller's, of the flags as the library takes them. */
cm_status cli_job_open(cli_job *job, char **options, cm_error *error);

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
