/* Commands and their flags as data. Parsing, --help, `coremap help --json` and what is made from that all follow from it. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct cli_flag {
  const char *name;  /* without its dashes; "output" has the letter o, "help" the letter h */
  const char *value; /* what it takes, as help shows it: "FILE", "N", "low|high"; NULL: a switch */
  int code;          /* what cli_next gives for it, above 0 */
  const char *about; /* NULL: an old name of another flag, which help does not show */
} cli_flag;

/* Values of flags that take a name of a table, which help and completion then show. */
extern const char cli_export_formats[], cli_picture_layers[], cli_code_targets[];

/* Which job options are flags of a command, under their own names with dashes. */
typedef enum cli_options {
  CLI_OPTIONS_NONE,
  CLI_OPTIONS_MAP,       /* those of networks: all, ... */
  CLI_OPTIONS_PARTITION, /* ... those that shape parts, ... */
  CLI_OPTIONS_PLACE,     /* ... or places */
  CLI_OPTIONS_COMPILE,   /* those of models */
  CLI_OPTIONS_SIMULATE,  /* those of simulations */
  CLI_OPTIONS_PROFILE,   /* those of profiles */
  CLI_OPTIONS_DEPLOY,    /* those of deployments */
  CLI_OPTIONS_SCHEDULE,  /* those of schedules */
  CLI_OPTIONS_SOLVE,     /* those of placement problems */
  CLI_OPTIONS_QUANTIZE,  /* those of models that become integers */
  CLI_OPTIONS_JOB,       /* of both */
} cli_options;

typedef struct cli_command {
  const char *name, *what; /* in one line */
  int (*run)(int argc, char **argv); /* argv[0] is the name; gives the exit status */
  const char *usage; /* what stands after the name, a line a form */
  const char *about; /* "@N" in it: the names of the network formats; "@A": what they are */
  const cli_flag *flags; /* up to one without a name */
  cli_options options;
  bool reads;  /* networks: takes the options for reading them */
  bool server; /* talks to a server */
} cli_command;

/* All commands, in the order of help. */
extern const cli_command *const cli_commands[];
extern const size_t cli_command_count;
const cli_command *cli_command_find(const char *name); /* NULL: there is none */

/* The flags that every command of a server has. */
enum { CLI_SERVER = 900, CLI_CONTEXT, CLI_JSON, CLI_QUIET, CLI_OUTPUT };
#define CLI_SERVER_FLAGS                                                                                       \
  {"server", "URL", CLI_SERVER, "unless given, $COREMAP_SERVER, the context's, or http://127.0.0.1:8080"},    \
    {"context", "NAME", CLI_CONTEXT, "a server and a token that coremap login --context keeps; or $COREMAP_CONTEXT"}
#define CLI_JSON_FLAG {"json", NULL, CLI_JSON, "print the result as JSON"}
/* What makes the inputs of a network fire that runs. */
#define CLI_STIMULUS_FLAGS(input, poisson)                                                                                                        \
  {"input", "SPIKES", input, "which inputs fire when: a line STEP,NEURON each, steps from 0, or an array of NumPy with rows [step, neuron]"}, \
    {"poisson", "HZ|FILE", poisson, "inputs fire at random, each so many times a second, or as a table NEURON,RATE says"}

#define CLI_QUIET_FLAG {"quiet", NULL, CLI_QUIET, "no progress"}
#define CLI_FORMAT_ABOUT "the network's format, whatever it looks like: @N"

/* The next flag's code, with its value in optarg (NULL: a switch); -1: no more, what is no flag begins at argv[optind].
 * CLI_TAKES_OPTION: a job option, cli_taken() says which. Others below -1 end the command: cli_ended says with what. */
enum { CLI_TAKES_OPTION = 1000, CLI_HELPED = -2, CLI_MISUSED = -3 };
int cli_next(const cli_command *command, int argc, char **argv);
const char *cli_taken(void); /* the name of the flag that came last, without dashes */
int cli_ended(int flag);

/* Prints a command's help, or all of it as JSON; `help` prints the list of commands. */
void cli_command_help(const cli_command *command, FILE *stream);
json_t *cli_command_json(const cli_command *command);

/* The name of `count` that `word` is most like, as one that mistypes; NULL: none is near. */
const char *cli_nearest(const char *word, const char *const *names, size_t count);

/* "there is no command" with a name that is near; returns EXIT_USAGE. */
int cli_no_command(const char *word);

extern const cli_command cli_command_map, cli_command_partition, cli_command_place, cli_command_check, cli_command_compare, cli_command_simulate, cli_command_profile, cli_command_deploy,
  cli_command_compile, cli_command_quantize, cli_command_schedule, cli_command_solve, cli_command_tile, cli_command_show, cli_command_convert,
  cli_command_generate, cli_command_train, cli_command_run, cli_command_disassemble, cli_command_emit, cli_command_submit, cli_command_sweep,
  cli_command_wait, cli_command_login, cli_command_logout, cli_command_get, cli_command_cancel, cli_command_context,
  cli_command_jobs, cli_command_networks, cli_command_mappings, cli_command_programs, cli_command_chips, cli_command_top, cli_command_occupancy,
  cli_command_reserve, cli_command_release, cli_command_log, cli_command_rm, cli_command_quota, cli_command_bin, cli_command_restore, cli_command_pin, cli_command_unpin,
  cli_command_label,
  cli_command_download, cli_command_remap,
  cli_command_fit, cli_command_calibrate, cli_command_export, cli_command_draw, cli_command_completion, cli_command_help_;
