/* coremap: chips, and which of their cores are taken or broken. */
#ifndef COREMAP_CHIP_H
#define COREMAP_CHIP_H

#include <coremap/run.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coremap_chip coremap_chip;

/* Opens a preset by name ("loihi1"), or a chip file where the name has a '/' or ends in .json. `occupancy` is a JSON
 * object: a state as the server prints it, or a change of an empty chip ({"occupy": [[x0, y0, x1, y1]], "broken":
 * [[x, y]]}); NULL: all cores are free but the chip's dead ones. Errors: not-found (names the presets), bad-chip and
 * bad-occupancy with the place as a JSON pointer, conflict, no-memory. */
int coremap_chip_open(const char *name, const char *occupancy, coremap_chip **chip, coremap_error **error);

/* The same from the text of a chip file. */
int coremap_chip_parse(const char *json, const char *occupancy, coremap_chip **chip, coremap_error **error);

/* A bare grid of cores without limits. */
int coremap_chip_mesh(uint32_t width, uint32_t height, const char *occupancy, coremap_chip **chip, coremap_error **error);

/* Name number `index` of the presets, NULL after the last. */
const char *coremap_chip_preset(uint32_t index);

/* Cores along x and y over all dies; core (x, y) has number y * width + x. */
uint32_t coremap_chip_width(const coremap_chip *chip);
uint32_t coremap_chip_height(const coremap_chip *chip);
uint32_t coremap_chip_free_cores(const coremap_chip *chip);

#define COREMAP_CORE_FREE 0
#define COREMAP_CORE_TAKEN 1
#define COREMAP_CORE_BROKEN 2

/* The state of every core, by its number [*cores]: until it is set again, as long as the chip lives. O(1). */
const uint8_t *coremap_chip_cores(const coremap_chip *chip, uint64_t *cores);

/* Gives every core a state [width * height]; the chip's dead cores stay broken. Taken ones have no owner's name. Only of a chip of which
 * nothing has been made yet, and that no other call is using. O(cores). Errors: bad-occupancy (no state), conflict (a mapping has it),
 * no-memory. */
int coremap_chip_set_cores(coremap_chip *chip, const uint8_t *state, coremap_error **error);

/* The chip as the text of a chip file: the caller's (coremap_text_free). NULL when out of memory. */
char *coremap_chip_json(const coremap_chip *chip);

/* What the chip is, with what its file leaves unsaid, as JSON that is the caller's: {"name", "description", "cores": [along x,
 * y], "dies", "die_cores", "router_cores", "limits": {of a core}, "neuron_limits": {of a neuron: "fan_in", "target_cores", "near_synapses", "far_synapses"},
 * "relays", "interconnect" ("mesh", ...), "torus": [x, y], "table_entries" (0: no limit), "energy_pj" and "latency_ns":
 * {"router", "east_west", "north_south", "die_to_die"}, "dead_cores", "dead_links": how many, "classes": [{"name", "cores": how
 * many, "labels", "limits"}], "occupancy": {"free", "taken", "broken": cores, "fragmentation", "pieces", "largest_piece",
 * "largest_rectangle"}}. O(cores). */
int coremap_chip_about(const coremap_chip *chip, char **json, coremap_error **error);

/* The state of the cores as coremap_chip_open reads it; the caller's. */
int coremap_chip_occupancy(const coremap_chip *chip, char **json, coremap_error **error);

/* Fits the chip's costs to measured steps. `runs` is a table with commas: columns run, ns (that the step took) and, of each core of the run a line,
 * how many packet_sent, packet_received, synapse, neuron, spike (docs/explanation/step-time.md); also core, and tiles of the barrier. `options` is
 * {"keep": [PRICE, ...]}, prices that stay, or NULL. Prices above 0 are fitted by least squares of relative errors, none below 0. *report is JSON, the
 * caller's: {"chip", "runs", "prices": [{"price", "was_ns", "ns"}], "error_mean", "error_max", "steps": [{"run", "measured_ns", "foreseen_ns", "error"}],
 * "file": the chip file with them}. Errors: bad-request with the line, or the prices that the runs do not tell apart; bad-option, no-memory.
 * O(rounds * lines), at most 40 rounds. Instead of steps `runs` may have the pieces of programs, as tests of emitted C write them (coremap/program.h: "pieces"),
 * a line each: run, device, kind, operator/type, operations, ns. What an operation of each takes, beyond the chip's issue_ns and latency_ns of a piece,
 * goes into operations_per_ns of its device, and of each type all together; each run counts alike. */
int coremap_calibrate(const coremap_chip *chip, const char *runs, const char *options, char **report, coremap_error **error);

void coremap_chip_free(coremap_chip *chip); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
