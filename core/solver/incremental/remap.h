/* Mapping again after cores were lost or the network has changed a little: what can stay stays (docs/explanation/remapping.md). */
#pragma once

#include "core/mapping/input.h"

#include "core/mapping/mapping.h"

/* Maps input->topology without a mapping to start from: cm_map. */
typedef cm_status cm_remap_afresh(const cm_map_input *input, cm_run *run, cm_mapping **mapping, cm_error *error);

/* Maps input->topology starting from the mapping file input->from (CM_VIEW_FULL_JSON). Neurons are known by their
 * numbers. Parts whose cores are still usable keep them; neurons move only out of parts that break a limit, or when
 * their part has lost its core and no free core is left. Where that does not lead to a legal mapping, all is mapped
 * `afresh`. The report says what moved. Opens phases "load-old", "reassign", "place", "metrics". O(pins) a round of repair,
 * and O(inbound pins of its sources) a moved neuron. Errors: CM_BAD_MAPPING for a file that cannot be used, else as
 * cm_map. */
cm_status cm_remap(const cm_map_input *input, cm_remap_afresh *afresh, cm_run *run, cm_mapping **mapping, cm_error *error);
