#include "core/partition/axon/packed_pins.h"

#include <string.h>

#include "core/partition/axon/lists.h"

static uint32_t targets(const cm_topology *t, uint32_t e)
{
  return (uint32_t)(t->net_first[e + 1] - t->net_first[e]);
}

bool cm_pins_packable(const cm_topology *t)
{
  uint64_t bytes = 0;
  bool fits = !cm_in_file(t->pin);
  for (uint32_t e = 0; e < t->net_count && fits; e++) {
    bytes += cm_list_bytes(targets(t, e), t->vertex_count);
    fits = bytes <= t->net_first[e + 1] * sizeof *t->pin;
  }
  return fits && bytes + CM_LIST_BEYOND <= t->pin_count * sizeof *t->pin;
}

/* From the first net to the last: what a net takes packed ends no later than what it takes unpacked, or it is not packable. */
cm_status cm_pins_pack(const cm_topology *t, uint64_t *begin, cm_run *run, cm_packed_pins *packed, cm_error *error)
{
  uint32_t most = 0;
  for (uint32_t e = 0; e < t->net_count; e++)
    most = targets(t, e) > most ? targets(t, e) : most;
  CM_TRY(CM_NEW(run->memory, packed->net, (size_t)most + CM_LIST_BEYOND / sizeof *packed->net, error));
  unsigned char *code = (unsigned char *)packed->net;
  uint64_t at = 0;
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t count = targets(t, e);
    cm_list_end end = cm_list_begin(0, count, t->vertex_count);
    uint64_t bytes = cm_list_bytes(count, t->vertex_count);
    memset(code, 0, bytes + CM_LIST_BEYOND);
    for (uint32_t i = 0; i < count; i++)
      cm_list_put(code, &end, t->pin[t->net_first[e] + i]);
    memcpy((unsigned char *)t->pin + at, code, bytes);
    begin[e] = at;
    at += bytes;
  }
  packed->topology = t;
  packed->bytes = at;
  packed->released = cm_release_tail(t->pin, at + CM_LIST_BEYOND);
  return CM_OK;
}

/* From the last net to the first: what a net takes unpacked begins no earlier than what it takes packed. */
void cm_pins_unpack(cm_packed_pins *packed)
{
  const cm_topology *t = packed->topology;
  if (t == NULL)
    return;
  const unsigned char *end = (const unsigned char *)t->pin + packed->bytes;
  (void)cm_book_reserved(t->pin, packed->released, NULL);
  for (uint32_t e = t->net_count; e-- > 0;) {
    uint32_t count = targets(t, e);
    end -= cm_list_bytes(count, t->vertex_count);
    cm_list list = cm_list_of(end, count, t->vertex_count);
    for (uint32_t i = 0; i < count; i++)
      packed->net[i] = cm_list_next(&list);
    memcpy(t->pin + t->net_first[e], packed->net, count * sizeof *t->pin);
  }
  cm_free(packed->net);
  *packed = (cm_packed_pins){0};
}
