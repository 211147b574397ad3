/* Happy path: the name's ending chooses a writer, which walks the topology once (a directed network as .graph:
 * twice, for the header counts the edges) into a sink. What can fail: an unknown ending, the disk, memory, the run.
 * docs/reference/network-formats.md says what each format cannot hold. */
#include "core/network/export.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/network/formats/source.h"
#include "core/network/formats/table.h"
#include "core/network/formats/tokens.h"
#include "core/network/topology_file.h"

cm_status cm_export_step(const cm_export_writer *w, uint64_t done, uint64_t all, cm_error *error)
{
  if (done % CM_CHECK_EVERY != 0)
    return CM_OK;
  CM_TRY(cm_sink_status(w->sink, error));
  return cm_run_progress(w->run, (double)done / (double)(all > 0 ? all : 1), -1, 0, NAN, error);
}

void cm_export_field(cm_export_line *l, uint64_t value)
{
  if (l->begun)
    cm_sink_text(l->sink, " ");
  l->begun = true;
  cm_sink_number(l->sink, value);
}

/* ---- .snn ---- */

static void put_u32(cm_sink *sink, uint32_t value)
{
  value = htole32(value);
  cm_sink_bytes(sink, &value, sizeof value);
}

/* A graph's vertex becomes an axon of rate 1 to all its neighbours. */
cm_status cm_export_snn(const cm_export_writer *w, cm_error *error)
{
  const cm_topology *t = w->topology;
  uint32_t hyperedges = 0;
  for (uint32_t e = 0; e < t->net_count; e++)
    hyperedges += t->net_first[e + 1] > t->net_first[e];
  put_u32(w->sink, t->vertex_count);
  put_u32(w->sink, hyperedges);
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint64_t begin = t->net_first[e], count = t->net_first[e + 1] - begin;
    CM_TRY(cm_export_step(w, e, t->net_count, error));
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

/* ---- edge lists ---- */

static void put_name(const cm_export_writer *w, uint32_t vertex)
{
  const char *label = cm_topology_label(w->topology, vertex);
  if (label == NULL || w->list) {
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
static void put_weight(const cm_export_writer *w, double value)
{
  char text[40];
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
      if (cm_topology_pin_value(t, e, i) != 1)
        return true;
  return false;
}

/* Every synapse, or every edge once (the lower vertex first). */
cm_status cm_export_edges(const cm_export_writer *w, cm_error *error)
{
  const cm_topology *t = w->topology;
  const char separator[2] = {w->separator, '\0'};
  bool weighted = has_weights(t), delays = t->pin_delay != NULL;
  if (w->list) {
    cm_sink_text(w->sink, weighted && delays ? "# columns = [\"i\", \"j\", \"weight\", \"delay\"]\n"
                          : weighted         ? "# columns = [\"i\", \"j\", \"weight\"]\n"
                          : delays           ? "# columns = [\"i\", \"j\", \"delay\"]\n"
                                             : "# columns = [\"i\", \"j\"]\n");
  } else {
    cm_sink_text(w->sink, "source");
    cm_sink_text(w->sink, separator);
    cm_sink_text(w->sink, "target");
    if (weighted) {
      cm_sink_text(w->sink, separator);
      cm_sink_text(w->sink, "weight");
    }
    if (delays) {
      cm_sink_text(w->sink, separator);
      cm_sink_text(w->sink, "delay");
    }
    cm_sink_text(w->sink, "\n");
  }
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t source = cm_topology_source(t, e);
    CM_TRY(cm_export_step(w, e, t->net_count, error));
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      if (!t->directed && t->pin[i] < source)
        continue;
      put_name(w, source);
      cm_sink_text(w->sink, separator);
      put_name(w, t->pin[i]);
      if (weighted) {
        cm_sink_text(w->sink, separator);
        put_weight(w, cm_topology_pin_value(t, e, i));
      }
      if (delays) {
        cm_sink_text(w->sink, separator);
        put_weight(w, cm_topology_pin_delay_ms(t, i));
      }
      cm_sink_text(w->sink, "\n");
    }
  }
  return CM_OK;
}

/* ---- MatrixMarket .mtx ---- */

/* A directed network is a general matrix (row: source), repeated synapses of several axons being repeated entries; a
 * graph is a symmetric one, of which the lower triangle is written. */
cm_status cm_export_matrix(const cm_export_writer *w, cm_error *error)
{
  const cm_topology *t = w->topology;
  bool weighted = has_weights(t);
  cm_sink_text(w->sink, "%%MatrixMarket matrix coordinate ");
  cm_sink_text(w->sink, !weighted ? "pattern" : t->weight_scale == 1 && t->weight_exponent == 0 ? "integer" : "real");
  cm_sink_text(w->sink, t->directed ? " general\n" : " symmetric\n" CM_COMMENT_UNDIRECTED "\n");
  const uint64_t size[] = {t->vertex_count, t->vertex_count, t->directed ? t->pin_count : t->pin_count / 2};
  cm_export_line head = {w->sink, false};
  for (size_t i = 0; i < sizeof size / sizeof *size; i++)
    cm_export_field(&head, size[i]);
  cm_sink_text(w->sink, "\n");
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t source = cm_topology_source(t, e);
    CM_TRY(cm_export_step(w, e, t->net_count, error));
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      if (!t->directed && t->pin[i] > source)
        continue;
      cm_export_line l = {w->sink, false};
      cm_export_field(&l, (uint64_t)source + 1);
      cm_export_field(&l, (uint64_t)t->pin[i] + 1);
      if (weighted) {
        cm_sink_text(w->sink, " ");
        put_weight(w, cm_topology_pin_value(t, e, i));
      }
      cm_sink_text(w->sink, "\n");
    }
  }
  return CM_OK;
}

