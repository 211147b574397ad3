/* A chip: an array of dies, each a 2-D grid of cores on a mesh (or torus) of routers.
 *
 * Cores have global coordinates (x, y), 0 <= x < width, 0 <= y < height, over all dies; x grows east,
 * y grows south. Core number = y * width + x. Several cores may share one router: router (x / router_x,
 * y / router_y). Distances, hops and links are between routers. */
#pragma once

#include <jansson.h>

#include "base/memory.h"
#include "base/status.h"
#include "core/chip/costs.h"
#include "core/chip/image_limits.h"
#include "core/chip/target.h"

enum { CM_CHIP_NAME_MAX = 64, CM_CHIP_CORES_MAX = 1 << 24, CM_CHIP_FILE_BYTES_MAX = 4 << 20 };

/* Limits of one core; 0: no limit. All are hard. */
typedef struct cm_limits {
  uint64_t neurons;        /* sum of vertex sizes */
  uint64_t synapses;       /* synapses whose target lives here */
  uint64_t inbound_axons;  /* distinct source neurons, wherever they live, with a target here */
  uint64_t outbound_axons; /* pairs (neuron here, other core that it reaches) */
  uint64_t target_cores;   /* distinct other cores that neurons here reach */
  uint64_t source_cores;   /* distinct other cores that reach neurons here */
  uint64_t memory_bits;    /* what neurons, synapses and inbound axons take together (cm_memory_bits) */
  uint32_t neuron_bits, synapse_bits, axon_bits; /* of that, each */
  uint64_t fan_in;         /* inputs of one neuron; the chip's alone, no class's */
  uint64_t neuron_target_cores; /* cores that one neuron reaches, its own included; the chip's alone */
  uint64_t near_synapses, far_synapses; /* of one neuron, to other cores of its cluster and beyond it; the chip's alone */
  uint64_t populations;    /* distinct populations of the neurons here; nothing that adds up (core/limits/populations.h) */
} cm_limits;

/* Cores of a kind of their own (classes.h). */
enum { CM_CORE_CLASSES_MAX = 32, CM_CLASS_LABELS_MAX = 4096 };
typedef struct cm_core_class {
  char name[CM_CHIP_NAME_MAX];
  cm_limits limits;
  uint32_t bits_per_synapse; /* as of the chip */
  bool own_limits;           /* else the chip's */
  bool pinned_only;          /* takes neurons that constraints pin, and no others */
  uint32_t label_count;      /* of what it takes; 0: whatever comes */
  char **label;              /* [label_count] */
} cm_core_class;

/* What a hop costs. Energy in pJ, or latency in ns. */
typedef struct cm_hop_cost {
  double router;      /* per router passed */
  double east_west;   /* per link east or west inside a die */
  double north_south; /* per link north or south inside a die */
  double die_to_die;  /* per link between dies */
  double diagonal;    /* per link north-east or south-west of a hexagonal interconnect */
} cm_hop_cost;

typedef enum cm_routing { CM_ROUTING_XY, CM_ROUTING_YX } cm_routing;

typedef enum cm_direction { CM_EAST, CM_WEST, CM_SOUTH, CM_NORTH, CM_DIRECTIONS } cm_direction;

/* Circuits (core/limits/circuits.h) that pass a link, enter a router and leave it at most; 0: any number. */
typedef struct cm_circuit_limits {
  uint32_t link, router_in, router_out;
} cm_circuit_limits;

typedef struct cm_interconnect cm_interconnect; /* interconnect/interconnect.h */

typedef struct cm_chip {
  char name[CM_CHIP_NAME_MAX];
  char *description;            /* never NULL */
  uint32_t dies_x, dies_y;
  uint32_t die_width, die_height; /* cores of one die */
  uint32_t width, height;       /* cores of the whole array */
  uint32_t router_x, router_y;  /* cores behind one router: a block of router_x * router_y, 1 and 1: each its own */
  uint32_t cluster_x, cluster_y; /* cores of a cluster: a block; 0: the chip is one */
  bool torus_x, torus_y;
  cm_limits limits;
  cm_limits router_limits, die_limits; /* synapses, inbound and outbound axons that the cores of one take together */
  cm_circuit_limits circuits;
  uint32_t bits_per_synapse;    /* 0 unless the file states its synapse limit in bits */
  bool axon_relays;             /* each inbound axon of a core takes one of its neurons: limits.memory_bits has both */
  cm_image_limits images;       /* what images of its cores must keep; format "": nobody makes any */
  bool relays;                  /* neurons of more inputs than limits.fan_in may get them through others */
  uint32_t class_count;         /* 0: all cores are alike */
  cm_core_class *classes;       /* [class_count] */
  uint8_t *class_of;            /* [cores] number of a core's class plus 1, 0: of none; NULL without classes */
  cm_hop_cost energy_pj;
  cm_hop_cost latency_ns;
  cm_costs costs;               /* of one time step */
  cm_routing routing;
  uint32_t table_entries;       /* limit on the entries of a router's routing table, 0: none */
  uint32_t *dead_cores;         /* [dead_core_count] ascending core numbers */
  uint32_t dead_core_count;
  uint32_t *dead_links;         /* [dead_link_count] ascending router number * CM_DIRECTIONS + cm_direction; of a plain mesh */
  uint32_t dead_link_count;
  cm_interconnect *interconnect; /* NULL: a plain mesh or torus, of which the functions below know hops and steps */
  cm_target *target;            /* what a compiler must know; NULL: the chip runs no programs */
} cm_chip;

