/* hMETIS .hgr: a line "nets vertices [fmt]", then a line per net: [weight] pin...; with fmt 10 or 11 a line with a
 * weight per vertex; fmt 1 and 11: nets have weights. Vertices count from 1, '%' starts a comment line.
 *
 * A net of a hypergraph has no source, an axon has: the first pin is taken for it. Happy path: nets are read as they
 * stand, then moved in order of their sources. The weight of a vertex is its size. What can fail: numbers, counts;
 * each with its line. */

#include "core/network/formats/readers.h"
#include "core/network/formats/rows.h"
#include "core/network/formats/tokens.h"
#include "core/network/formats/weighted.h"
#include "core/network/import_limits.h"
#include "core/network/net_order.h"

typedef struct hypergraph_reader {
  cm_tokens text;
  const cm_import_limits *limits;
  cm_run *run;
  cm_memory *memory;
  cm_topology *made;
  uint64_t nets; /* announced */
  bool has_net_weights, has_vertex_weights;
  uint64_t first_room, source_room, weight_room, pin_room, size_room;
  double weight_sum, weight_max;
  cm_row_sorter sorter;
} hypergraph_reader;

static cm_status bad(const hypergraph_reader *r, const char *what, cm_error *error)
{
  return cm_tokens_bad(&r->text, r->text.line, what, error);
}

static cm_status next_line(hypergraph_reader *r, bool *end, cm_error *error)
{
  return cm_tokens_next_line(&r->text, &r->made->weight_scale, end, error);
}

static cm_status read_header(hypergraph_reader *r, cm_error *error)
{
  uint64_t value[3] = {0}, count = 0, number;
  bool end, found;
  CM_TRY(next_line(r, &end, error));
  for (;; count++) {
    CM_TRY(cm_tokens_number(&r->text, "a field of the header", &found, &number, error));
    if (!found)
      break;
    if (count == 3)
      return bad(r, "the header has more than the three fields nets, vertices, fmt", error);
    value[count] = number;
  }
  if (count < 2)
    return bad(r, "the header must say the number of nets and of vertices", error);
  if (value[2] != 0 && value[2] != 1 && value[2] != 10 && value[2] != 11)
    return bad(r, cm_say("fmt %llu must be 1 (nets have weights), 10 (vertices have), 11 (both) or left out", (unsigned long long)value[2]).text, error);
  uint64_t nets_max = r->limits->pins_max < UINT32_MAX - 1 ? r->limits->pins_max : UINT32_MAX - 1;
  if (value[0] > nets_max)
    return cm_over_limit("nets", value[0], nets_max, error);
  if (value[1] > r->limits->vertices_max)
    return cm_over_limit("vertices", value[1], r->limits->vertices_max, error);
  r->nets = value[0];
  r->made->vertex_count = (uint32_t)value[1];
  r->has_net_weights = value[2] % 10 == 1;
  r->has_vertex_weights = value[2] >= 10;
  cm_tokens_end_line(&r->text);
  return CM_OK;
}

/* Sorts the pins from `begin` on and drops repeats: a set that names a pin twice is the same set. */
static cm_status close_net(hypergraph_reader *r, uint64_t begin, cm_error *error)
{
  cm_topology *made = r->made;
  uint64_t count = made->pin_count - begin, kept;
  if (cm_row_ascends(made->pin + begin, count))
    return CM_OK;
  CM_TRY(cm_row_sort(&r->sorter, made->pin + begin, count, &kept, error));
  made->duplicate_count += count - kept;
  made->pin_count = begin + kept;
  return CM_OK;
}

