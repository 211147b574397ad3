/* What the commands of `coremap` share: exit status, errors, flags, the run context with its progress bar. */
#pragma once

#include <coremap/coremap.h>
#include <getopt.h>
#include <jansson.h>

#include "cli/command.h"
#include "cli/print.h"
#include "base/file.h"
#include "base/run.h"
#include "library/private/base.h"

/* Exit status of every command. */
enum { EXIT_DONE = 0, EXIT_REFUSED = 1, EXIT_USAGE = 2 };

/* Where the library says why a call failed, for library_status, which takes it. */
extern coremap_error *cli_why;

/* Prints one line, "coremap: DETAIL", and returns EXIT_USAGE for bad input or EXIT_REFUSED. */
int cli_fail(const cm_error *error);

/* Prints one line about wrong usage with a hint at --help; returns EXIT_USAGE. */
int cli_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A path that can be read again and again: "-" is standard input, which like a pipe is kept in a nameless file. Ends the
 * command when that cannot be read. The path lasts as long as the process. */
const char *cli_input(const char *path);

/* The first of these that is a file without bytes, which errors name; NULL: none is. */
const char *cli_empty_input(void);

/* Puts the name of a file before what is wrong with it, unless it is none or print says so for want of bytes; `status`. */
cm_status cli_name_file(const char *file, cm_status status, cm_error *error);

/* Reads a program file; errors of its content name it. */
cm_status cli_read_program(const char *path, cm_run *run, coremap_program **made, cm_error *error);

/* A path that cm_file_create takes: "-" is standard output, which is this file's alone from here on: what the command
 * prints otherwise goes to standard error. Ends the command when a second file wants it. */
const char *cli_output(const char *path);

/* Prints an error's detail on standard error, with "standard input" where the path of cli_input stands in it. */
void cli_print_detail(const char *detail);

/* Reads a network; format NULL: recognised by content and name. With `id` it is known by its file's hash. */
cm_status cli_network(const char *path, const char *format, bool id, cm_run *run, coremap_network **network, cm_error *error);

/* Takes the options for reading networks ("--zeros drop", "--zeros=drop") out of a command's arguments; they hold for every
 * network that it reads. CM_BAD_OPTION: there is no such value. */
cm_status cli_read_options(int *argc, char **argv, cm_error *error);

/* The value of one of them; NULL: not given. */
const char *cli_read_option(const char *name);

/* Writes a network to `path` (as named on the command line) in the format `to`, or NULL: the one its ending says. */
cm_status cli_write_network(const coremap_network *network, const char *path, const char *to, cm_run *run, cm_error *error);

/* Whether the format of what is written there can be told: CM_BAD_REQUEST for standard output without `to`. */
cm_status cli_need_format(const char *path, const char *to, cm_error *error);

/* A table of the library (coremap_table), which stays; the same name is the same table. NULL: no memory. */
const json_t *cli_table(const char *name);

/* A run context on an account, cancelled by SIGINT and SIGTERM, that shows phases on standard error: a bar on a
 * terminal, a line a phase otherwise, nothing when quiet. */
struct cli_run {
  cm_run run;
  cm_memory memory;
  bool quiet, terminal;
  char phase[CM_PHASE_NAME_MAX];
  double started, shown_from;
  bool whole;       /* the bar is of all that is done, not of the phase */
  double remaining; /* seconds, of a job of a server, as that says; 0: not known */
};
void cli_run_begin(cli_run *cli, bool quiet);

/* The same for what is mostly done at once: shows nothing in the first second. */
void cli_run_begin_silent(cli_run *cli);

/* Ends the last phase and wipes the bar. */
void cli_run_end(cli_run *cli);

/* The highest accounted memory of all phases, in bytes. */
uint64_t cli_run_peak(const cli_run *cli);

/* Reads "WxH" into a bare grid, or a chip by name or path; with the occupancy of a file, NULL: all cores are free. */
cm_status cli_chip(const char *chip, const char *mesh, const char *occupancy, coremap_chip **made, cm_error *error);

/* Sets option constraints from a file (NULL: none), {"constraints": [...]}. */
cm_status cli_read_constraints(const char *path, json_t *options, cm_error *error);

/* Names the file that an error is about, where that is at `place` or below: from the last / of `place` on, places are those in the file, so that
 * "/options/constraints/0: ..." becomes "FILE: /constraints/0: ...". Without a file, and of other places, nothing changes. */
void cli_place_in_file(const char *file, const char *place, cm_error *error);

/* Reads a flag's whole number: digits alone, of a number from `least` to `most`. False, and nothing read, when the text
 * is none. */
bool cli_whole(const char *text, uint64_t least, uint64_t most, uint64_t *number);
bool cli_whole32(const char *text, uint32_t least, uint32_t most, uint32_t *number);

