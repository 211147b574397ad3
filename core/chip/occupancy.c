/* The state of every core of a chip. What can fail: changes that are malformed, name cores outside the chip
 * or want what others hold; memory. A change is journalled and rolled back on failure. occupancy_print.c prints what is read here. */
#include "core/chip/occupancy.h"

#include <inttypes.h>

#include "base/foreign.h"
#include "base/json.h"
#include "base/order.h"
#include "core/chip/json.h"

enum { OWNER_NAME_MAX = 128, OCCUPANCY_BYTES_MAX = 64 << 20 };

void cm_occupancy_free(cm_occupancy *occupancy)
{
  if (occupancy == NULL)
    return;
  for (uint32_t i = 0; i < occupancy->owner_count; i++)
    cm_free(occupancy->owners[i]);
  CM_FREE(occupancy->owners, occupancy->state, occupancy->owner, occupancy);
}

/* The index of an owner's name, added when new. */
static cm_status owner_index(cm_occupancy *occupancy, const char *name, uint32_t *index, cm_error *error)
{
  for (uint32_t i = 0; i < occupancy->owner_count; i++)
    if (strcmp(occupancy->owners[i], name) == 0) {
      *index = i;
      return CM_OK;
    }
  char **grown = cm_reallocate(NULL, occupancy->owners, (size_t)occupancy->owner_count + 1, sizeof *grown, error);
  if (grown == NULL)
    return error->status;
  occupancy->owners = grown;
  size_t length = strlen(name);
  char *copy;
  CM_TRY(CM_NEW(NULL, copy, length + 1, error));
  memcpy(copy, name, length + 1);
  *index = occupancy->owner_count;
  occupancy->owners[occupancy->owner_count++] = copy;
  return CM_OK;
}

cm_status cm_occupancy_new(const cm_chip *chip, cm_occupancy **occupancy, cm_error *error)
{
  cm_occupancy *fresh;
  uint32_t none;
  CM_TRY(CM_NEW(NULL, fresh, 1, error));
  fresh->width = chip->width;
  fresh->height = chip->height;
  CM_TRY_OR(CM_NEW_ALL(NULL, error, CM_ARRAY(fresh->state, cm_chip_cores(chip)), CM_ARRAY(fresh->owner, cm_chip_cores(chip))),
            cm_occupancy_free(fresh));
  CM_TRY_OR(owner_index(fresh, "", &none, error), cm_occupancy_free(fresh));
  for (uint32_t i = 0; i < chip->dead_core_count; i++)
    fresh->state[chip->dead_cores[i]] = CM_CORE_BROKEN;
  *occupancy = fresh;
  return CM_OK;
}

uint32_t cm_occupancy_next(const cm_occupancy *occupancy, uint32_t from, cm_core_state state)
{
  uint32_t cores = occupancy->width * occupancy->height;
  const uint8_t *found = from < cores ? memchr(occupancy->state + from, (int)state, cores - from) : NULL;
  return found == NULL ? cores : (uint32_t)(found - occupancy->state);
}

uint32_t cm_occupancy_free_count(const cm_occupancy *occupancy)
{
  uint32_t count = 0, cores = occupancy->width * occupancy->height;
  const uint8_t *state = occupancy->state;
  for (uint32_t i = 0; i < cores; i++)
    count += state[i] == CM_CORE_FREE;
  return count;
}

/* What a core was before the change under way. */
typedef struct entry {
  uint32_t core, owner;
  uint8_t state;
} entry;

typedef struct change {
  cm_occupancy *occupancy;
  const cm_chip *chip;
  const char *owner_name; /* NULL: the change names none */
  uint32_t owner;
  entry *journal;
  uint64_t used, room;
  uint64_t named; /* cores named so far, for the limit */
} change;

