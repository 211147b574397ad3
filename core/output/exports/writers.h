/* The writers behind the table of formats; the stream keeps their errors. */
#pragma once

#include "core/output/exports/exports.h"

cm_status cm_export_traffic(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error);
cm_status cm_export_noxim(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error);
cm_status cm_export_booksim(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error);
cm_status cm_export_sanafe(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error);
cm_status cm_export_pacman(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error);
cm_status cm_export_spinnaker(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error);
cm_status cm_export_hgrade(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error);
cm_status cm_export_units(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error);
cm_status cm_export_lava(const cm_mapped *mapped, cm_run *run, FILE *stream, cm_error *error);

/* Neurons by population, each population's in ascending order: neuron [first[p]] .. [first[p + 1] - 1] of `neuron`, its
 * place there being at[neuron] - first[p]. Without populations there is one. The arrays are the caller's: cm_groups_free. */
typedef struct cm_groups {
  uint32_t count;
  uint32_t *first, *neuron, *at;
} cm_groups;
cm_status cm_groups_of(const cm_topology *topology, cm_run *run, cm_groups *groups, cm_error *error);
void cm_groups_free(cm_groups *groups);
