/* Happy path: the name's ending chooses a writer, which walks the topology once (a directed network as .graph:
 * twice, for the header counts the edges) into a sink. What can fail: an unknown ending, the disk, memory, the run.
 * docs/network-formats.md says what each format cannot hold. */
#include "core/network/export.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/network/internal.h"
#include "core/network/sink.h"
#include "core/network/topology_file.h"

typedef struct writer {
  const cm_topology *topology;
  cm_sink *sink;
  cm_run *run;
  char separator;
} writer;

/* Looks at the sink and the run now and then. */
static cm_status step(const writer *w, uint64_t done, uint64_t all, cm_error *error)
{
  if (done % CM_CHECK_EVERY != 0)
    return CM_OK;
  if (cm_sink_status(w->sink, error) != CM_OK)
    return error->status;
  return cm_run_progress(w->run, (double)done / (double)(all > 0 ? all : 1), -1, 0, NAN, error);
}

/* ---- .snn ---- */

static void put_u32(cm_sink *sink, uint32_t value)
{
  value = htole32(value);
  cm_sink_bytes(sink, &value, sizeof value);
}

/* A graph's vertex becomes an axon of rate 1 to all its neighbours. */
static cm_status write_snn(const writer *w, cm_error *error)
{
  const cm_topology *t = w->topology;
  uint32_t hyperedges = 0;
  for (uint32_t e = 0; e < t->net_count; e++)
    hyperedges += t->net_first[e + 1] > t->net_first[e];
  put_u32(w->sink, t->vertex_count);
  put_u32(w->sink, hyperedges);
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint64_t begin = t->net_first[e], count = t->net_first[e + 1] - begin;
    if (step(w, e, t->net_count, error) != CM_OK)
      return error->status;
    if (count == 0)
      continue;
    float rate = t->directed ? (float)((double)cm_topology_net_weight(t, e) / (double)t->weight_scale) : 1;
    uint32_t bits;
    memcpy(&bits, &rate, sizeof bits);
    put_u32(w->sink, (uint32_t)count);
    put_u32(w->sink, cm_topology_source(t, e));
    for (uint64_t i = begin; i < begin + count; i++)
      put_u32(w->sink, t->pin[i]);
    put_u32(w->sink, bits);
  }
  return CM_OK;
}

/* ---- METIS .graph ---- */

/* What the weights of a graph look like. METIS knows whole ones above 0 only, and adds them up in 32 bits: fractions
 * are written at a scale that a comment names, the topology's own or the largest below it whose sum fits; 0 is
 * written as 1. */
typedef struct graph_weights {
  bool any;       /* some weigh other than 1 */
  bool fractions;
  uint64_t total; /* of all weights, each edge seen from both ends */
} graph_weights;

static void graph_weights_see(graph_weights *g, const cm_topology *t, uint64_t weight)
{
  g->any = g->any || weight != t->weight_scale;
  g->fractions = g->fractions || weight % t->weight_scale != 0;
  g->total += weight;
}

/* What a scaled weight is divided by. */
static uint64_t graph_divisor(const graph_weights *g, const cm_topology *t)
{
  uint64_t divisor = g->fractions ? 1 : t->weight_scale;
  while (divisor < t->weight_scale && g->total / divisor > INT32_MAX)
    divisor *= 2;
  return divisor;
}

static uint64_t graph_weight(uint64_t weight, uint64_t divisor)
{
  uint64_t rounded = weight / divisor + (weight % divisor >= divisor - divisor / 2);
  return rounded > 0 ? rounded : 1;
}

/* A comment that names the scale of weights divided by `divisor`, unless that is 1. */
static void write_scale(const writer *w, uint64_t divisor)
{
  if (divisor == w->topology->weight_scale)
    return;
  cm_sink_text(w->sink, "% weight_scale ");
  cm_sink_number(w->sink, w->topology->weight_scale / divisor);
  cm_sink_text(w->sink, "\n");
}

