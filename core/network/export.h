/* Writing networks: the format is chosen by the name's ending (.zip, .snn, .graph, .hgr, .mtx, .csv, .tsv;
 * each may be followed by .gz except .zip). */
#pragma once

#include "base/run.h"
#include "core/network/topology.h"

/* Writes `topology` whole or not at all. .snn of an undirected graph, and .graph of a directed one, are
 * written by stated rules (docs/reference/network-formats.md): a graph's vertex becomes an axon of rate 1 to all its
 * neighbours; a directed pair becomes one edge with the sum of both directions (weights must then be integers,
 * or are rounded at the topology's scale and the scale is named in a comment line). */
cm_status cm_export(const cm_topology *topology, const char *path, cm_run *run, cm_error *error);

/* The same in the format that `name`'s ending says, whatever `path` is called: ".csv" to a pipe. */
cm_status cm_export_as(const cm_topology *topology, const char *path, const char *name, cm_run *run, cm_error *error);