static cm_status set(change *c, uint32_t core, cm_core_state state, uint32_t owner, cm_error *error)
{
  cm_occupancy *occupancy = c->occupancy;
  if (occupancy->state[core] == state && occupancy->owner[core] == owner)
    return CM_OK;
  CM_TRY(CM_ROOM(NULL, c->journal, &c->room, c->used + 1, error));
  c->journal[c->used++] = (entry){core, occupancy->owner[core], occupancy->state[core]};
  occupancy->state[core] = (uint8_t)state;
  occupancy->owner[core] = owner;
  return CM_OK;
}

static bool is_dead(const cm_chip *chip, uint32_t core)
{
  uint32_t low = 0, high = chip->dead_core_count;
  CM_BISECT(low, high, middle, chip->dead_cores[middle] < core)
  return low < chip->dead_core_count && chip->dead_cores[low] == core;
}

/* Dead cores of a description are the description's matter. */
cm_status cm_occupancy_carry(const cm_occupancy *before, const cm_chip *old, cm_occupancy *after, cm_error *error)
{
  uint32_t index;
  for (uint32_t i = 0; i < before->owner_count; i++) /* both have "" first, and so equal indices */
    CM_TRY(owner_index(after, before->owners[i], &index, error));
  for (uint32_t core = 0; core < before->width * before->height; core++) {
    const uint32_t x = core % before->width, y = core / before->width, now = y * after->width + x;
    if (before->state[core] == CM_CORE_FREE || x >= after->width || y >= after->height || after->state[now] != CM_CORE_FREE ||
        (before->state[core] == CM_CORE_BROKEN && is_dead(old, core)))
      continue;
    after->state[now] = before->state[core];
    after->owner[now] = before->owner[core];
  }
  return CM_OK;
}

typedef cm_status (*action)(change *c, uint32_t core, cm_error *error);

static cm_status refuse(const change *c, uint32_t core, const char *wish, cm_error *error)
{
  uint32_t x = core % c->chip->width, y = core / c->chip->width;
  if (c->occupancy->state[core] == CM_CORE_BROKEN)
    cm_fail(error, CM_CONFLICT, "core (%" PRIu32 ", %" PRIu32 ") cannot be %s: it is broken", x, y, wish);
  else
    cm_fail(error, CM_CONFLICT, "core (%" PRIu32 ", %" PRIu32 ") cannot be %s: it is taken by \"%s\"", x, y,
            wish, c->occupancy->owners[c->occupancy->owner[core]]);
  return error->status;
}

static cm_status occupy(change *c, uint32_t core, cm_error *error)
{
  uint8_t state = c->occupancy->state[core];
  if (state == CM_CORE_BROKEN || (state == CM_CORE_TAKEN && c->occupancy->owner[core] != c->owner))
    return refuse(c, core, "occupied", error);
  return set(c, core, CM_CORE_TAKEN, c->owner, error);
}

static cm_status release(change *c, uint32_t core, cm_error *error)
{
  if (c->occupancy->state[core] != CM_CORE_TAKEN)
    return CM_OK;
  if (c->owner_name != NULL && c->occupancy->owner[core] != c->owner)
    return refuse(c, core, "released", error);
  return set(c, core, CM_CORE_FREE, 0, error);
}

static cm_status breaks(change *c, uint32_t core, cm_error *error)
{
  return set(c, core, CM_CORE_BROKEN, 0, error);
}

static cm_status repair(change *c, uint32_t core, cm_error *error)
{
  if (c->occupancy->state[core] != CM_CORE_BROKEN || is_dead(c->chip, core))
    return CM_OK;
  return set(c, core, CM_CORE_FREE, 0, error);
}

