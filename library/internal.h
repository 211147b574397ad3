/* What the files of the shared library share: objects that several own, runs, and errors as the interface tells them. */
#pragma once

#include <coremap/coremap.h>
#include <jansson.h>
#include <stdatomic.h>

#include "base/file.h"
#include "core/output/exports/exports.h"
#include "core/levels/cache.h"
#include "core/mapping/input.h"
#include "core/mapping/mapping.h"
#include "core/network/import.h"
#include "core/spiking/profile.h"
#include "core/spiking/profile_request.h"

struct coremap_network {
  atomic_uint owners;
  cm_topology *topology;
  char id[65]; /* SHA-256 of its file; "": it came from no file, or nobody asked */
  cm_import_report report; /* of its file */
  struct coremap_network *lender; /* that this one is at measured rates, and whose arrays it has; NULL: none */
};

struct coremap_chip {
  atomic_uint owners;
  cm_chip *chip;
  cm_occupancy *occupancy;
};

struct coremap_mapping {
  atomic_uint owners;
  coremap_network *network;
  coremap_chip *chip;
  cm_demand demand;      /* of the network, as options and chip make it */
  cm_memory memory;      /* that the mapping stands in */
  cm_mapping *mapping;   /* NULL: it was opened from a file, which gave: */
  json_t *summary;
  cm_mapping_places places;
  cm_mapped mapped;      /* either, as exports take it */
  int32_t *place; /* [2 * parts] */
};

/* Spikes that options give: a file, which they name beside, or text. */
typedef struct library_spikes {
  char file[CM_PATH_MAX], name[CM_PATH_MAX]; /* "": none */
  const char *text;                          /* the options'; NULL: none */
  bool upload;                               /* they name what a server has */
  bool confined;                             /* this process is, as "confined" says of networks */
} library_spikes;

/* What makes inputs fire, beside options of the table: files, or text. */
typedef struct library_stimulus {
  library_spikes spikes;
  char poisson[CM_PATH_MAX]; /* "": none */
} library_stimulus;

/* What is asked of a mapping or a partition, beside its network and chip. */
typedef struct library_job {
  json_t *given; /* the options as text, which the stimulus is of */
  library_stimulus stimulus;
  coremap_network *measured; /* the network at rates of its profile; NULL: none was asked for */
  cm_profile profile;
  cm_map_options *options;
  char from[CM_PATH_MAX], part[CM_PATH_MAX], policy[CM_PATH_MAX], cache[CM_PATH_MAX], fixed[CM_PATH_MAX], edited_from[CM_PATH_MAX]; /* "": not given */
  coremap_network *before; /* of the file edited_from; NULL: none was given */
  cm_demand demand_before; /* of that network, or of one that a server brought along */
  cm_levels_from levels_from;
  bool alone;
  cm_cache *kept;
  cm_level_cache levels;
  char scratch[CM_PATH_MAX]; /* "": not made */
  bool lent;                 /* the run's account keeps in it what its limit has no room for */
  uint32_t *parts;
} library_job;

/* Reads options and opens what they name; settles the run by them; *demand is what they and the chip (or NULL) make of the network,
 * the caller's (cm_demand_clear, after errors too). `input` borrows from all of it. library_job_end has to follow, after errors too. */
cm_status library_job_begin(library_job *job, const char *options, const coremap_network *network, cm_demand *demand, const coremap_chip *chip,
                            cm_run *run, cm_map_input *input, cm_error *error);
void library_job_end(library_job *job, cm_run *run);

/* The job's levels are carried over from this network's, which outlives it and whose levels are kept by `id` ("": they are not). The chip
 * is the input's. */
cm_status library_job_carry(library_job *job, const coremap_network *before, const char *id, cm_run *run, cm_map_input *input,
                            cm_error *error);

/* The names of those metrics that say something where they have these values. */
json_t *library_shown(const json_t *metrics);

/* The number of a metric by its name; takes the metrics (NULL: no memory). CM_NOT_FOUND: none has it. */
cm_status library_metric(json_t *metrics, const char *name, double *value, cm_error *error);

/* What "report" is of a mapping; NULL: no memory. */
json_t *library_mapping_report(const coremap_mapping *mapping);

/* Runs of calls: progress goes to the caller, whose answer stops them; or the run is the caller's (library/private/base.h). */
typedef struct library_run {
  cm_run *run; /* the caller's, or `own` */
  cm_run own;
  cm_memory memory; /* the account of `own` */
  atomic_bool stop;
  coremap_progress progress;
  void *user;
  cm_error error; /* the call's slot, which library_begin leaves alone */
} library_run;

/* `r` must stay where it is while it runs; cm_run_finish(r->run) ends it, as library_end does, which is library_tell of its error. */
void library_begin(library_run *r, coremap_progress progress, void *user);
int library_end(library_run *r, cm_status status, coremap_error **error);

/* What a call makes outlives it, and is not on an account that ends with it: on `memory`, or on none (NULL). An account of the
 * caller's stays. */
void library_outlive(library_run *r, cm_memory *memory);

/* 0 for CM_OK; else -1, and *error tells of `e` (NULL: not asked). */
int library_tell(cm_status status, const cm_error *e, coremap_error **error);

