/* What our own programs have of the library beside its public headers. They stand on `base` as the library does, and do by it
 * what programs outside do by coremap_progress and coremap_error: a command, or a job, is one run, with one account of memory,
 * one progress and one flag that stops it; its errors are shown as all others are, and its JSON is jansson's. Nothing of core is
 * here. */
#pragma once

#include <coremap/chip.h>
#include <coremap/network.h>
#include <coremap/run.h>
#include <coremap/tables.h>
#include <jansson.h>

#include "base/run.h"

/* Given as `progress` with a cm_run as `user`, makes a call part of that run. What the call makes is on the run's account, and
 * goes before it. */
int library_on_run(void *run, const char *phase, double fraction);

/* What a call gave as a status; *error has *why, which is freed: library_status(coremap_check(..., &why), &why, error). */
cm_status library_status(int result, coremap_error **why, cm_error *error);

/* The text of a call that succeeded, which is freed, as JSON. Memory may run out: then NULL. */
json_t *library_json(char *text);

/* A table (coremap_table), or a schema of options; likewise. */
json_t *library_table(const char *name);
json_t *library_schema(const char *kind);

/* Gives names of the version before in options of a kind those that they have now, and adds a sentence for each to `told`, an array
 * (NULL: not asked). CM_BAD_OPTION: an option is given by both names. */
cm_status library_options_rename(const char *kind, json_t *options, json_t *told, cm_error *error);

/* The row of a table that has this name, a new reference; NULL: there is none. */
json_t *library_row(const char *table, const char *name);

/* The names in a table with `between` them, cut to `size`; returns `names`. */
const char *library_names(const char *table, const char *between, char *names, size_t size);

/* Networks of more synapses are not looked at by the way: a second or two. */
enum { LIBRARY_LOOKED_AT_MAX = 4000000 };

/* Adds to the refusal of a mapping for lack of room, or of a neuron that is too large, which of these chips (ends with NULL; NULL: presets)
 * would take the network, parts of at most "max_part_size" of the job's options (NULL: none) and its own chip (NULL: not among them) left
 * out; nothing to other failures, or of networks that are larger. */
void library_name_chips(const coremap_network *network, const coremap_chip *const *chips, const coremap_chip *own, const json_t *options, cm_run *run,
                        cm_error *error);