/* Applies one action to every core that a list of rectangles names; NULL: nothing. */
static cm_status apply_list(change *c, const json_t *list, const char *where, action act, cm_error *error)
{
  if (list == NULL)
    return CM_OK;
  if (!json_is_array(list))
    return cm_json_fail(error, CM_BAD_OCCUPANCY, where, "%s: expected a list of cores and rectangles", where);
  uint32_t width = c->chip->width, height = c->chip->height;
  const cm_rectangles from = {list, where, width, height, CM_BAD_OCCUPANCY};
  for (size_t i = 0; i < json_array_size(list); i++) {
    cm_rectangle r;
    cm_status status = cm_rectangle_read(&from, i, &r, error);
    CM_TRY(status);
    c->named += (uint64_t)(r.x1 - r.x0 + 1) * (r.y1 - r.y0 + 1);
    if (c->named > cm_named_cores_max(width, height))
      return cm_json_fail(error, CM_BAD_OCCUPANCY, where, "%s: the rectangles repeat the chip's cores too often",
                          where);
    for (uint32_t y = r.y0; y <= r.y1; y++)
      for (uint32_t x = r.x0; x <= r.x1; x++)
        if ((status = act(c, y * width + x, error)) != CM_OK) {
          if (status == CM_CONFLICT)
            (void)cm_fail_at(error, "%s/%zu", where, i);
          return status;
        }
  }
  return CM_OK;
}

static cm_status read_owner(const json_t *value, const char *where, const char **name, cm_error *error)
{
  const char *text = json_string_value(value);
  if (text == NULL || json_string_length(value) > OWNER_NAME_MAX)
    return cm_json_fail(error, CM_BAD_OCCUPANCY, where, "%s: expected a text of at most %d bytes", where,
                        OWNER_NAME_MAX);
  *name = text;
  return CM_OK;
}

static cm_status check_owner(const char *name, const char *where, cm_error *error)
{
  if (cm_foreign_is_plain(name, CM_FOREIGN_LINE))
    return CM_OK;
  return cm_json_fail(error, CM_BAD_OCCUPANCY, where, "%s: expected a text without control characters", where);
}

cm_status cm_occupancy_check_owners(const cm_occupancy *occupancy, cm_error *error)
{
  for (uint32_t i = 0; i < occupancy->owner_count; i++)
    CM_TRY(check_owner(occupancy->owners[i], "/taken", error));
  return CM_OK;
}

static cm_status apply_change(change *c, const json_t *fields, cm_error *error)
{
  static const char *const names[] = {"occupy", "release", "broken", "repaired", "owner", NULL};
  if (!json_is_object(fields))
    return cm_fail(error, CM_BAD_OCCUPANCY, "the change must be one JSON object");
  cm_status status = cm_json_known_fields(fields, "", names, CM_BAD_OCCUPANCY, error);
  CM_TRY(status);
  const json_t *owner = json_object_get(fields, "owner");
  if (owner != NULL && ((status = read_owner(owner, "/owner", &c->owner_name, error)) != CM_OK ||
                        (status = check_owner(c->owner_name, "/owner", error)) != CM_OK ||
                        (status = owner_index(c->occupancy, c->owner_name, &c->owner, error)) != CM_OK))
    return status;
  /* What becomes free comes first: one change may free cores and take them. */
  CM_TRY(apply_list(c, json_object_get(fields, "release"), "/release", release, error));
  CM_TRY(apply_list(c, json_object_get(fields, "repaired"), "/repaired", repair, error));
  CM_TRY(apply_list(c, json_object_get(fields, "occupy"), "/occupy", occupy, error));
  return apply_list(c, json_object_get(fields, "broken"), "/broken", breaks, error);
}

cm_status cm_occupancy_apply(cm_occupancy *occupancy, const cm_chip *chip, const json_t *fields,
                             cm_error *error)
{
  uint32_t owners = occupancy->owner_count;
  change c = {.occupancy = occupancy, .chip = chip};
  cm_status status = apply_change(&c, fields, error);
  if (status != CM_OK) {
    while (c.used > 0) {
      const entry *before = &c.journal[--c.used];
      occupancy->state[before->core] = before->state;
      occupancy->owner[before->core] = before->owner;
    }
    while (occupancy->owner_count > owners)
      cm_free(occupancy->owners[--occupancy->owner_count]);
  }
  cm_free(c.journal);
  return status;
}

