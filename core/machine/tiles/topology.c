/* A tiling as a topology. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/machine/tiles/tiles.h"

enum { LABEL_MAX = 200 };

/* NODE[k]@DEVICE, where k counts the micro-operators of the node. */
static int label_of(const cm_model *model, const cm_tiling *t, const cm_tile_device *devices, uint32_t micro,
                    uint32_t number, char text[LABEL_MAX])
{
  const cm_node *node = &model->nodes[t->micro[micro].node];
  bool named = node->name != NULL && node->name[0] != '\0';
  return snprintf(text, LABEL_MAX, "%.120s[%" PRIu32 "]@%.40s", named ? node->name : node->op, number,
                  devices[t->micro[micro].device].name);
}

/* Writes the labels when `text` is there; returns how many bytes they take. */
static uint64_t put_labels(const cm_model *model, const cm_tiling *t, const cm_tile_device *devices,
                           cm_topology *topology)
{
  uint64_t at = 0;
  char label[LABEL_MAX];
  for (uint32_t m = 0, number = 0; m < t->micro_count; m++) {
    number = m > 0 && t->micro[m - 1].node == t->micro[m].node ? number + 1 : 0;
    uint64_t size = (uint64_t)label_of(model, t, devices, m, number, label) + 1;
    if (topology->label_text != NULL) {
      memcpy(topology->label_text + at, label, size);
      topology->label_first[m] = at;
    }
    at += size;
  }
  if (topology->label_text != NULL)
    topology->label_first[t->micro_count] = at;
  return at;
}

static cm_status make_room(cm_topology *topology, uint64_t label_bytes, cm_memory *memory, cm_error *error)
{
  size_t n = topology->vertex_count, arcs = topology->net_count;
  if (CM_NEW(memory, topology->net_first, arcs + 1, error) != CM_OK ||
      CM_NEW(memory, topology->net_source, arcs, error) != CM_OK ||
      CM_NEW(memory, topology->net_weight, arcs, error) != CM_OK ||
      CM_NEW(memory, topology->pin, arcs, error) != CM_OK || CM_NEW(memory, topology->size, n, error) != CM_OK ||
      CM_NEW(memory, topology->label_first, n + 1, error) != CM_OK)
    return error->status;
  return CM_NEW(memory, topology->label_text, label_bytes, error);
}

static cm_status fill(const cm_tiling *t, cm_topology *topology, cm_error *error)
{
  for (uint32_t m = 0; m < t->micro_count; m++) {
    if (t->micro[m].bytes > UINT32_MAX)
      return cm_fail(error, CM_TOO_LARGE, "micro-operator %u holds %" PRIu64 " bytes, more than the 4 GiB that one may",
                     m, t->micro[m].bytes);
    topology->size[m] = (uint32_t)t->micro[m].bytes;
    topology->size_total += t->micro[m].bytes;
  }
  for (uint32_t e = 0; e < topology->net_count; e++) {
    topology->net_source[e] = t->arc[e].from;
    topology->net_weight[e] = t->arc[e].bytes;
    topology->pin[e] = t->arc[e].to;
    topology->net_first[e + 1] = e + 1;
  }
  return CM_OK;
}

cm_status cm_tiles_topology(const cm_model *model, const cm_tiling *tiling, const cm_tile_device *devices,
                            cm_memory *memory, cm_topology **made, cm_error *error)
{
  cm_topology *topology;
  if (tiling->arc_count > CM_VERTICES_MAX)
    return cm_fail(error, CM_TOO_LARGE, "%" PRIu64 " arcs are more than a topology has room for: tile in larger pieces",
                   tiling->arc_count);
  if (CM_NEW(memory, topology, 1, error) != CM_OK)
    return error->status;
  *topology = (cm_topology){.directed = true, .vertex_count = tiling->micro_count,
                            .net_count = (uint32_t)tiling->arc_count, .pin_count = tiling->arc_count, .weight_scale = 1};
  uint64_t label_bytes = put_labels(model, tiling, devices, topology);
  if (make_room(topology, label_bytes, memory, error) != CM_OK || fill(tiling, topology, error) != CM_OK) {
    cm_topology_free(topology);
    return error->status;
  }
  (void)put_labels(model, tiling, devices, topology);
  *made = topology;
  return CM_OK;
}
