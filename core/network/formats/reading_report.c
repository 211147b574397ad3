#include "core/network/formats/reading_report.h"

#include <stdio.h>
#include <string.h>

#include "core/network/topology.h"

/* Bytes of a text that fit, without half a character of UTF-8. */
static size_t whole(const char *text, size_t length, size_t room)
{
  size_t fits = length < room ? length : room - 1;
  while (fits < length && fits > 0 && ((unsigned char)text[fits] & 0xc0) == 0x80)
    fits--;
  return fits;
}

void cm_reading_add(char list[CM_READING_TEXT_MAX], const char *text, size_t length)
{
  const size_t used = strlen(list), feed = used > 0 ? 1 : 0;
  if (used + feed + 2 > CM_READING_TEXT_MAX)
    return;
  const size_t fits = whole(text, length, CM_READING_TEXT_MAX - used - feed);
  (void)snprintf(list + used, CM_READING_TEXT_MAX - used, "%s%.*s", feed > 0 ? "\n" : "", (int)fits, text);
}

void cm_reading_why(cm_reading *reading, const char *why)
{
  (void)snprintf(reading->why, sizeof reading->why, "%s", why);
}

cm_reading_row *cm_reading_next(cm_reading *reading)
{
  return reading->rows == CM_READING_ROWS ? NULL : &reading->row[reading->rows++];
}

void cm_reading_name(char to[CM_READING_NAME_MAX], const char *text, size_t length)
{
  (void)snprintf(to, CM_READING_NAME_MAX, "%.*s", (int)whole(text, length, CM_READING_NAME_MAX), text);
}

static void name_vertex(char to[CM_READING_NAME_MAX], const cm_topology *t, uint32_t vertex)
{
  const char *label = cm_topology_label(t, vertex);
  if (label != NULL)
    cm_reading_name(to, label, strlen(label));
  else
    (void)snprintf(to, CM_READING_NAME_MAX, "%u", vertex);
}

void cm_reading_rows(cm_reading *reading, const cm_topology *t)
{
  for (uint32_t e = 0; e < t->net_count && reading->rows < CM_READING_ROWS; e++)
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++) {
      const uint32_t source = cm_topology_source(t, e);
      cm_reading_row *row = t->directed || source < t->pin[i] ? cm_reading_next(reading) : NULL;
      if (row == NULL)
        continue;
      name_vertex(row->source, t, source);
      name_vertex(row->target, t, t->pin[i]);
      row->weight = cm_topology_pin_value(t, e, i);
      row->delay_ms = t->pin_delay != NULL ? cm_topology_pin_delay_ms(t, i) : -1;
    }
}