/* One {"owner", "cores"} of a state. Names are distinct in what we print, so looking one up is only needed to
 * refuse what we would not print; the linear search is bounded by the size of the text. */
static cm_status read_taken(change *c, const json_t *taken, cm_error *error)
{
  static const char *const names[] = {"owner", "cores", NULL};
  if (taken != NULL && !json_is_array(taken))
    return cm_json_fail(error, CM_BAD_OCCUPANCY, "/taken", "/taken: expected a list");
  for (size_t i = 0; i < json_array_size(taken); i++) {
    char where[64], place[80];
    (void)snprintf(where, sizeof where, "/taken/%zu", i);
    const json_t *group = json_array_get(taken, i);
    if (!json_is_object(group))
      return cm_json_fail(error, CM_BAD_OCCUPANCY, where, "%s: expected {\"owner\", \"cores\"}", where);
    cm_status status = cm_json_known_fields(group, where, names, CM_BAD_OCCUPANCY, error);
    (void)snprintf(place, sizeof place, "%s/owner", where);
    if (status != CM_OK ||
        (status = read_owner(json_object_get(group, "owner"), place, &c->owner_name, error)) != CM_OK ||
        (status = owner_index(c->occupancy, c->owner_name, &c->owner, error)) != CM_OK)
      return status;
    (void)snprintf(place, sizeof place, "%s/cores", where);
    CM_TRY(apply_list(c, json_object_get(group, "cores"), place, occupy, error));
  }
  return CM_OK;
}

static cm_status check_size(const json_t *root, const char *name, uint32_t size, cm_error *error)
{
  const json_t *value = json_object_get(root, name);
  if (value == NULL || (json_is_integer(value) && json_integer_value(value) == (json_int_t)size))
    return CM_OK;
  char where[32];
  (void)snprintf(where, sizeof where, "/%s", name);
  return cm_json_fail(error, CM_BAD_OCCUPANCY, where, "%s: the chip's is %" PRIu32, where, size);
}

/* A state as cm_occupancy_print writes it. "chip" and "free" are for readers: the chip is the one given, and
 * free cores are counted anew. */
static cm_status read_state(change *c, const json_t *root, cm_error *error)
{
  static const char *const names[] = {"chip", "width", "height", "free", "taken", "broken", "fragmentation", NULL};
  cm_status status = cm_json_known_fields(root, "", names, CM_BAD_OCCUPANCY, error);
  CM_TRY(status);
  CM_TRY(check_size(root, "width", c->chip->width, error));
  CM_TRY(check_size(root, "height", c->chip->height, error));
  CM_TRY(read_taken(c, json_object_get(root, "taken"), error));
  return apply_list(c, json_object_get(root, "broken"), "/broken", breaks, error);
}

cm_status cm_occupancy_parse(const cm_chip *chip, const char *json, size_t size, cm_occupancy **occupancy,
                             cm_error *error)
{
  static const cm_document kind = {"occupancy", OCCUPANCY_BYTES_MAX, CM_BAD_OCCUPANCY};
  json_t *root;
  CM_TRY(cm_json_load(json, size, &kind, &root, error));
  cm_occupancy *fresh = NULL;
  cm_status status = cm_occupancy_new(chip, &fresh, error);
  if (status == CM_OK) {
    change c = {.occupancy = fresh, .chip = chip};
    bool is_change = json_object_get(root, "occupy") != NULL || json_object_get(root, "release") != NULL ||
                     json_object_get(root, "repaired") != NULL || json_object_get(root, "owner") != NULL;
    status = is_change ? apply_change(&c, root, error) : read_state(&c, root, error);
    cm_free(c.journal);
  }
  json_decref(root);
  CM_END(status, *occupancy = fresh, cm_occupancy_free(fresh));
}
