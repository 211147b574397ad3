/* Commands and their flags as data. Parsing, how a command ends, --help, `coremap help --json` and what is made from that all follow from it. */
#pragma once

#include <coremap/client.h>
#include <jansson.h>

#include "base/status.h"

typedef struct cli_run cli_run;
typedef struct cli_command cli_command;

/* What a line says to every command: the head of a command's arguments. */
typedef struct cli_line {
  const cli_command *command;
  const char *server, *context; /* NULL: not named */
  bool json, quiet;             /* quiet: also a command that has no such flag */
  bool wait;                    /* until the job that is made has ended */
  char **words;                 /* what stands beside the flags */
  int count;
  const char *file; /* the first of them as cli_input has it, where it is no id */
  json_t *options;  /* options of jobs that are given, by name */
  json_t *body;     /* what else a server is asked */
} cli_line;

/* What is done with the value of a flag; own codes of a command, which its `take` knows, are below. */
enum {
  CLI_TEXT = 500, /* const char *: as it stands */
  CLI_IN,         /* const char *: a file that is read (cli_input) */
  CLI_OUT,        /* const char *: a file that is written (cli_output) */
  CLI_ON,         /* bool: it is given */
  CLI_WHOLE,      /* uint64_t */
  CLI_POISSON,    /* const char *: a table; a number is an option */
  CLI_OPTION,     /* an option of the flag's name: numbers and truth values as such, the rest as text */
  CLI_SET,        /* NAME=VALUE: an option */
  CLI_BODY,       /* in the body, under the flag's name */
  CLI_BODY_VALUE, /* ... numbers as such, a switch as true */
  CLI_BODY_LIST,  /* ... one more text of a list */
  CLI_LABEL,      /* KEY=VALUE: one of the body's labels */
  CLI_VISIBILITY  /* the body's, one of three */
};

typedef struct cli_flag {
  const char *name;   /* without its dashes; "output" has the letter o, "help" the letter h */
  const char *value;  /* what it takes, as help shows it: "FILE", "N", "low|high"; NULL: a switch */
  int code;           /* what is done with it */
  const char *about;  /* NULL: an old name of another flag, which help does not show */
  size_t at;          /* where in the arguments it goes: CLI_AT */
  const char *needed; /* what a text is for without which there is nothing to do; NULL: it may be left out */
} cli_flag;
#define CLI_AT(member) offsetof(arguments, member)
enum { CLI_ANY = 1 << 20 };
#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* rows end where there is no more to say */

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

struct cli_command {
  const char *name, *what; /* in one line */
  const char *usage; /* what stands after the name, a line a form */
  const char *about; /* "@N" in it: the names of the network formats; "@A": what they are */
  const cli_flag *flags; /* up to one without a name */
  cli_options options;
  bool reads;  /* networks: takes the options for reading them */
  bool server; /* talks to a server */
  const char *word;     /* what stands beside the flags, `least` to `most` of it (0: one); NULL: nothing, or what `check` says. "id": ids */
  int least, most;
  size_t size;          /* of the arguments, which begin with a cli_line; 0: they are one */
  const void *defaults; /* NULL: zeros */
  int (*take)(void *arguments, int code); /* a flag of its own, with its value in optarg; negative: go on, else an exit status */
  int (*check)(void *arguments);          /* when all are read; the same */
  /* What it does: on files; on a server, where one is named or nothing else can be. *report, which is JSON or NULL, is the caller's either way. */
  cm_status (*make)(void *arguments, cli_run *cli, json_t **report, cm_error *error);
  cm_status (*ask)(void *arguments, coremap_client *server, cli_run *cli, json_t **report, cm_error *error);
  void (*print)(const void *arguments, const json_t *report); /* for people; NULL: JSON is for them too */
  int (*judge)(const void *arguments, const json_t *report);  /* the exit status; NULL: EXIT_DONE */
  int (*run)(void *arguments);                                /* instead of all that; gives the exit status */
};

/* All commands, in the order of help. */
extern const cli_command *const cli_commands[];
extern const size_t cli_command_count;

/* Reads its line and carries it out; returns the exit status. */
int cli_carry_out(const cli_command *command, int argc, char **argv);

#define CLI_JSON_SAYS(about) {"json", NULL, CLI_ON, about, offsetof(cli_line, json)}
#define CLI_JSON_FLAG CLI_JSON_SAYS("print the result as JSON")
#define CLI_QUIET_FLAG {"quiet", NULL, CLI_ON, "no progress", offsetof(cli_line, quiet)}
#define CLI_WAIT_FLAG {"wait", NULL, CLI_ON, "wait until the job has ended, as coremap wait does", offsetof(cli_line, wait)}
#define CLI_SERVER_FLAG {"server", "URL", CLI_TEXT, "unless given, $COREMAP_SERVER, the context's, or http://127.0.0.1:8080", offsetof(cli_line, server)}
#define CLI_SERVER_FLAGS                                                                                                                        \
  CLI_SERVER_FLAG,                                                                                                                              \
    {"context", "NAME", CLI_TEXT, "a server and a token that coremap login --context keeps; or $COREMAP_CONTEXT", offsetof(cli_line, context)}
/* What makes the inputs of a network fire that runs. */
#define CLI_STIMULUS_FLAGS(input, poisson)                                                                                                        \
  {"input", "SPIKES", CLI_IN, "which inputs fire when: a line STEP,NEURON each, steps from 0, or an array of NumPy with rows [step, neuron]", input}, \
    {"poisson", "HZ|FILE", CLI_POISSON, "inputs fire at random, each so many times a second, or as a table NEURON,RATE says", poisson}
#define CLI_FORMAT_ABOUT "the network's format, whatever it looks like: @N"
#define CLI_VISIBILITY_FLAG {"visibility", "lab|group|private", CLI_VISIBILITY, "who sees what is sent and made: every user, your group, nobody else; else as the server's settings say", 0}

/* The next flag's code and place, with its value in optarg (NULL: a switch); -1: no more, what is no flag begins at argv[optind].
 * Others below -1 end the command: CLI_HELPED, CLI_MISUSED. */
enum { CLI_HELPED = -2, CLI_MISUSED = -3 };
int cli_next(const cli_command *command, int argc, char **argv, size_t *at);
const char *cli_taken(void); /* the name of the flag that came last, without dashes */

/* Prints a command's help, or all of it as JSON; `help` prints the list of commands. */
void cli_command_help(const cli_command *command, FILE *stream);
json_t *cli_command_json(const cli_command *command);

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
