/* METIS .graph: a line "n m [fmt [ncon]]", then one line per vertex: [size] [weight...] (neighbour [weight])*.
 * The three digits of fmt say, from left to right, whether vertex sizes, vertex weights and edge weights are
 * there; ncon is the number of weights per vertex. Vertices count from 1, '%' starts a comment line.
 *
 * Happy path: rows go straight into the topology, sorted and merged one by one; at the end every edge must
 * stand in both rows. The first vertex weight is the vertex's size; METIS's own size (of communication) is
 * read over. What can fail: numbers, counts, symmetry; each with its line. */
#include <stdio.h>
#include <string.h>

#include "core/network/formats/readers.h"
#include "core/network/formats/rows.h"
#include "core/network/formats/tokens.h"
#include "core/network/formats/weighted.h"
#include "core/network/import_limits.h"
#include "core/network/symmetry.h"

typedef struct metis_reader {
  cm_tokens text;
  const cm_import_limits *limits;
  cm_run *run;
  cm_memory *memory;
  cm_topology *made;
  uint64_t first_room, pin_room, weight_room, size_room, line_room;
  uint32_t *line_of; /* [vertex] where its row stands, for messages */
  uint64_t edges;    /* announced */
  uint64_t entries;  /* found, repeats and loops included */
  uint64_t header_line;
  bool has_sizes, has_weights, has_edge_weights;
  uint64_t weights_per_vertex;
  cm_row_sorter sorter;
  uint32_t *row_weight; /* scratch for a row's weights in sorted order */
  uint64_t row_weight_room;
} metis_reader;

static cm_status bad(const metis_reader *r, uint64_t line, const char *what, cm_error *error)
{
  return cm_tokens_bad(&r->text, line, what, error);
}

static cm_status read_header(metis_reader *r, cm_error *error)
{
  int c = -1;
  uint64_t value[4] = {0}, count = 0;
  for (;;) {
    CM_TRY(cm_tokens_peek(&r->text, &c, error));
    if (c == '%') {
      CM_TRY(cm_tokens_skip_comment(&r->text, &r->made->weight_scale, error));
      continue;
    }
    r->header_line = r->text.line;
    for (count = 0;; count++) {
      uint64_t number;
      bool found;
      CM_TRY(cm_tokens_number(&r->text, "a field of the header", &found, &number, error));
      if (!found)
        break;
      if (count == 4)
        return bad(r, r->text.line, "the header has more than the four fields n, m, fmt, ncon", error);
      value[count] = number;
    }
    if (count > 0 || c == -1)
      break;
    cm_tokens_end_line(&r->text);
  }
  cm_tokens_end_line(&r->text);
  if (count < 2)
    return bad(r, r->header_line, "the header must say the number of vertices and of edges", error);
  if (value[0] > r->limits->vertices_max)
    return cm_over_limit("vertices", value[0], r->limits->vertices_max, error);
  if (value[1] > r->limits->pins_max / 2)
    return cm_over_limit("edges", value[1], r->limits->pins_max / 2, error);
  r->made->vertex_count = (uint32_t)value[0];
  r->edges = value[1];
  uint64_t hundreds = value[2] / 100, tens = value[2] / 10 % 10, ones = value[2] % 10;
  if (hundreds > 1 || tens > 1 || ones > 1)
    return bad(r, r->header_line, cm_say("fmt %llu must be up to three digits 0 or 1", (unsigned long long)value[2]).text, error);
  r->has_sizes = hundreds == 1;
  r->has_weights = tens == 1;
  r->has_edge_weights = ones == 1;
  r->weights_per_vertex = r->has_weights ? (count == 4 ? value[3] : 1) : 0;
  if (count == 4 && (r->has_weights ? value[3] < 1 || value[3] > 1000 : value[3] > 1))
    return bad(r, r->header_line, cm_say("ncon %llu does not go with fmt %03llu: 1 to 1000 weights a vertex, if any", (unsigned long long)value[3],
                                         (unsigned long long)value[2]).text, error);
  return CM_OK;
}

static cm_status read_vertex_numbers(metis_reader *r, uint32_t vertex, cm_error *error)
{
  uint64_t count = (r->has_sizes ? 1 : 0) + r->weights_per_vertex, size = 1;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t value;
    bool found;
    CM_TRY(cm_tokens_number(&r->text, "a vertex weight or size", &found, &value, error));
    if (!found)
      return bad(r, r->text.line, "the line ends before the weights of the vertex that fmt announces", error);
    if (value > UINT32_MAX)
      return bad(r, r->text.line, "a vertex weight or size is above 4294967295", error);
    if (r->has_weights && i == (r->has_sizes ? 1 : 0))
      size = value;
  }
  if (!r->has_weights)
    return CM_OK;
  CM_TRY(CM_ROOM(r->memory, r->made->size, &r->size_room, (uint64_t)vertex + 1, error));
  r->made->size[vertex] = (uint32_t)size;
  return CM_OK;
}