/* The comment and the header; gives the divisor of the weights. */
static uint64_t write_graph_head(const writer *w, uint64_t edges, const graph_weights *g)
{
  const cm_topology *t = w->topology;
  uint64_t divisor = graph_divisor(g, t);
  write_scale(w, divisor);
  cm_sink_number(w->sink, t->vertex_count);
  cm_sink_text(w->sink, " ");
  cm_sink_number(w->sink, edges);
  if (g->any || t->size != NULL)
    cm_sink_text(w->sink, g->any && t->size != NULL ? " 011" : g->any ? " 001" : " 010");
  cm_sink_text(w->sink, "\n");
  return divisor;
}

/* One line of a graph file, field by field. */
typedef struct line {
  cm_sink *sink;
  bool begun;
} line;

static void put_field(line *l, uint64_t value)
{
  if (l->begun)
    cm_sink_text(l->sink, " ");
  l->begun = true;
  cm_sink_number(l->sink, value);
}

static cm_status write_undirected(const writer *w, cm_error *error)
{
  const cm_topology *t = w->topology;
  graph_weights g = {0};
  for (uint64_t i = 0; t->pin_weight != NULL && i < t->pin_count; i++)
    graph_weights_see(&g, t, t->pin_weight[i]);
  uint64_t divisor = write_graph_head(w, t->pin_count / 2, &g);
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    line l = {w->sink, false};
    if (step(w, v, t->vertex_count, error) != CM_OK)
      return error->status;
    if (t->size != NULL)
      put_field(&l, t->size[v]);
    for (uint64_t i = t->net_first[v]; i < t->net_first[v + 1]; i++) {
      put_field(&l, (uint64_t)t->pin[i] + 1);
      if (g.any)
        put_field(&l, graph_weight(t->pin_weight[i], divisor));
    }
    cm_sink_text(w->sink, "\n");
  }
  return CM_OK;
}

/* The nets of a directed network seen from both ends. */
typedef struct both_ways {
  uint32_t *net_of;   /* [vertex_count + 1] the first net of each source */
  uint64_t *in_first; /* [vertex_count + 1] */
  uint32_t *in_net;   /* [pin_count] nets that reach a vertex */
  uint64_t *in_pin;   /* [pin_count] and by which pin */
  uint64_t *weight;   /* [vertex_count] to each neighbour of the vertex under way */
  uint32_t *neighbour;
  uint64_t neighbour_count, neighbour_room;
  bool *seen; /* [vertex_count] */
} both_ways;

static void both_ways_free(both_ways *b)
{
  cm_free(b->net_of);
  cm_free(b->in_first);
  cm_free(b->in_net);
  cm_free(b->in_pin);
  cm_free(b->weight);
  cm_free(b->neighbour);
  cm_free(b->seen);
}

static cm_status both_ways_make(const cm_topology *t, cm_memory *memory, both_ways *b, cm_error *error)
{
  if (CM_NEW(memory, b->net_of, (size_t)t->vertex_count + 1, error) != CM_OK ||
      CM_NEW(memory, b->in_first, (size_t)t->vertex_count + 2, error) != CM_OK ||
      CM_NEW(memory, b->in_net, t->pin_count, error) != CM_OK ||
      CM_NEW(memory, b->in_pin, t->pin_count, error) != CM_OK ||
      CM_NEW(memory, b->weight, t->vertex_count, error) != CM_OK ||
      CM_NEW(memory, b->seen, t->vertex_count, error) != CM_OK)
    return error->status;
  for (uint32_t e = 0; e < t->net_count; e++)
    b->net_of[cm_topology_source(t, e) + 1]++;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    b->net_of[v + 1] += b->net_of[v];
  /* Counted one place too far, so that filling in moves every start to its place. */
  for (uint64_t i = 0; i < t->pin_count; i++)
    b->in_first[t->pin[i] + 2]++;
  for (uint32_t v = 0; v < t->vertex_count; v++)
    b->in_first[v + 1] += b->in_first[v];
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint64_t at = b->in_first[t->pin[i] + 1]++;
      b->in_net[at] = e;
      b->in_pin[at] = i;
    }
  return CM_OK;
}

