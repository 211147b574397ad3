/* The parts of the independent check. Nothing here is shared with the mappers, the metrics or the exports. */
#ifndef CM_VERIFY_CHECK_PARTS_H
#define CM_VERIFY_CHECK_PARTS_H

#include "core/verify/check_measure.h"
#include "core/verify/check_read.h"

/* What a mapping file's header says beside its figures: network, chip, region, bound, keys, and the options that parts
 * must keep. `core` is [parts]; the file is sound. `network_id` may be NULL. */
cm_status cm_check_facts(const cm_check_file *file, const cm_topology *topology, const cm_chip *chip,
                         const cm_occupancy *occupancy, const char *network_id, const uint32_t *core, uint32_t parts,
                         uint64_t largest_part, cm_run *run, cm_check_result *result, bool *out_of_memory, cm_error *error);

/* Lists what a mapping says of relays and copies (report.neurons) and is not so: relays are counted by building their trees. O(pins
 * log(fan-out)). */
cm_status cm_check_added_neurons(const cm_check_file *file, const cm_topology *topology, const cm_chip *chip, cm_run *run,
                                 cm_check_result *result, bool *out_of_memory, cm_error *error);

/* Lists parts on cores of a class that does not take the label of some of their neurons. O(vertices * labels of a class). */
cm_status cm_check_classes(const cm_topology *topology, const cm_chip *chip, const uint32_t *part, uint32_t parts, const uint32_t *core,
                           cm_run *run, cm_check_result *result, bool *out_of_memory, cm_error *error);

/* What a mapping file says of its network's scenarios. `core` is [parts]; the file is sound. O(scenarios * measuring). */
cm_status cm_check_scenarios(const cm_check_file *file, const cm_topology *topology, const cm_chip *chip, const uint32_t *core,
                             uint32_t parts, cm_run *run, cm_check_result *result, bool *out_of_memory, cm_error *error);

#endif