/* Weights appear with the first repeated edge of an unweighted graph: until then each edge weighs 1. */
static cm_status need_weights(metis_reader *r, cm_error *error)
{
  if (r->made->pin_weight != NULL)
    return CM_OK;
  CM_TRY(CM_ROOM(r->memory, r->made->pin_weight, &r->weight_room, r->pin_room, error));
  for (uint64_t i = 0; i < r->made->pin_count; i++)
    r->made->pin_weight[i] = 1;
  return CM_OK;
}

/* Sorts the pins from `begin` on, drops loops, merges repeats. */
static cm_status close_row(metis_reader *r, uint32_t vertex, uint64_t begin, cm_error *error)
{
  cm_topology *made = r->made;
  uint64_t count = made->pin_count - begin;
  if (count == 0)
    return CM_OK;
  uint32_t *pin = made->pin + begin;
  if (cm_row_ascends(pin, count)) {
    bool loop = false;
    for (uint64_t i = 0; i < count && !loop; i++)
      loop = pin[i] == vertex;
    if (!loop)
      return CM_OK;
  }
  const uint64_t *key;
  CM_TRY(cm_row_order(&r->sorter, pin, count, &key, error));
  for (uint64_t i = 1; i < count; i++)
    if (key[i] >> 32 == key[i - 1] >> 32 && key[i] >> 32 != vertex) {
      CM_TRY(need_weights(r, error));
      break;
    }
  uint32_t *weight = made->pin_weight == NULL ? NULL : made->pin_weight + begin;
  if (weight != NULL) {
    CM_TRY(CM_ROOM(r->memory, r->row_weight, &r->row_weight_room, count, error));
    memcpy(r->row_weight, weight, count * sizeof *weight);
  }
  uint64_t used = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint32_t neighbour = (uint32_t)(key[i] >> 32);
    uint32_t here = weight == NULL ? 1 : r->row_weight[(uint32_t)key[i]];
    if (neighbour == vertex) {
      made->self_loop_count++;
    } else if (used > 0 && pin[used - 1] == neighbour) {
      made->duplicate_count++;
      if (__builtin_add_overflow(weight[used - 1], here, &weight[used - 1]))
        return bad(r, r->text.line, "the weights of a repeated edge add up to more than 4294967295", error);
    } else {
      pin[used] = neighbour;
      if (weight != NULL)
        weight[used] = here;
      used++;
    }
  }
  made->pin_count = begin + used;
  return CM_OK;
}

static cm_status read_row(metis_reader *r, uint32_t vertex, cm_error *error)
{
  cm_topology *made = r->made;
  uint64_t begin = made->pin_count, value;
  bool found;
  CM_TRY(read_vertex_numbers(r, vertex, error));
  for (;;) {
    CM_TRY(cm_tokens_number(&r->text, "a neighbour", &found, &value, error));
    if (!found)
      break;
    if (value == 0 || value > made->vertex_count)
      return bad(r, r->text.line, cm_say("neighbour %llu is out of range: vertices are numbered 1 to %u", (unsigned long long)value,
                                         made->vertex_count).text, error);
    if (made->pin_count >= r->limits->pins_max)
      return cm_over_limit("edge ends", made->pin_count + 1, r->limits->pins_max, error);
    CM_TRY(CM_ROOM(r->memory, made->pin, &r->pin_room, made->pin_count + 1, error));
    made->pin[made->pin_count] = (uint32_t)value - 1;
    uint64_t weight = 1;
    if (r->has_edge_weights) {
      CM_TRY(cm_tokens_number(&r->text, "an edge weight", &found, &weight, error));
      if (!found)
        return bad(r, r->text.line, "the line ends before the weight of its last edge (fmt announces edge weights)", error);
      if (weight > UINT32_MAX)
        return bad(r, r->text.line, cm_say("edge weight %llu is above 4294967295", (unsigned long long)weight).text, error);
    }
    if (r->has_edge_weights || made->pin_weight != NULL) {
      CM_TRY(CM_ROOM(r->memory, made->pin_weight, &r->weight_room, r->pin_room, error));
      made->pin_weight[made->pin_count] = (uint32_t)weight;
    }
    made->pin_count++;
    r->entries++;
  }
  return close_row(r, vertex, begin, error);
}

