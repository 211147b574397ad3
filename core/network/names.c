#include "core/network/names.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "core/network/import_limits.h"
#include "core/network/topology.h"

enum { SLOTS_FIRST = 1024 };

_Static_assert(sizeof((cm_names *)0)->key == crypto_shorthash_KEYBYTES, "the key of the hash");

cm_status cm_names_open(cm_names *names, cm_memory *memory, cm_error *error)
{
  cm_names made = {.memory = memory, .slot_count = SLOTS_FIRST};
  if (sodium_init() < 0)
    return cm_fail(error, CM_INTERNAL, "libsodium does not start");
  randombytes_buf(made.key, sizeof made.key);
  if (CM_NEW(memory, made.slot, made.slot_count, error) != CM_OK ||
      CM_ROOM(memory, made.first, &made.first_room, 1, error) != CM_OK ||
      CM_ROOM(memory, made.text, &made.text_room, 1, error) != CM_OK) {
    cm_names_close(&made);
    return error->status;
  }
  made.first[0] = 0;
  *names = made;
  return CM_OK;
}

static uint64_t hash(const cm_names *names, const char *name, size_t length)
{
  uint64_t value;
  unsigned char bytes[crypto_shorthash_BYTES];
  crypto_shorthash(bytes, (const unsigned char *)name, length, names->key);
  memcpy(&value, bytes, sizeof value);
  return value;
}

static cm_status rehash(cm_names *names, cm_error *error)
{
  uint64_t *slot, slot_count = names->slot_count * 2;
  CM_TRY(CM_NEW(names->memory, slot, slot_count, error));
  for (uint32_t i = 0; i < names->count; i++) {
    uint64_t value = hash(names, names->text + names->first[i], names->first[i + 1] - names->first[i] - 1);
    uint64_t at = value % slot_count;
    while (slot[at] != 0)
      at = (at + 1) % slot_count;
    slot[at] = value >> 32 << 32 | (i + 1);
  }
  cm_free(names->slot);
  names->slot = slot;
  names->slot_count = slot_count;
  return CM_OK;
}

/* The slot of a name, or the free one for it. */
static bool find(const cm_names *names, const char *name, size_t length, uint64_t value, uint64_t *at, uint32_t *number)
{
  for (*at = value % names->slot_count; names->slot[*at] != 0; *at = (*at + 1) % names->slot_count) {
    uint32_t i = (uint32_t)names->slot[*at] - 1;
    if (names->slot[*at] >> 32 == value >> 32 && names->first[i + 1] - names->first[i] - 1 == length &&
        memcmp(names->text + names->first[i], name, length) == 0) {
      *number = i;
      return true;
    }
  }
  return false;
}

bool cm_names_find(const cm_names *names, const char *name, size_t length, uint32_t *number)
{
  uint64_t at;
  return find(names, name, length, hash(names, name, length), &at, number);
}

cm_status cm_names_number(cm_names *names, const char *name, size_t length, uint32_t maximum, uint32_t *number, cm_error *error)
{
  uint64_t value = hash(names, name, length), at;
  if (find(names, name, length, value, &at, number))
    return CM_OK;
  if (names->count >= maximum)
    return cm_over_limit("vertices", (uint64_t)names->count + 1, maximum, error);
  uint64_t begin = names->first[names->count];
  CM_TRY(CM_ROOM(names->memory, names->first, &names->first_room, (uint64_t)names->count + 2, error));
  CM_TRY(CM_ROOM(names->memory, names->text, &names->text_room, begin + length + 1, error));
  memcpy(names->text + begin, name, length);
  names->text[begin + length] = '\0';
  names->first[names->count + 1] = begin + length + 1;
  names->slot[at] = value >> 32 << 32 | (names->count + 1);
  *number = names->count++;
  return (uint64_t)names->count * 2 > names->slot_count ? rehash(names, error) : CM_OK;
}

void cm_names_close(cm_names *names)
{
  CM_FREE(names->text, names->first, names->slot);
  *names = (cm_names){0};
}

cm_status cm_labels_add(cm_topology *topology, cm_memory *memory, uint64_t *room, uint32_t vertex, const char *name, cm_error *error)
{
  const uint64_t used = topology->label_first[vertex], size = strlen(name) + 1;
  CM_TRY(CM_ROOM(memory, topology->label_text, room, used + size, error));
  memcpy(topology->label_text + used, name, size);
  topology->label_first[vertex + 1] = used + size;
  return CM_OK;
}

void cm_labels_take(cm_topology *topology, cm_names *names)
{
  bool same = true;
  char number[16];
  for (uint32_t i = 0; i < names->count && same; i++) {
    (void)snprintf(number, sizeof number, "%u", i);
    same = strcmp(number, names->text + names->first[i]) == 0;
  }
  if (same)
    return;
  CM_TRIM(names->memory, names->text, names->first[names->count]);
  CM_TRIM(names->memory, names->first, (uint64_t)names->count + 1);
  topology->label_text = names->text;
  topology->label_first = names->first;
  names->text = NULL;
  names->first = NULL;
}

/* At most room - 1 bytes of a text, in whole characters. */
static void cut(char *to, size_t room, const char *text)
{
  size_t length = strlen(text);
  if (length >= room)
    for (length = room - 1; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;)
      length--;
  memcpy(to, text, length);
  to[length] = '\0';
}

cm_status cm_populations_take(cm_topology *topology, const cm_names *names, uint32_t **number, cm_memory *memory, cm_error *error)
{
  if (names->count > CM_POPULATIONS_MAX)
    return cm_over_limit("populations", names->count, CM_POPULATIONS_MAX, error);
  CM_TRY(CM_NEW(memory, topology->population, names->count, error));
  for (uint32_t p = 0; p < names->count; p++)
    cut(topology->population[p].name, sizeof topology->population[p].name, names->text + names->first[p]);
  topology->population_count = names->count;
  topology->population_of = *number;
  *number = NULL;
  return CM_OK;
}

bool cm_name_valid(const char *name, size_t length)
{
  const unsigned char *p = (const unsigned char *)name, *end = p + length;
  while (p < end) {
    unsigned more = *p < 0x80 ? 0 : *p >> 5 == 6 ? 1 : *p >> 4 == 14 ? 2 : *p >> 3 == 30 ? 3 : 4;
    if (more == 4 || (size_t)(end - p) <= more || *p < ' ' || *p == 0x7f)
      return false;
    uint32_t code = more == 0 ? *p : *p & (0x3fU >> more);
    for (unsigned i = 1; i <= more; i++) {
      if (p[i] >> 6 != 2)
        return false;
      code = code << 6 | (p[i] & 0x3f);
    }
    /* The shortest form only, no surrogates, nothing past the last plane. */
    if ((more == 1 && code < 0x80) || (more == 2 && (code < 0x800 || code >> 11 == 27)) ||
        (more == 3 && (code < 0x10000 || code > 0x10ffff)))
      return false;
    p += more + 1;
  }
  return true;
}
