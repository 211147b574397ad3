#include "core/partition/contacts.h"

#include <string.h>

static void sort_by(bool low, const cm_contact *from, cm_contact *to, uint32_t count, uint32_t *counter, uint32_t parts)
{
  memset(counter, 0, ((size_t)parts + 1) * sizeof *counter);
  for (uint32_t i = 0; i < count; i++)
    counter[(low ? from[i].low : from[i].high) + 1]++;
  for (uint32_t p = 0; p < parts; p++)
    counter[p + 1] += counter[p];
  for (uint32_t i = 0; i < count; i++)
    to[counter[low ? from[i].low : from[i].high]++] = from[i];
}

void cm_contacts_sort(cm_contact *contact, cm_contact *spare, uint32_t count, uint32_t *counter, uint32_t parts)
{
  sort_by(false, contact, spare, count, counter, parts);
  sort_by(true, spare, contact, count, counter, parts);
}