/* ---- choice ---- */

cm_status cm_export_as(const cm_topology *topology, const char *path, const char *name, cm_run *run, cm_error *error)
{
  const cm_network_format *format = cm_network_format_by_ending(name);
  if (format == NULL || format->read_only) {
    cm_fail(error, CM_BAD_REQUEST, "%s: the name must end in ", name);
    for (size_t i = 0; i < CM_FORMATS; i++)
      for (size_t k = 0; k < CM_FORMAT_ENDINGS_MAX && cm_network_format_written(&cm_network_formats[i]) && cm_network_formats[i].ending[k] != NULL; k++)
        cm_fail_more(error, "%s%s", i + k == 0 ? "" : ", ", cm_network_formats[i].ending[k]);
    cm_fail_more(error, "; .gz may follow all but .zip");
    return error->status;
  }
  if (!cm_network_format_written(format))
    return cm_fail(error, CM_BAD_REQUEST, "%s: networks are not written as %s, only read", name, format->name);
  bool gzipped = cm_path_ends(name, strlen(name), ".gz");
  cm_run_phase(run, "write");
  if (format->write == NULL)
    return cm_topology_save(topology, path, run, error);
  cm_sink *sink;
  CM_TRY(CM_NEW(run->memory, sink, 1, error));
  cm_status status = cm_sink_open(sink, path, gzipped, error);
  if (status == CM_OK) {
    const char *ending = cm_format_ending(format, name);
    bool list = strcmp(ending, ".conn") == 0;
    cm_export_writer w = {topology, sink, run, list || strcmp(ending, ".tsv") == 0 ? '\t' : ',', list};
    status = format->write(&w, error);
    if (status == CM_OK)
      status = cm_sink_close(sink, error);
    else
      cm_sink_discard(sink);
  }
  cm_free(sink);
  return status;
}

cm_status cm_export(const cm_topology *topology, const char *path, cm_run *run, cm_error *error)
{
  return cm_export_as(topology, path, path, run, error);
}