/* Reads a chip description (docs/reference/chip-file.md). Errors: CM_BAD_CHIP with the place as a JSON pointer. */
cm_status cm_chip_parse(const char *json, size_t size, cm_chip **chip, cm_error *error);

/* A preset by name, or a chip file when `name_or_path` has a '/' or ends in .json. CM_NOT_FOUND names the presets. */
cm_status cm_chip_open(const char *name_or_path, cm_chip **chip, cm_error *error);

/* A bare grid without limits; each router hop costs as the independent evaluator's defaults
 * (E_R 1, E_T 0.1, L_R 1, L_T 0.01). */
cm_status cm_chip_mesh(uint32_t width, uint32_t height, cm_chip **chip, cm_error *error);

void cm_chip_free(cm_chip *chip); /* NULL is allowed */

/* The chip as JSON text, equal to what cm_chip_parse accepts; the caller frees with free(). */
cm_status cm_chip_print(const cm_chip *chip, char **json, cm_error *error);

/* The same as a new JSON object; NULL when out of memory. */
json_t *cm_chip_json(const cm_chip *chip);

/* Presets built into the library: their names (NULL-terminated) and JSON text (NULL: unknown name). */
const char *const *cm_chip_presets(void);
const char *cm_chip_preset_text(const char *name);

/* Of every limit the widest that any kind of core (classes.h) has: what no core exceeds. Where kinds count memory differently there is none on
 * it. The chip's limits where it has no classes. O(kinds). */
cm_limits cm_chip_widest_limits(const cm_chip *chip);

/* Routers along x and y; router number = y * cm_chip_routers_x + x. */
static inline uint32_t cm_chip_routers_x(const cm_chip *chip) { return chip->width / chip->router_x; }
static inline uint32_t cm_chip_routers_y(const cm_chip *chip) { return chip->height / chip->router_y; }

static inline uint32_t cm_chip_cores(const cm_chip *chip) { return chip->width * chip->height; }

/* The number of a core's cluster: 0 where the chip is one. O(1). */
static inline uint32_t cm_chip_cluster_of(const cm_chip *chip, uint32_t core)
{
  return chip->cluster_x == 0 ? 0 : core / chip->width / chip->cluster_y * (chip->width / chip->cluster_x) + core % chip->width / chip->cluster_x;
}

/* Hops from core a to core b by kind of link on a minimal way. On a torus the shorter way round counts, the
 * positive one (east, south) when both are as long, so there hops of (a, b) and (b, a) may differ in kind, never
 * in number. The link that closes a torus is die_to_die where the axis has several dies. O(1). */
typedef struct cm_hops {
  uint32_t east_west, north_south, die_to_die;
} cm_hops;
cm_hops cm_chip_hops(const cm_chip *chip, uint32_t core_a, uint32_t core_b);

/* Signed steps between the routers of two cores, on the way that cm_chip_hops counts: positive is east, south. O(1). */
void cm_chip_steps(const cm_chip *chip, uint32_t core_a, uint32_t core_b, int32_t *x, int32_t *y);

/* The links of such a way along one axis, under the chip's own routing: `hops` of them are left, each told by cm_straight_next. */
typedef struct cm_straight {
  uint32_t hops, at, length; /* at router first + at * stride, of `length` ones */
  uint32_t first, stride;
  cm_direction direction;
} cm_straight;

/* Along x and along y of the way from core to core. O(1). */
void cm_chip_straights(const cm_chip *chip, uint32_t from, uint32_t to, cm_straight along[2]);

/* The next link, router * CM_DIRECTIONS + direction; hops must be above 0. O(1). */
static inline size_t cm_straight_next(cm_straight *s)
{
  const size_t router = (size_t)s->first + (size_t)s->at * s->stride;
  s->hops--;
  if (s->direction == CM_EAST || s->direction == CM_SOUTH)
    s->at = s->at + 1 == s->length ? 0 : s->at + 1;
  else
    s->at = s->at == 0 ? s->length - 1 : s->at - 1;
  return router * CM_DIRECTIONS + s->direction;
}

/* Time that a packet takes to pass a core's inlet or outlet, and a link that leaves a router (number of a link: router
 * number * CM_DIRECTIONS + cm_direction), in ns: by packets_per_ns of the chip's costs where stated, else what it takes to
 * cross. O(1). */
double cm_chip_port_ns(const cm_chip *chip);
double cm_chip_link_ns(const cm_chip *chip, size_t link);

/* Whether the link leads from one die to another. O(1). */
bool cm_chip_between_dies(const cm_chip *chip, size_t link);

/* Hops between the routers of two cores, around the torus where that is shorter; of an interconnect that has been prepared
 * as cm_interconnect_hops. O(1). */
uint32_t cm_chip_distance(const cm_chip *chip, uint32_t core_a, uint32_t core_b);