/* The end of a call with an error slot (e, or that of its run) that makes something: `done` where the status is CM_OK, else `undone`. */
#define LIBRARY_END_BY(slot, status, done, undone)  \
  do {                                              \
    if ((status) == CM_OK)                          \
      done;                                         \
    else                                            \
      undone;                                       \
    return library_tell(status, (slot), error);     \
  } while (0)
#define LIBRARY_END(status, done, undone) LIBRARY_END_BY(&e, status, done, undone)
#define LIBRARY_RUN_END(status, done, undone)        \
  do {                                               \
    cm_run_finish(r.run);                            \
    LIBRARY_END_BY(&r.error, status, done, undone);  \
  } while (0)

/* The end of a call that makes a network: it has `topology` where the status is CM_OK. */
int library_network_own(cm_status status, cm_topology *topology, const char *id, coremap_network **network, cm_error *e,
                        coremap_error **error);

/* As coremap_network_write_as. */
cm_status library_network_write(const cm_topology *topology, const char *path, const char *as, cm_run *run, cm_error *error);

/* A chip with its occupancy (text, NULL: all free), the caller's; takes `chip`, also on failure. */
cm_status library_chip_own(cm_chip *chip, const char *occupancy, size_t size, coremap_chip **made, cm_error *error);

/* An object from text, NULL or "": an empty one; the caller's. CM_BAD_OPTION: it is none. */
cm_status library_options(const char *text, json_t **object, cm_error *error);

/* The options of a kind ("map", ...). CM_NOT_FOUND: there is no such kind, and which there are. */
cm_status library_option_table(const char *kind, const cm_options **table, cm_error *error);

/* An object as text; takes it (NULL: memory ran out). `flags` as of json_dumps. */
cm_status library_text(json_t *object, size_t flags, char **text, cm_error *error);
/* The same where `status`, what making it came to, is CM_OK; returned else, and the object goes. */
cm_status library_text_of(cm_status status, json_t *object, size_t flags, char **text, cm_error *error);

/* The same of an object with lists, for which jansson may have been refused memory unnoticed since cm_json_refusals gave `before`. */
cm_status library_whole_text(json_t *object, uint64_t before, char **text, cm_error *error);

/* The rows of the table of options of that kind; NULL: no memory. */
json_t *library_options_table(const char *kind);

json_t *library_option_rows(const cm_options *table);

/* The rows of the table of operators, of those of others that are written as them, and of what training is asked; likewise. */
json_t *library_operators(void);
json_t *library_rewrites(void);
json_t *library_train_table(void);

/* How a network is to be read, with room for what options say of it. */
typedef struct library_hint {
  cm_import_hint hint;
  char (*text)[CM_PATH_MAX];
  bool id;       /* its file's hash is wanted */
  bool confined; /* this process is, and needs no other */
} library_hint;

/* What options of reading say, which are taken out of `options`; `name` is the file's, or NULL. CM_BAD_OPTION: one is unknown or has
 * no such value. */
cm_status library_hint_read(json_t *options, const char *name, library_hint *hint, cm_error *error);
void library_hint_clear(library_hint *hint);

/* A string of an object that is taken out of it, in `room` (CM_PATH_MAX): "" when it is not there. CM_BAD_OPTION: it is no
 * string, or too long. */
cm_status library_take_text(json_t *object, const char *name, char room[CM_PATH_MAX], cm_error *error);
cm_status library_take_flag(json_t *object, const char *name, bool *flag, cm_error *error);

/* Takes what is no row of a table of options out of `object`. CM_BAD_OPTION. */
cm_status library_spikes_take(json_t *object, library_spikes *from, cm_error *error);
bool library_spikes_are_given(const library_spikes *from);

/* Reads them, where they are given; errors as of cm_spikes_read. */
cm_status library_spikes_read(const library_spikes *from, const cm_spike_ids *ids, cm_run *run, cm_spikes *spikes, cm_error *error);

/* Takes the names of such files out of `object`, which has to stay while the stimulus is used. CM_BAD_OPTION. */
cm_status library_stimulus_take(json_t *object, library_stimulus *from, cm_error *error);

/* Runs a network from rest. Errors as of coremap_profile_run. */
cm_status library_profile(const cm_topology *topology, const library_stimulus *from, const cm_profile_request *asked, cm_run *run,
                          cm_profile *profile, cm_error *error);

/* The network at measured rates, the caller's; takes the counts over, also on failure. It keeps `network`. */
cm_status library_network_at(const coremap_network *network, cm_measured *measured, cm_run *run, coremap_network **made, cm_error *error);

/* The same with the copies of neurons that a mapping's summary tells of; *made NULL where it tells of none. Errors as of cm_mapping_copied. */
cm_status library_network_copied(const coremap_network *network, const json_t *summary, cm_run *run, coremap_network **made, cm_error *error);

/* The network that a mapping's file is of, at its rates, or with its copies; *made NULL where it is the network itself. */
cm_status library_network_of_mapping(const coremap_network *network, const char *path, cm_run *run, coremap_network **made, cm_error *error);

/* CM_BAD_OPTION: something is left in an object of which all that is known has been taken; `of` says what has no such option. */
cm_status library_nothing_left(json_t *object, const char *of, cm_error *error);
