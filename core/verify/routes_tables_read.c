/* Reading routing tables: entries by router, by key or in the order of the file. What is no entry is a violation and matches no
 * packet. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/verify/routes_checking.h"

/* Where an entry sends packets: behind what the entries before it have. */
static bool read_outs(cm_routes_checking *c, uint32_t router, const json_t *value, cm_stated_entry *entry)
{
  size_t most = json_is_array(value) ? json_array_size(value) : json_string_length(value);
  entry->out = c->outs;
  if (CM_ROOM(c->run->memory, c->out, &c->out_capacity, c->outs + most + 1, &(cm_error){0}) != CM_OK ||
      !c->geometry->read_outs(c, router, value, entry))
    return false;
  c->outs += entry->outs;
  return true;
}

static bool read_cores(const cm_routes_checking *c, const json_t *list, uint64_t *cores)
{
  uint64_t behind = (uint64_t)c->chip->router_x * c->chip->router_y;
  *cores = 0;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *value = json_array_get(list, i);
    json_int_t core = json_integer_value(value);
    if (!json_is_integer(value) || core < 0 || (uint64_t)core >= behind || *cores >> core & 1)
      return false;
    *cores |= UINT64_C(1) << core;
  }
  return json_is_array(list);
}

/* [key, mask, links, cores]; where the chip does not limit tables the mask leaves the lowest bits of a key open, and no others. */
static bool read_entry(cm_routes_checking *c, uint32_t router, const json_t *row, cm_stated_entry *entry)
{
  json_int_t key, mask;
  json_t *links, *cores;
  uint64_t all = c->key_bits == 0 ? 0 : UINT64_MAX >> (64 - c->key_bits);
  if (json_unpack((json_t *)(uintptr_t)row, "[I,I,o,o!]", &key, &mask, &links, &cores) != 0 || key < 0 || mask < 0)
    return false;
  uint64_t open = all & ~(uint64_t)mask;
  *entry = (cm_stated_entry){.key = (uint64_t)key, .open = open};
  return ((uint64_t)mask & ~all) == 0 && (c->block != NULL || (open & (open + 1)) == 0) && ((uint64_t)key & ~(uint64_t)mask) == 0 &&
         read_outs(c, router, links, entry) && read_cores(c, cores, &entry->cores) && (entry->outs != 0 || entry->cores != 0);
}

CM_ORDER(by_key, cm_stated_entry, CM_RISING(key) CM_RISING(open))

/* The router of a table, UINT32_MAX after a violation. */
static uint32_t router_of_table(cm_routes_checking *c, size_t index, const json_t *table, uint8_t *seen)
{
  const json_int_t number = c->geometry->router_of_table(c, table);
  if (number < 0 || number >= c->routers || !json_is_array(json_object_get(table, "entries"))) {
    routes_violation(c, "routes /tables/%zu is no router's: %s or entries", index, c->geometry->table_router);
    return UINT32_MAX;
  }
  uint32_t router = (uint32_t)number;
  if (seen[router]) {
    char name[CM_ROUTER_NAME_MAX];
    cm_router_name(c->routers_x, c->routers_y, router, name);
    routes_violation(c, "routes /tables/%zu: %s has a table already", index, name);
    return UINT32_MAX;
  }
  seen[router] = 1;
  return router;
}

/* Puts the entries of one table behind those of the routers before it. */
static void read_table(cm_routes_checking *c, size_t index, uint32_t router, const json_t *list)
{
  cm_stated_entry *into = c->entry + c->first[router];
  uint64_t count = 0;
  for (size_t i = 0; i < json_array_size(list); i++)
    if (read_entry(c, router, json_array_get(list, i), &into[count]))
      count++;
    else {
      into[count] = (cm_stated_entry){.key = UINT64_MAX, .used = true}; /* for no packet */
      count++;
      routes_violation(c, "routes /tables/%zu/entries/%zu is not [key, mask, links, cores] as keys of %u bits and this "
                       "chip have them", index, i, c->key_bits);
    }
  if (c->block != NULL)
    return;
  if (count > 0)
    qsort(into, count, sizeof *into, by_key);
  for (uint64_t i = 1; i < count; i++)
    if (into[i].key <= (into[i - 1].key | into[i - 1].open) && into[i].key != UINT64_MAX)
      routes_violation(c, "routes: router (%" PRIu32 ", %" PRIu32 ") has two entries for key %" PRIu64, router % c->routers_x,
                       router / c->routers_x, into[i].key);
}