/* Prints what a command found as JSON on standard output, with a line end. */
void cli_print_json(const json_t *report);

/* A network's counts as one JSON object, the caller's: format, neurons, hyperedges, synapses. */
cm_status cli_counts(const coremap_network *network, json_t **counts, cm_error *error);

/* The table of a mapping's scenarios; nothing for NULL. */
void cli_print_scenarios(const json_t *scenarios);

/* Prints what a mapping's report says of time steps: the lower bound, and the table of a Pareto set. */
void cli_print_steps(const json_t *report);

/* What it says of rates that were measured, and of steps under them; nothing where there are none. */
void cli_print_rates(const json_t *report);

/* The head of the arguments of commands on a mapping, and its flags for their tables. */
typedef struct cli_mapped {
  cli_line line;
  const char *format, *chip, *mesh, *mapping;
} cli_mapped;
#define CLI_MAPPED_FLAGS                                                                                                   \
  {"chip", "NAME|FILE", CLI_IN, "the chip that it is mapped on", offsetof(cli_mapped, chip)},                        \
    {"mesh", "WxH", CLI_TEXT, "instead: a bare grid of cores without limits", offsetof(cli_mapped, mesh)},           \
    {"format", "NAME", CLI_TEXT, CLI_FORMAT_ABOUT, offsetof(cli_mapped, format)},                                    \
    {"mapping", "FILE", CLI_IN, "the mapping, as coremap map -o writes it", offsetof(cli_mapped, mapping)}, CLI_QUIET_FLAG

/* Whether network, chip and mapping are named: negative, else an exit status. */
int cli_mapped_check(void *mapped);

/* A job option's value as the JSON that a job carries: numbers and truth values as such, the rest as text. NULL: the
 * value is no text. */
json_t *cli_option_value(const char *text);

/* Sets the option that a flag names, "memory-limit" as "memory_limit", or adds to shapes; false: the value is no text. */
bool cli_option_set(json_t *options, const char *flag, const char *value);

/* The text of options of a kind ("profile"), checked, with the paths (NULL: not given) of files that others name; the last has no name. */
typedef struct cli_file_option {
  const char *name, *path;
} cli_file_option;
cm_status cli_file_options(const char *kind, json_t *options, const cli_file_option *files, char **text, cm_error *error);

/* Adds "KEY=VALUE" to the labels of what is to be made; false: it is not of that form. */
bool cli_label_add(json_t *body, const char *pair);

/* One more value of a list in an object. */
bool cli_list_add(json_t *object, const char *name, json_t *value);

/* Whether the line names a server, which is then to do it. */
bool cli_names_server(const cli_line *line);

/* What the library told, which it takes: *report, the caller's. */
cm_status cli_report(char *text, json_t **report, cm_error *error);

/* An object as the text that the library takes; *text is the caller's. */
cm_status cli_json_text(const json_t *object, char **text, cm_error *error);

/* Writes an object to a file for people, whole or not at all. */
cm_status cli_keep_json(const char *path, const json_t *object, cm_error *error);

/* Writes a program as C, into a folder or an archive (FILE.tar); what is asked of it (coremap_program_emit) is this call's to let go, NULL where a
 * name is no text. *report is the caller's. */
cm_status cli_emit(const char *program, const char *to, json_t *asked, cm_run *run, json_t **report, cm_error *error);

/* Compiles a model into `output`; files by what goes beside it ("timeline", "mapping", ...) are this call's to let go, NULL where a name is
 * no text. *report is the caller's. */
cm_status cli_compile_files(const char *model, const coremap_chip *chip, const json_t *options, json_t *files, const char *output,
                            cm_run *run, json_t **report, cm_error *error);

/* Gives names of the version before in options of a kind ("map", "compile") those that they have now, and warns of each on standard
 * error. CM_BAD_OPTION: an option is given by both names. */
cm_status cli_rename_options(const char *kind, json_t *options, cm_error *error);

/* The same, and whether they can be read: CM_BAD_OPTION. */
cm_status cli_check_options(const char *kind, json_t *options, cm_error *error);

/* The number of that name in a report; 0: none. */
double cli_number(const json_t *report, const char *name);

/* "1 lane", "2 lanes", "2 entries": a number and what it counts, given in the singular. */
cm_phrase cli_count(double number, const char *one);

/* "1.88 us", "157 nJ": a time in "ns" or an energy in "pJ", with a prefix that leaves one to three digits before the point. */
cm_phrase cli_quantity(double value, const char *unit);

/* "40 bytes", "1.5 KB" (of 1024 bytes), "12.0 MB". */
cm_phrase cli_size(double bytes);

/* The text of that name in an object; "": none. */
const char *cli_text(const json_t *object, const char *name);

/* Prints the table of operators as Markdown: that of docs/reference/operators.md. */
void cli_show_operators(void);