static cm_status add_neighbour(both_ways *b, cm_memory *memory, uint32_t vertex, uint32_t neighbour, uint64_t weight,
                               cm_error *error)
{
  if (neighbour == vertex)
    return CM_OK;
  if (!b->seen[neighbour]) {
    if (CM_ROOM(memory, b->neighbour, &b->neighbour_room, b->neighbour_count + 1, error) != CM_OK)
      return error->status;
    b->seen[neighbour] = true;
    b->weight[neighbour] = 0;
    b->neighbour[b->neighbour_count++] = neighbour;
  }
  b->weight[neighbour] += weight;
  return CM_OK;
}

static int ascending(const void *a, const void *b)
{
  uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
  return left < right ? -1 : left > right;
}

/* Fills b->neighbour (ascending) and b->weight for one vertex: the sum of both directions. */
static cm_status gather(const cm_topology *t, both_ways *b, cm_memory *memory, uint32_t v, cm_error *error)
{
  for (uint64_t i = 0; i < b->neighbour_count; i++)
    b->seen[b->neighbour[i]] = false;
  b->neighbour_count = 0;
  for (uint32_t e = b->net_of[v]; e < b->net_of[v + 1]; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      if (add_neighbour(b, memory, v, t->pin[i], cm_topology_pin_weight(t, e, i), error) != CM_OK)
        return error->status;
  for (uint64_t k = b->in_first[v]; k < b->in_first[v + 1]; k++) {
    uint32_t e = b->in_net[k];
    uint64_t weight = cm_topology_pin_weight(t, e, b->in_pin[k]);
    if (add_neighbour(b, memory, v, cm_topology_source(t, e), weight, error) != CM_OK)
      return error->status;
  }
  if (b->neighbour_count > 0)
    qsort(b->neighbour, b->neighbour_count, sizeof *b->neighbour, ascending);
  return CM_OK;
}

static cm_status write_symmetrised(const writer *w, both_ways *b, cm_error *error)
{
  const cm_topology *t = w->topology;
  uint64_t ends = 0;
  graph_weights g = {0};
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    if (step(w, v, 2 * (uint64_t)t->vertex_count, error) != CM_OK ||
        gather(t, b, w->run->memory, v, error) != CM_OK)
      return error->status;
    ends += b->neighbour_count;
    for (uint64_t i = 0; i < b->neighbour_count; i++)
      graph_weights_see(&g, t, b->weight[b->neighbour[i]]);
  }
  uint64_t divisor = write_graph_head(w, ends / 2, &g);
  for (uint32_t v = 0; v < t->vertex_count; v++) {
    line l = {w->sink, false};
    if (step(w, (uint64_t)t->vertex_count + v, 2 * (uint64_t)t->vertex_count, error) != CM_OK ||
        gather(t, b, w->run->memory, v, error) != CM_OK)
      return error->status;
    if (t->size != NULL)
      put_field(&l, t->size[v]);
    for (uint64_t i = 0; i < b->neighbour_count; i++) {
      put_field(&l, (uint64_t)b->neighbour[i] + 1);
      if (g.any)
        put_field(&l, graph_weight(b->weight[b->neighbour[i]], divisor));
    }
    cm_sink_text(w->sink, "\n");
  }
  return CM_OK;
}

static cm_status write_graph(const writer *w, cm_error *error)
{
  if (!w->topology->directed)
    return write_undirected(w, error);
  both_ways b = {0};
  cm_status status = both_ways_make(w->topology, w->run->memory, &b, error);
  if (status == CM_OK)
    status = write_symmetrised(w, &b, error);
  both_ways_free(&b);
  return status;
}

/* ---- hMETIS .hgr ---- */

static void write_net(const writer *w, bool weighted, uint64_t weight, uint32_t source, const uint32_t *pin,
                      uint64_t count)
{
  line l = {w->sink, false};
  if (weighted)
    put_field(&l, weight);
  put_field(&l, (uint64_t)source + 1);
  for (uint64_t i = 0; i < count; i++)
    if (pin[i] != source)
      put_field(&l, (uint64_t)pin[i] + 1);
  cm_sink_text(w->sink, "\n");
}