static cm_status read_net(hypergraph_reader *r, cm_error *error)
{
  cm_topology *made = r->made;
  uint64_t begin = made->pin_count, weight = 1, value;
  bool found, first = true;
  uint32_t source = 0;
  if (r->has_net_weights) {
    CM_TRY(cm_tokens_number(&r->text, "the weight of a net", &found, &weight, error));
    if (weight > UINT32_MAX)
      return bad(r, cm_say("net weight %llu is above 4294967295", (unsigned long long)weight).text, error);
  }
  for (;; first = false) {
    CM_TRY(cm_tokens_number(&r->text, "a pin", &found, &value, error));
    if (!found)
      break;
    if (value == 0 || value > made->vertex_count)
      return bad(r, cm_say("pin %llu is out of range: vertices are numbered 1 to %u", (unsigned long long)value, made->vertex_count).text, error);
    if (first) {
      source = (uint32_t)value - 1;
      continue;
    }
    if (value - 1 == source) { /* the source is in the net already */
      made->duplicate_count++;
      continue;
    }
    if (made->pin_count >= r->limits->pins_max)
      return cm_over_limit("pins", made->pin_count + 1, r->limits->pins_max, error);
    CM_TRY(CM_ROOM(r->memory, made->pin, &r->pin_room, made->pin_count + 1, error));
    made->pin[made->pin_count++] = (uint32_t)value - 1;
  }
  if (first)
    return bad(r, "the net ends before its first pin (fmt announces net weights)", error);
  if (made->pin_count == begin) {
    made->empty_net_count++;
    return CM_OK;
  }
  uint64_t net = made->net_count;
  CM_TRY(close_net(r, begin, error));
  CM_TRY(CM_ROOM(r->memory, made->net_first, &r->first_room, net + 2, error));
  CM_TRY(CM_ROOM(r->memory, made->net_source, &r->source_room, net + 1, error));
  CM_TRY(CM_ROOM(r->memory, made->net_weight, &r->weight_room, net + 1, error));
  made->net_source[net] = source;
  made->net_weight[net] = weight;
  made->net_first[net + 1] = made->pin_count;
  made->net_count++;
  r->weight_sum += (double)weight * (double)(made->pin_count - begin);
  r->weight_max = (double)weight > r->weight_max ? (double)weight : r->weight_max;
  return CM_OK;
}

static cm_status read_nets(hypergraph_reader *r, cm_error *error)
{
  bool end;
  CM_TRY(CM_ROOM(r->memory, r->made->net_first, &r->first_room, 1, error));
  r->made->net_first[0] = 0;
  for (uint64_t net = 0; net < r->nets; net++) {
    CM_TRY(next_line(r, &end, error));
    if (end)
      return bad(r, cm_say("the file ends after %llu nets; the header announces %llu", (unsigned long long)net, (unsigned long long)r->nets).text,
                 error);
    CM_TRY(read_net(r, error));
    cm_tokens_end_line(&r->text);
  }
  return CM_OK;
}

static cm_status read_sizes(hypergraph_reader *r, cm_error *error)
{
  cm_topology *made = r->made;
  bool end, found, plain = true;
  uint64_t value = 0, more;
  made->size_total = made->vertex_count;
  for (uint32_t v = 0; v < made->vertex_count && r->has_vertex_weights; v++) {
    CM_TRY(next_line(r, &end, error));
    if (end)
      return bad(r, cm_say("the file ends after the weights of %u vertices; the header announces %u", v, made->vertex_count).text, error);
    CM_TRY(cm_tokens_number(&r->text, "the weight of a vertex", &found, &value, error));
    CM_TRY(CM_ROOM(r->memory, made->size, &r->size_room, (uint64_t)v + 1, error));
    if (value > UINT32_MAX)
      return bad(r, cm_say("vertex weight %llu is above 4294967295", (unsigned long long)value).text, error);
    CM_TRY(cm_tokens_number(&r->text, "what follows the weight of a vertex", &found, &more, error));
    if (found)
      return bad(r, "a vertex has one weight, but more numbers follow it", error);
    made->size[v] = (uint32_t)value;
    made->size_total += value - 1;
    plain = plain && value == 1;
    cm_tokens_end_line(&r->text);
  }
  if (plain) {
    cm_free(made->size);
    made->size = NULL;
  }
  CM_TRY(next_line(r, &end, error));
  if (!end)
    return bad(r, cm_say("more lines follow the %llu nets%s that the header announces", (unsigned long long)r->nets,
                         r->has_vertex_weights ? " and the vertex weights" : "").text, error);
  return CM_OK;
}

cm_status cm_import_hypergraph(const cm_reading_of *in, cm_error *error)
{
  hypergraph_reader r = {.text = {.source = in->source, .format = "hMETIS hypergraph", .line = 1}, .limits = in->limits,
                         .run = in->run, .memory = in->run->memory, .made = in->made, .sorter = {.memory = in->run->memory}};
  uint64_t one;
  r.made->directed = true;
  r.made->weight_scale = 1;
  cm_status status = read_header(&r, error);
  CM_THEN(status, read_nets(&r, error));
  CM_THEN(status, read_sizes(&r, error));
  CM_THEN(status, cm_weight_scale(r.weight_sum, r.weight_max, UINT32_MAX, true, &one, error));
  CM_THEN(status, cm_topology_order_nets(r.made, NULL, in->run, error));
  cm_row_sorter_free(&r.sorter);
  return status;
}
