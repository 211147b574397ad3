/* .snn, the field's benchmark format, little endian: u32 neurons, u32 hyperedges; per
 * hyperedge u32 number of targets, u32 source, u32 targets[], f32 rate.
 *
 * Happy path: targets are copied straight into the pins of the topology, four bytes a synapse, and sorted
 * in place: those of all hyperedges that lie whole in the source's window at once and on the run's threads (snn_batch.c), the others one by
 * one; rates become integers once their sum is known; nets are put in order of their sources when the
 * file has them in another order. What can fail: a number out of range, a file that ends early or late. */
#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/network/formats/readers.h"
#include "core/network/formats/rows.h"
#include "core/network/formats/snn.h"
#include "core/network/formats/source.h"
#include "core/network/formats/weighted.h"
#include "core/network/import_limits.h"
#include "core/network/net_order.h"

static cm_status bad(cm_snn_reader *r, uint64_t offset, uint32_t hyperedge, const char *what, cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK, ".snn network, byte %llu, hyperedge %u of %u: %s", (unsigned long long)offset,
          hyperedge, r->hyperedges, what);
  return cm_fail_at(error, "byte %llu", (unsigned long long)offset);
}

static cm_status ends_early(cm_snn_reader *r, const char *inside, cm_error *error)
{
  uint64_t offset = cm_source_offset(r->source);
  cm_fail(error, CM_BAD_NETWORK, ".snn network: the file ends at byte %llu inside %s", (unsigned long long)offset, inside);
  return cm_fail_at(error, "byte %llu", (unsigned long long)offset);
}

static cm_status take(cm_snn_reader *r, void *bytes, size_t size, const char *inside, cm_error *error)
{
  size_t got;
  CM_TRY(cm_source_take(r->source, bytes, size, &got, error));
  return got == size ? CM_OK : ends_early(r, inside, error);
}

static cm_status read_targets(cm_snn_reader *r, uint32_t hyperedge, uint64_t count, cm_error *error)
{
  cm_topology *made = r->made;
  uint64_t begin = made->pin_count, offset = cm_source_offset(r->source);
  /* Together with its rate; where the length of the file is known nothing is reserved in vain. */
  if (cm_source_left_max(r->source) / 4 < count + 1)
    return bad(r, offset, hyperedge, cm_say("it announces %llu targets and a rate, but only %llu bytes follow", (unsigned long long)count,
                                            (unsigned long long)cm_source_left_max(r->source)).text, error);
  if (count > r->limits->pins_max - begin)
    return cm_over_limit("synapses", begin + count, r->limits->pins_max, error);
  while (count > 0) {
    uint64_t part = count < CM_SOURCE_WINDOW / 4 ? count : CM_SOURCE_WINDOW / 4;
    CM_TRY(CM_ROOM(r->memory, made->pin, &r->pin_room, made->pin_count + part, error));
    CM_TRY(take(r, made->pin + made->pin_count, (size_t)part * 4, "the targets of a hyperedge", error));
    for (uint64_t i = made->pin_count; i < made->pin_count + part; i++) {
      made->pin[i] = le32toh(made->pin[i]);
      if (made->pin[i] >= made->vertex_count)
        return bad(r, offset + 4 * (i - begin), hyperedge, cm_say("target %u is out of range: the network has %u neurons, numbered from 0",
                                                            made->pin[i], made->vertex_count).text, error);
    }
    made->pin_count += part;
    count -= part;
  }
  return CM_OK;
}

static cm_status read_hyperedge(cm_snn_reader *r, uint32_t hyperedge, cm_error *error)
{
  cm_topology *made = r->made;
  uint64_t offset = cm_source_offset(r->source), begin = made->pin_count;
  uint32_t head[2], bits;
  CM_TRY(take(r, head, sizeof head, "the head of a hyperedge", error));
  uint32_t count = le32toh(head[0]), source = le32toh(head[1]);
  if (source >= made->vertex_count)
    return bad(r, offset + 4, hyperedge, cm_say("source %u is out of range: the network has %u neurons, numbered from 0", source,
                                                made->vertex_count).text, error);
  CM_TRY(read_targets(r, hyperedge, count, error));
  offset = cm_source_offset(r->source);
  CM_TRY(take(r, &bits, sizeof bits, "the rate of a hyperedge", error));
  bits = le32toh(bits);
  float rate;
  memcpy(&rate, &bits, sizeof rate);
  if (!isfinite(rate) || rate < 0)
    return bad(r, offset, hyperedge, cm_say("rate %g is not a finite number of at least 0", (double)rate).text, error);
  if (count == 0) {
    made->empty_net_count++;
    return CM_OK;
  }
  uint64_t kept;
  CM_TRY(cm_row_sort(&r->sorter, made->pin + begin, count, &kept, error));
  uint32_t selves = 0;
  for (uint64_t i = begin; i < begin + kept; i++)
    selves += made->pin[i] == source;
  return cm_snn_keep(r, &(cm_snn_net){.count = count, .kept = kept, .source = source, .selves = selves, .rate = rate, .pin = begin}, error);
}

