#include "core/base/json.h"

#include <stdlib.h>

static _Thread_local uint64_t refusals;

static void *allocate(size_t size)
{
  void *block = malloc(size);
  if (block == NULL)
    refusals++;
  return block;
}

/* Before main, because jansson has to allocate and free by the same pair; malloc and free are also its own. */
__attribute__((constructor)) static void count_refusals(void)
{
  json_set_alloc_funcs(allocate, free);
}

uint64_t cm_json_refusals(void)
{
  return refusals;
}

json_t *cm_json_loadb(const char *text, size_t size, size_t flags, json_error_t *where)
{
  uint64_t before = refusals;
  json_t *root = json_loadb(text, size, flags, where);
  if (refusals == before)
    return root;
  json_decref(root);
  return NULL;
}

cm_status cm_json_whole(uint64_t before, const char *what, cm_error *error)
{
  return refusals == before ? CM_OK : cm_fail(error, CM_NO_MEMORY, "out of memory for %s", what);
}