/* An axon is a net of its source and its targets; an edge is a net of two. */
static cm_status write_hypergraph(const writer *w, cm_error *error)
{
  const cm_topology *t = w->topology;
  graph_weights g = {0};
  for (uint32_t e = 0; t->directed && e < t->net_count; e++)
    graph_weights_see(&g, t, cm_topology_net_weight(t, e));
  for (uint64_t i = 0; !t->directed && t->pin_weight != NULL && i < t->pin_count; i++)
    graph_weights_see(&g, t, t->pin_weight[i]);
  uint64_t divisor = graph_divisor(&g, t);
  write_scale(w, divisor);
  cm_sink_number(w->sink, t->directed ? t->net_count : t->pin_count / 2);
  cm_sink_text(w->sink, " ");
  cm_sink_number(w->sink, t->vertex_count);
  if (g.any || t->size != NULL)
    cm_sink_text(w->sink, g.any && t->size != NULL ? " 11" : g.any ? " 1" : " 10");
  cm_sink_text(w->sink, "\n");
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint64_t begin = t->net_first[e], end = t->net_first[e + 1];
    uint32_t source = cm_topology_source(t, e);
    if (step(w, e, t->net_count, error) != CM_OK)
      return error->status;
    if (t->directed)
      write_net(w, g.any, graph_weight(cm_topology_net_weight(t, e), divisor), source, t->pin + begin, end - begin);
    for (uint64_t i = begin; !t->directed && i < end; i++)
      if (t->pin[i] > source)
        write_net(w, g.any, graph_weight(cm_topology_pin_weight(t, e, i), divisor), source, t->pin + i, 1);
  }
  for (uint32_t v = 0; t->size != NULL && v < t->vertex_count; v++) {
    cm_sink_number(w->sink, t->size[v]);
    cm_sink_text(w->sink, "\n");
  }
  return CM_OK;
}

/* ---- edge lists ---- */

static void put_name(const writer *w, uint32_t vertex)
{
  const char *label = cm_topology_label(w->topology, vertex);
  if (label == NULL) {
    cm_sink_number(w->sink, vertex);
    return;
  }
  size_t length = strlen(label);
  bool plain = length > 0 && label[0] != '#' && label[0] != '%' && label[0] != ' ' && label[length - 1] != ' ' &&
               strpbrk(label, "\",;\t") == NULL;
  if (plain) {
    cm_sink_bytes(w->sink, label, length);
    return;
  }
  cm_sink_text(w->sink, "\"");
  for (const char *p = label; *p != '\0'; p++) {
    if (*p == '"')
      cm_sink_text(w->sink, "\"");
    cm_sink_bytes(w->sink, p, 1);
  }
  cm_sink_text(w->sink, "\"");
}

/* The shortest text that reads back as the same number. */
static void put_weight(const writer *w, uint64_t scaled)
{
  uint64_t scale = w->topology->weight_scale;
  if (scaled % scale == 0) {
    cm_sink_number(w->sink, scaled / scale);
    return;
  }
  char text[40];
  double value = (double)scaled / (double)scale;
  (void)snprintf(text, sizeof text, "%.15g", value);
  if (strtod(text, NULL) != value)
    (void)snprintf(text, sizeof text, "%.17g", value);
  cm_sink_text(w->sink, text);
}

/* Whether some synapse or edge weighs other than 1. */
static bool has_weights(const cm_topology *t)
{
  for (uint32_t e = 0; e < t->net_count; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      if (cm_topology_pin_weight(t, e, i) != t->weight_scale)
        return true;
  return false;
}

/* Every synapse, or every edge once (the lower vertex first). */
static cm_status write_edges(const writer *w, cm_error *error)
{
  const cm_topology *t = w->topology;
  const char separator[2] = {w->separator, '\0'};
  bool weighted = has_weights(t);
  cm_sink_text(w->sink, "source");
  cm_sink_text(w->sink, separator);
  cm_sink_text(w->sink, "target");
  if (weighted) {
    cm_sink_text(w->sink, separator);
    cm_sink_text(w->sink, "weight");
  }
  cm_sink_text(w->sink, "\n");
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t source = cm_topology_source(t, e);
    if (step(w, e, t->net_count, error) != CM_OK)
      return error->status;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      if (!t->directed && t->pin[i] < source)
        continue;
      put_name(w, source);
      cm_sink_text(w->sink, separator);
      put_name(w, t->pin[i]);
      if (weighted) {
        cm_sink_text(w->sink, separator);
        put_weight(w, cm_topology_pin_weight(t, e, i));
      }
      cm_sink_text(w->sink, "\n");
    }
  }
  return CM_OK;
}