/* The blocks of parts' keys, each part another. */
static cm_status read_blocks(cm_routes_checking *c, const json_t *list, cm_error *error)
{
  unsigned bits = c->key_bits - c->rank_bits;
  uint32_t last = bits >= 32 ? UINT32_MAX : (UINT32_C(1) << bits) - 1, *sorted;
  if (json_array_size(list) != c->parts)
    return cm_fail(error, CM_BAD_MAPPING, "the routes' \"keys\" need \"blocks\", one a part: the chip limits tables");
  CM_TRY(CM_NEW_ALL(c->run->memory, error, CM_ARRAY(c->block, c->parts), CM_ARRAY(sorted, c->parts)));
  cm_status status = CM_OK;
  for (uint32_t p = 0; p < c->parts && status == CM_OK; p++) {
    const json_t *value = json_array_get(list, p);
    json_int_t block = json_integer_value(value);
    if (!json_is_integer(value) || block < 0 || block > last)
      status = cm_fail(error, CM_BAD_MAPPING, "routes /keys/blocks/%" PRIu32 " is no block of keys: \"bits\" and \"rank_bits\" leave 0 to %" PRIu32, p, last);
    else
      c->block[p] = sorted[p] = (uint32_t)block;
  }
  if (status == CM_OK)
    qsort(sorted, c->parts, sizeof *sorted, cm_ascending);
  for (uint32_t p = 1; p < c->parts && status == CM_OK; p++)
    if (sorted[p] == sorted[p - 1])
      status = cm_fail(error, CM_BAD_MAPPING, "routes /keys/blocks: block %" PRIu32 " is two parts'", sorted[p]);
  cm_free(sorted);
  return status;
}

cm_status cm_routes_read_tables(cm_routes_checking *c, cm_error *error)
{
  const json_t *list = json_object_get(c->json, "tables"), *keys = json_object_get(c->json, "keys");
  const json_int_t bits = cm_routes_whole_of(keys, "bits"), rank_bits = cm_routes_whole_of(keys, "rank_bits");
  uint32_t *router = NULL;
  uint8_t *seen = NULL;
  size_t tables = json_array_size(list);
  if (bits < 0 || bits > 63 || rank_bits < 0 || rank_bits > bits || !json_is_array(list))
    return cm_fail(error, CM_BAD_MAPPING, "the routes' \"keys\" (\"bits\", \"rank_bits\") or \"tables\" are missing or out of range");
  c->key_bits = (unsigned)bits;
  c->rank_bits = (unsigned)rank_bits;
  CM_TRY_IF(c->chip->table_entries != 0, read_blocks(c, json_object_get(keys, "blocks"), error));
  CM_TRY_OR(CM_NEW_ALL(c->run->memory, error, CM_ARRAY(c->first, (size_t)c->routers + 1), CM_ARRAY(seen, c->routers),
                       CM_ARRAY(router, tables)), cm_free(seen));
  for (size_t i = 0; i < tables; i++) {
    const json_t *table = json_array_get(list, i);
    router[i] = router_of_table(c, i, table, seen);
    if (router[i] != UINT32_MAX)
      c->first[router[i] + 1] = json_array_size(json_object_get(table, "entries"));
  }
  for (uint32_t r = 0; r < c->routers; r++)
    c->first[r + 1] += c->first[r];
  cm_status status = CM_NEW(c->run->memory, c->entry, c->first[c->routers], error);
  for (size_t i = 0; status == CM_OK && i < tables; i++) {
    if (router[i] != UINT32_MAX)
      read_table(c, i, router[i], json_object_get(json_array_get(list, i), "entries"));
    status = cm_run_check(c->run, error);
  }
  CM_FREE(seen, router);
  return status;
}
