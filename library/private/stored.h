/* What the server keeps in its data folder (docs/reference/data-folder.md): networks as it stored them, and for each mapping a folder with
 * a file for every view. Names and contents of these files are its own, and change with it: a program outside keeps a mapping as
 * one file (coremap_mapping_write, coremap_mapping_open), so none of this is public. */
#pragma once

#include <coremap/map.h>

#include "base/run.h"

/* Reads a network as the server stored it; `id` is the hash of the file that it came from, "": not known. Errors: bad-network
 * (the file is damaged), no-memory, io, those of the run. */
int library_network_load(const char *path, const char *id, coremap_progress progress, void *user, coremap_network **network,
                         coremap_error **error);

/* Writes it so: half as large again as others write it, and read without inflating. */
int library_network_store(const coremap_network *network, const char *path, coremap_progress progress, void *user, coremap_error **error);

/* Reads a model to its end, without files beside it, and counts its operators. Errors: bad-network, too-large, no-memory, io. */
int library_model_read(const char *path, coremap_progress progress, void *user, uint64_t *operators, coremap_error **error);

/* Writes the folder of a mapping that was just made: a file for every view, its Pareto set, which cores were free, and routes
 * where its options ask for them. Errors: no-route, limit-broken, no-memory, disk-full, io, those of the run. */
int library_mapping_store(const coremap_mapping *mapping, const char *folder, coremap_progress progress, void *user, coremap_error **error);

/* How many mappings its Pareto set has (0: it has none), and which one of them, from 1, it is; and writes the folder of one, from 1, as
 * that of a mapping of its own. */
uint32_t library_mapping_points(const coremap_mapping *mapping, uint32_t *chosen);
int library_mapping_store_point(const coremap_mapping *mapping, uint32_t number, const char *folder, coremap_progress progress, void *user,
                                coremap_error **error);

/* Checks the folder of a mapping that was just made, with code that shares nothing with what made it: always on chips of more than one
 * class of cores, elsewhere where that costs less than a tenth of making it, by an estimate from sizes. Errors: internal (the mapping
 * breaks a rule, which the error names), bad-mapping, no-memory, io, those of the run. */
int library_mapping_check(const coremap_mapping *mapping, const char *folder, coremap_progress progress, void *user, coremap_error **error);

/* The same of the mapping of a program's tiles, always: it costs little beside a compilation. `program` (a path, or NULL): where its
 * units lie there. */
int library_tiles_check(const char *mapping, const char *program, const coremap_network *tiles, const coremap_chip *chip,
                        cm_run *run, coremap_error **error);

/* Views that few ask for: a mapping's folder may lack them until somebody does. NULL after the last. */
extern const char *const library_late_views[];

/* Makes such a view in a folder that lacks it, with the bytes that the job would have written; with one of routes all three.
 * `network` is the path of the mapping's network as stored. Errors: conflict (the folder is of a release that kept no occupancy),
 * bad-mapping, damaged, no-memory, disk-full, io, those of the run. */
int library_view_make(const char *folder, const char *view, const char *network, coremap_progress progress, void *user,
                      coremap_error **error);

/* Answers a question (core/output/structure/structure.h) from the view "structure.bin" of a mapping, and of the one that "diff" compares
 * with, else -1: open files, the caller's. `arguments` are names and values by turns, NULL after the last. *text is freed with
 * coremap_text_free. Errors: bad-option (its place is the argument), not-found, conflict, damaged, no-memory, io. */
int library_structure_answer(int structure, int other, const char *kind, const char *const *arguments, char **text, coremap_error **error);

/* Writes to `out`, an open file, what an open view of cores of a mapping, in binary or in JSON, has of a box {x, y, columns, rows} (columns 0: of
 * all), in blocks of so many cores each way, or, 0, core by core (core/output/cores_cut.h). Errors: bad-option, damaged, no-memory, disk-full, io. */
int library_cores_cut(int cores, const uint32_t box[4], uint32_t block, int out, coremap_error **error);

/* What a mapping's summary says, or the report of the job that made it, in the names of now. *now is NULL where `text` has these
 * itself, else freed with coremap_text_free. Errors: damaged (`text` is neither), bad-option (a thing stands there by both names),
 * no-memory. */
int library_names_of_now(const char *text, char **now, coremap_error **error);

/* coremap_spikes_check where neurons may have names, which only the network knows: `named`, then any id will do. */
int library_spikes_check(const char *text, uint32_t neurons, bool named, coremap_error **error);

/* Packs a folder of samples (docs/how-to/quantizing.md) into a zip file, for a server. Errors: bad-request (it has none), not-found, io. */
int library_samples_pack(const char *folder, const char *out, coremap_error **error);
