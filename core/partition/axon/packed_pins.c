#include "core/partition/axon/packed_pins.h"

#include <string.h>

#include "core/partition/axon/gaps.h"

/* Ways between numbers below half of what two words hold take two words at most. */
bool cm_pins_packable(const cm_topology *t)
{
  return t->vertex_count <= 1U << (2 * CM_GAP_BITS - 1) && t->pin_count > 0 && !cm_in_file(t->pin);
}

cm_status cm_pins_pack(const cm_topology *t, uint64_t *begin, cm_run *run, cm_packed_pins *packed, cm_error *error)
{
  uint64_t most = 0;
  for (uint32_t e = 0; e < t->net_count; e++)
    most = t->net_first[e + 1] - t->net_first[e] > most ? t->net_first[e + 1] - t->net_first[e] : most;
  CM_TRY(CM_NEW(run->memory, packed->net, most, error));
  uint16_t *words = (uint16_t *)t->pin, *to = words;
  for (uint32_t e = 0; e < t->net_count; e++) {
    uint32_t last = 0;
    begin[e] = (uint64_t)(to - words);
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      uint32_t v = t->pin[i];
      to = cm_gap_put(to, cm_gap_way(last, v)); /* not beyond what has been read */
      last = v;
    }
  }
  packed->topology = t;
  packed->words = (uint64_t)(to - words);
  packed->released = cm_release_tail(t->pin, packed->words * sizeof *words);
  return CM_OK;
}

/* Where the last `count` numbers before `end` begin: of the words of a number the last alone says that none follows. */
static const uint16_t *step_back(const uint16_t *words, const uint16_t *end, uint64_t count)
{
  while (count > 0)
    count -= *--end < CM_GAP_MORE;
  while (end > words && end[-1] >= CM_GAP_MORE)
    end--;
  return end;
}

/* From the last net to the first: what a net takes unpacked begins no earlier than what it takes packed. */
void cm_pins_unpack(cm_packed_pins *packed)
{
  const cm_topology *t = packed->topology;
  if (t == NULL)
    return;
  const uint16_t *words = (const uint16_t *)t->pin, *end = words + packed->words;
  (void)cm_book_reserved(t->pin, packed->released, NULL);
  for (uint32_t e = t->net_count; e-- > 0;) {
    uint64_t count = t->net_first[e + 1] - t->net_first[e];
    const uint16_t *begin = count > 0 ? step_back(words, end, count) : end, *from = begin;
    uint32_t last = 0;
    for (uint64_t i = 0; i < count; i++)
      packed->net[i] = last = cm_gap_go(last, cm_gap_take(&from));
    memcpy(t->pin + t->net_first[e], packed->net, count * sizeof *t->pin);
    end = begin;
  }
  cm_free(packed->net);
  *packed = (cm_packed_pins){0};
}