static cm_status scale_rates(cm_snn_reader *r, cm_error *error)
{
  cm_topology *made = r->made;
  double sum = 0, maximum = 0;
  bool whole = true;
  for (uint32_t e = 0; e < made->net_count; e++) {
    double rate = (double)r->rate[e];
    sum += rate * (double)(made->net_first[e + 1] - made->net_first[e]);
    maximum = rate > maximum ? rate : maximum;
    whole = whole && rate == trunc(rate);
  }
  CM_TRY(cm_weight_scale(sum, maximum, (double)CM_WEIGHT_SUM_MAX, whole, &made->weight_scale, error));
  CM_TRY(CM_NEW(r->memory, made->net_weight, made->net_count, error));
  for (uint32_t e = 0; e < made->net_count; e++)
    made->net_weight[e] = cm_weight_scaled((double)r->rate[e], made->weight_scale);
  return CM_OK;
}

static cm_status read_network(cm_snn_reader *r, cm_error *error)
{
  cm_topology *made = r->made;
  uint32_t head[2];
  CM_TRY(take(r, head, sizeof head, "its head (neurons, hyperedges)", error));
  made->vertex_count = le32toh(head[0]);
  r->hyperedges = le32toh(head[1]);
  if (made->vertex_count > r->limits->vertices_max)
    return cm_over_limit("neurons", made->vertex_count, r->limits->vertices_max, error);
  if (cm_source_left_max(r->source) / 12 < r->hyperedges) {
    cm_fail(error, CM_BAD_NETWORK,
            ".snn network, byte 4: %u hyperedges of at least 12 bytes are announced, but only %llu bytes follow",
            r->hyperedges, (unsigned long long)cm_source_left_max(r->source));
    return cm_fail_at(error, "byte 4");
  }
  /* A file of known length says how many targets it holds; what comes gzipped or by a pipe grows as it comes. */
  uint64_t left = cm_source_left_max(r->source), targets = left == UINT64_MAX ? 0 : left / 4 - 3 * (uint64_t)r->hyperedges;
  CM_TRY(CM_ROOM(r->memory, made->net_first, &r->first_room, 1, error));
  CM_TRY(CM_ROOM(r->memory, made->pin, &r->pin_room, targets < r->limits->pins_max ? targets : 0, error));
  made->net_first[0] = 0;
  for (uint32_t hyperedge = 0; hyperedge < r->hyperedges;) {
    uint32_t taken;
    CM_TRY(cm_snn_batch_take(r, r->hyperedges - hyperedge, &taken, error));
    hyperedge += taken;
    CM_TRY_IF(taken == 0, read_hyperedge(r, hyperedge++, error));
  }
  uint8_t more;
  size_t got;
  uint64_t end = cm_source_offset(r->source);
  CM_TRY(cm_source_take(r->source, &more, 1, &got, error));
  if (got != 0) {
    cm_fail(error, CM_BAD_NETWORK, ".snn network: more bytes follow at byte %llu, after the last of the %u announced hyperedges",
            (unsigned long long)end, r->hyperedges);
    return cm_fail_at(error, "byte %llu", (unsigned long long)end);
  }
  CM_TRY_IF(!r->sources_ascend, cm_topology_order_nets(made, &r->rate, r->run, error));
  CM_TRY(scale_rates(r, error));
  made->size_total = made->vertex_count;
  CM_TRIM(r->memory, made->pin, made->pin_count);
  CM_TRIM(r->memory, made->net_first, (uint64_t)made->net_count + 1);
  CM_TRIM(r->memory, made->net_source, made->net_count);
  return CM_OK;
}

cm_status cm_import_snn(const cm_reading_of *in, cm_error *error)
{
  cm_memory *memory = in->run->memory;
  cm_snn_reader r = {.source = in->source, .limits = in->limits, .run = in->run, .memory = memory, .made = in->made, .sources_ascend = true,
                     .sorter = {.memory = memory}};
  r.made->directed = true;
  cm_status status = cm_snn_batch_new(&r, error);
  CM_THEN(status, read_network(&r, error));
  cm_snn_batch_free(&r);
  /* Even without synapses the arrays are there. */
  if (status == CM_OK && r.made->net_source == NULL)
    status = CM_NEW(memory, r.made->net_source, 0, error);
  if (status == CM_OK && r.made->pin == NULL)
    status = CM_NEW(memory, r.made->pin, 0, error);
  cm_row_sorter_free(&r.sorter);
  cm_free(r.rate);
  return status;
}