/* ---- MatrixMarket .mtx ---- */

/* A directed network is a general matrix (row: source), repeated synapses of several axons being repeated entries; a
 * graph is a symmetric one, of which the lower triangle is written. */
static cm_status write_matrix(const writer *w, cm_error *error)
{
  const cm_topology *t = w->topology;
  bool weighted = has_weights(t);
  cm_sink_text(w->sink, "%%MatrixMarket matrix coordinate ");
  cm_sink_text(w->sink, !weighted ? "pattern" : t->weight_scale == 1 ? "integer" : "real");
  cm_sink_text(w->sink, t->directed ? " general\n" : " symmetric\n");
  const uint64_t size[] = {t->vertex_count, t->vertex_count, t->directed ? t->pin_count : t->pin_count / 2};
  line head = {w->sink, false};
  for (size_t i = 0; i < sizeof size / sizeof *size; i++)
    put_field(&head, size[i]);
  cm_sink_text(w->sink, "\n");
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t source = cm_topology_source(t, e);
    if (step(w, e, t->net_count, error) != CM_OK)
      return error->status;
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      if (!t->directed && t->pin[i] > source)
        continue;
      line l = {w->sink, false};
      put_field(&l, (uint64_t)source + 1);
      put_field(&l, (uint64_t)t->pin[i] + 1);
      if (weighted) {
        cm_sink_text(w->sink, " ");
        put_weight(w, cm_topology_pin_weight(t, e, i));
      }
      cm_sink_text(w->sink, "\n");
    }
  }
  return CM_OK;
}

/* ---- choice ---- */

typedef cm_status (*write_function)(const writer *w, cm_error *error);

static const struct {
  const char *ending;
  write_function write; /* NULL: the topology file */
  char separator;
} formats[] = {
  {".zip", NULL, 0}, {".snn", write_snn, 0}, {".graph", write_graph, 0}, {".csv", write_edges, ','},
  {".hgr", write_hypergraph, 0}, {".mtx", write_matrix, 0},
  {".tsv", write_edges, '\t'},
};

static bool ends_with(const char *text, size_t length, const char *ending)
{
  size_t tail = strlen(ending);
  return length >= tail && strncasecmp(text + length - tail, ending, tail) == 0;
}

cm_status cm_export(const cm_topology *topology, const char *path, cm_run *run, cm_error *error)
{
  size_t length = strlen(path), format = 0, formats_count = sizeof formats / sizeof *formats;
  bool gzipped = ends_with(path, length, ".gz");
  if (gzipped)
    length -= strlen(".gz");
  while (format < formats_count && !ends_with(path, length, formats[format].ending))
    format++;
  if (format == formats_count || (gzipped && formats[format].write == NULL))
    return cm_fail(error, CM_BAD_REQUEST,
                   "%s: the name must end in .zip, .snn, .graph, .hgr, .mtx, .csv or .tsv; .gz may follow all but .zip",
                   path);
  cm_run_phase(run, "write");
  if (formats[format].write == NULL)
    return cm_topology_save(topology, path, run, error);
  cm_sink *sink;
  if (CM_NEW(run->memory, sink, 1, error) != CM_OK)
    return error->status;
  cm_status status = cm_sink_open(sink, path, gzipped, error);
  if (status == CM_OK) {
    writer w = {topology, sink, run, formats[format].separator};
    status = formats[format].write(&w, error);
    if (status == CM_OK)
      status = cm_sink_close(sink, error);
    else
      cm_sink_discard(sink);
  }
  cm_free(sink);
  return status;
}