static cm_status read_rows(metis_reader *r, cm_error *error)
{
  cm_topology *made = r->made;
  int c = -1;
  uint64_t row_line = 0; /* of the row before: a file may end with an empty row that no line feed ends */
  CM_TRY(CM_ROOM(r->memory, made->net_first, &r->first_room, 1, error));
  made->net_first[0] = 0;
  for (uint32_t vertex = 0; vertex < made->vertex_count;) {
    CM_TRY(cm_tokens_peek(&r->text, &c, error));
    if (c == -1 && (vertex + 1 < made->vertex_count || vertex == 0 || r->text.line == row_line))
      return bad(r, r->text.line, cm_say("the file ends after the lines of %u vertices; the header announces %u", vertex, made->vertex_count).text,
                 error);
    if (c == '%') {
      CM_TRY(cm_tokens_skip_comment(&r->text, &made->weight_scale, error));
      continue;
    }
    CM_TRY(CM_ROOM(r->memory, made->net_first, &r->first_room, (uint64_t)vertex + 2, error));
    CM_TRY(CM_ROOM(r->memory, r->line_of, &r->line_room, (uint64_t)vertex + 1, error));
    row_line = r->text.line;
    r->line_of[vertex] = r->text.line > UINT32_MAX ? UINT32_MAX : (uint32_t)r->text.line;
    CM_TRY(read_row(r, vertex, error));
    made->net_first[++vertex] = made->pin_count;
    cm_tokens_end_line(&r->text);
  }
  for (;;) {
    CM_TRY(cm_tokens_peek(&r->text, &c, error));
    if (c == -1)
      return CM_OK;
    if (c == '%') {
      CM_TRY(cm_tokens_skip_comment(&r->text, &made->weight_scale, error));
      continue;
    }
    bool found;
    uint64_t value;
    CM_TRY(cm_tokens_number(&r->text, "what follows the last vertex", &found, &value, error));
    if (found)
      return bad(r, r->text.line, cm_say("more lines follow the %u vertices that the header announces", made->vertex_count).text, error);
    cm_tokens_end_line(&r->text);
  }
}

/* The number of edges must be the header's, whether it counts loops or not (a loop may stand once or twice). */
static cm_status check_count(metis_reader *r, cm_error *error)
{
  uint64_t loops = r->made->self_loop_count, wanted = 2 * r->edges;
  if (r->entries == wanted || r->entries + loops == wanted || r->entries == wanted + loops)
    return CM_OK;
  return bad(r, r->header_line, cm_say("the header announces %llu edges, that is %llu neighbours, but %llu are listed",
                                       (unsigned long long)r->edges, (unsigned long long)wanted, (unsigned long long)r->entries).text, error);
}

static cm_status check_symmetry(metis_reader *r, cm_error *error)
{
  cm_asymmetry a;
  CM_TRY(cm_topology_asymmetry(r->made, r->memory, r->run, &a, error));
  if (!a.found)
    return CM_OK;
  char text[240];
  if (a.missing)
    (void)snprintf(text, sizeof text, "vertex %u lists neighbour %u, but vertex %u (line %u) does not list %u",
                   a.from + 1, a.to + 1, a.to + 1, r->line_of[a.to], a.from + 1);
  else
    (void)snprintf(text, sizeof text, "the edge of vertex %u to %u weighs %llu here and %llu on line %u", a.from + 1,
                   a.to + 1, (unsigned long long)a.weight, (unsigned long long)a.other_weight, r->line_of[a.to]);
  return bad(r, r->line_of[a.from], text, error);
}

static cm_status finish(metis_reader *r, cm_error *error)
{
  cm_topology *made = r->made;
  made->net_count = made->vertex_count;
  made->duplicate_count = (made->duplicate_count + 1) / 2; /* each stood in two rows, or in one twice */
  if (!r->has_edge_weights)
    made->weight_scale = 1;
  uint64_t ones = 0;
  double sum = 0;
  for (uint64_t i = 0; made->pin_weight != NULL && i < made->pin_count; i++) {
    ones += made->pin_weight[i] == made->weight_scale;
    sum += (double)made->pin_weight[i];
  }
  uint64_t one;
  /* Each edge stands in two rows and counts once. */
  CM_TRY(cm_weight_scale(sum / 2, 0, 0, true, &one, error));
  if (made->pin_weight != NULL && ones == made->pin_count) {
    cm_free(made->pin_weight);
    made->pin_weight = NULL;
  }
  uint64_t total = 0, plain = 0;
  for (uint32_t v = 0; v < made->vertex_count; v++) {
    total += cm_topology_size(made, v);
    plain += cm_topology_size(made, v) == 1;
  }
  made->size_total = total;
  if (plain == made->vertex_count) {
    cm_free(made->size);
    made->size = NULL;
  }
  CM_TRY_IF(made->pin == NULL, CM_NEW(r->memory, made->pin, 0, error));
  CM_TRIM(r->memory, made->pin, made->pin_count);
  CM_TRIM(r->memory, made->net_first, (uint64_t)made->vertex_count + 1);
  if (made->pin_weight != NULL)
    CM_TRIM(r->memory, made->pin_weight, made->pin_count);
  if (made->size != NULL)
    CM_TRIM(r->memory, made->size, made->vertex_count);
  return CM_OK;
}

cm_status cm_import_metis(const cm_reading_of *in, cm_error *error)
{
  metis_reader r = {.text = {.source = in->source, .format = "METIS graph", .line = 1},
                    .limits = in->limits,
                    .run = in->run,
                    .memory = in->run->memory,
                    .made = in->made,
                    .sorter = {.memory = in->run->memory}};
  r.made->weight_scale = 1;
  cm_status status = read_header(&r, error);
  CM_THEN(status, read_rows(&r, error));
  CM_THEN(status, check_symmetry(&r, error));
  CM_THEN(status, check_count(&r, error));
  CM_THEN(status, finish(&r, error));
  cm_row_sorter_free(&r.sorter);
  CM_FREE(r.line_of, r.row_weight);
  return status;
}
