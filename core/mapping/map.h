/* The pipeline from topology to mapping: one call for the command line and the server. */
#ifndef CM_MAPPING_MAP_H
#define CM_MAPPING_MAP_H

#include <jansson.h>

#include "base/option.h"
#include "core/chip/occupancy.h"
#include "core/mapping/mapping.h"
#include "core/network/topology.h"

typedef struct cm_map_options cm_map_options;

/* Reads job options from a JSON object (NULL: all defaults). Unknown names and values out of range are
 * CM_BAD_OPTION with a JSON pointer as place ("/options/preset"). The caller frees with
 * cm_map_options_free. `seed`, `threads`, `memory_limit` and `time_limit` are among them; docs/options.md lists all. */
cm_status cm_map_options_parse(const json_t *json, cm_map_options **options, cm_error *error);
void cm_map_options_free(cm_map_options *options);

/* The options, in the order of docs/options.md. */
extern const cm_options cm_map_option_table;

/* The options as resolved, as a new JSON object, without `threads`, `memory_limit` and `time_limit`, which never change
 * a result: equal objects mean equal mappings of equal inputs. NULL when out of memory. */
json_t *cm_map_options_shaping_json(const cm_map_options *options);

/* The id of the mapping to start from (option "from"), NULL: none. */
const char *cm_map_options_from(const cm_map_options *options);

/* Makes of the network's inputs what option "inputs" says, in place: to be called before cm_map and whatever else sees the
 * network. Errors as cm_topology_set_outside. */
cm_status cm_map_options_set_inputs(const cm_map_options *options, cm_topology *topology, cm_memory *memory, cm_error *error);

/* The same for a mapping that is there: `summary` is its file without bulk. */
cm_status cm_mapping_set_inputs(const json_t *summary, cm_topology *topology, cm_memory *memory, cm_error *error);

/* Both for the mapping in a file (core/verify/check.h reads it), which is only opened for networks with inputs. */
cm_status cm_mapping_file_set_inputs(const char *path, const cm_chip *chip, cm_topology *topology, cm_run *run, cm_error *error);

/* Sets seed, threads, deadline and memory limit of a run from the options. */
void cm_map_options_apply(const cm_map_options *options, cm_run *run);

typedef struct cm_map_input {
  const cm_topology *topology;
  bool sole_reader;                /* nobody else reads the topology while it is mapped: its targets may be packed */
  const char *network_id;          /* hex sha256 of the uploaded bytes */
  const char *levels_id;           /* by which coarsened levels are kept and found; NULL: network_id */
  const cm_chip *chip;
  const cm_occupancy *occupancy;   /* NULL: all free but dead cores */
  const cm_map_options *options;
  const struct cm_level_cache *cache; /* core/mapping/levels/cache.h; NULL: none, coarsened levels then live in `scratch_folder` */
  const char *scratch_folder;      /* for coarsened levels without a cache */
  const char *from;                /* an old mapping's file to start from (core/mapping/incremental/remap.h), NULL: map afresh */
  const char *policy;              /* a policy file for mapper learned; NULL: the one that ships */
  const uint32_t *part;            /* [vertices] parts that are made already; NULL: the partition stage makes them */
  uint32_t part_count;             /* of those; none empty */
  uint64_t *traffic;               /* set by cm_map: rates [nets] that the search goes by; NULL: the network's */
  uint32_t cores_max;              /* so many parts at most, 0: as many as cores are free; set by the partition stage */
  double share;                    /* of the preset's effort, of a network that is a part of the job's; 0: all; set by the partition stage */
  bool places;                     /* set by cm_map: the partition stage may place as it partitions */
} cm_map_input;

/* Maps a topology on a chip. The caller owns *mapping. A mapping that is returned breaks no limit. Errors:
 * CM_NEURON_TOO_LARGE, CM_NO_ROOM, CM_LIMIT_BROKEN, CM_BAD_OPTION, memory, I/O and run errors. */
cm_status cm_map(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error);

#endif
