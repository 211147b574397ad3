/* Chips with the state of their cores. */
#include "base/json.h"
#include "library/internal.h"

cm_status library_chip_own(cm_chip *chip, const char *occupancy, size_t size, coremap_chip **made, cm_error *error)
{
  coremap_chip *c = calloc(1, sizeof *c);
  cm_status status = c == NULL            ? cm_whole(false, "a chip", error)
                     : occupancy == NULL ? cm_occupancy_new(chip, &c->occupancy, error)
                                         : cm_occupancy_parse(chip, occupancy, size, &c->occupancy, error);
  if (status != CM_OK) {
    cm_chip_free(chip);
    free(c);
    return status;
  }
  atomic_init(&c->owners, 1);
  c->chip = chip;
  *made = c;
  return CM_OK;
}

static size_t size_of(const char *text)
{
  return text != NULL ? strlen(text) : 0;
}

int coremap_chip_open(const char *name, const char *occupancy, coremap_chip **chip, coremap_error **error)
{
  cm_error e;
  cm_chip *opened;
  cm_status status = cm_chip_open(name, &opened, &e);
  CM_THEN(status, library_chip_own(opened, occupancy, size_of(occupancy), chip, &e));
  return library_tell(status, &e, error);
}

int coremap_chip_parse(const char *json, const char *occupancy, coremap_chip **chip, coremap_error **error)
{
  cm_error e;
  cm_chip *parsed;
  cm_status status = cm_chip_parse(json, strlen(json), &parsed, &e);
  CM_THEN(status, library_chip_own(parsed, occupancy, size_of(occupancy), chip, &e));
  return library_tell(status, &e, error);
}

int coremap_chip_mesh(uint32_t width, uint32_t height, const char *occupancy, coremap_chip **chip, coremap_error **error)
{
  cm_error e;
  cm_chip *made;
  cm_status status = cm_chip_mesh(width, height, &made, &e);
  CM_THEN(status, library_chip_own(made, occupancy, size_of(occupancy), chip, &e));
  return library_tell(status, &e, error);
}

const char *coremap_chip_preset(uint32_t index)
{
  const char *const *name = cm_chip_presets();
  for (uint32_t i = 0; i < index && *name != NULL; i++)
    name++;
  return *name;
}

uint32_t coremap_chip_width(const coremap_chip *chip)
{
  return chip->chip->width;
}

uint32_t coremap_chip_height(const coremap_chip *chip)
{
  return chip->chip->height;
}

uint32_t coremap_chip_free_cores(const coremap_chip *chip)
{
  return cm_occupancy_free_count(chip->occupancy);
}

char *coremap_chip_json(const coremap_chip *chip)
{
  cm_error ignored;
  char *text;
  return cm_chip_print(chip->chip, &text, &ignored) == CM_OK ? text : NULL;
}

int coremap_chip_occupancy(const coremap_chip *chip, char **json, coremap_error **error)
{
  cm_error e;
  return library_tell(cm_occupancy_print(chip->occupancy, chip->chip, json, &e), &e, error);
}

const uint8_t *coremap_chip_cores(const coremap_chip *chip, uint64_t *cores)
{
  *cores = cm_chip_cores(chip->chip);
  return chip->occupancy->state;
}

int coremap_chip_set_cores(coremap_chip *chip, const uint8_t *state, coremap_error **error)
{
  cm_error e;
  cm_occupancy *made = NULL;
  cm_status status = CM_OK;
  if (atomic_load(&chip->owners) > 1)
    status = cm_fail(&e, CM_CONFLICT, "the chip has mappings, which keep its cores as they are: set states before anything is mapped");
  for (uint32_t c = 0; status == CM_OK && c < cm_chip_cores(chip->chip); c++)
    if (state[c] > CM_CORE_BROKEN) {
      (void)cm_fail(&e, CM_BAD_OCCUPANCY, "core %u is in state %u; 0 is free, 1 taken, 2 broken", c, state[c]);
      status = cm_fail_at(&e, "core %u", c);
    }
  CM_THEN(status, cm_occupancy_new(chip->chip, &made, &e));
  for (uint32_t c = 0; status == CM_OK && c < cm_chip_cores(chip->chip); c++)
    if (made->state[c] != CM_CORE_BROKEN)
      made->state[c] = state[c];
  if (status == CM_OK) {
    cm_occupancy_free(chip->occupancy);
    chip->occupancy = made;
  }
  return library_tell(status, &e, error);
}

/* ---- what it is ---- */

static json_t *pair(uint32_t x, uint32_t y)
{
  return json_pack("[I, I]", (json_int_t)x, (json_int_t)y);
}

static void set_limit(json_t *limits, const char *name, uint64_t limit)
{
  if (limit != 0)
    (void)json_object_set_new(limits, name, json_integer((json_int_t)limit));
}

static json_t *limits_json(const cm_limits *limits)
{
  json_t *made = json_object();
  set_limit(made, "neurons", limits->neurons);
  set_limit(made, "synapses", limits->synapses);
  set_limit(made, "inbound_axons", limits->inbound_axons);
  set_limit(made, "outbound_axons", limits->outbound_axons);
  set_limit(made, "target_cores", limits->target_cores);
  set_limit(made, "source_cores", limits->source_cores);
  set_limit(made, "memory_bits", limits->memory_bits);
  set_limit(made, "populations", limits->populations);
  return made;
}

static json_t *neuron_limits_json(const cm_limits *limits)
{
  json_t *made = json_object();
  set_limit(made, "fan_in", limits->fan_in);
  set_limit(made, "target_cores", limits->neuron_target_cores);
  set_limit(made, "near_synapses", limits->near_synapses);
  set_limit(made, "far_synapses", limits->far_synapses);
  return made;
}

static json_t *costs_json(const cm_hop_cost *c)
{
  return json_pack("{s:f, s:f, s:f, s:f}", "router", c->router, "east_west", c->east_west, "north_south", c->north_south, "die_to_die",
                   c->die_to_die);
}

static json_t *classes_json(const cm_chip *chip)
{
  json_t *all = json_array();
  for (uint32_t k = 0; k < chip->class_count; k++) {
    const cm_core_class *c = &chip->classes[k];
    uint32_t cores = 0;
    for (uint32_t i = 0; i < cm_chip_cores(chip); i++)
      cores += chip->class_of[i] == k + 1;
    json_t *labels = json_array();
    for (uint32_t i = 0; i < c->label_count; i++)
      (void)json_array_append_new(labels, json_string(c->label[i]));
    (void)json_array_append_new(all, json_pack("{s:s, s:I, s:o, s:o*, s:o*}", "name", c->name, "cores", (json_int_t)cores, "labels", labels,
                                               "limits", c->own_limits ? limits_json(&c->limits) : NULL, "pinned_only", c->pinned_only ? json_true() : NULL));
  }
  return all;
}

static json_t *occupancy_json(const cm_chip *chip, const cm_occupancy *occupancy, const cm_fragmentation *f)
{
  json_int_t broken = 0, cores = cm_chip_cores(chip);
  for (uint32_t c = 0; c < cm_chip_cores(chip); c++)
    broken += occupancy->state[c] == CM_CORE_BROKEN;
  return json_pack("{s:I, s:I, s:I, s:f, s:I, s:I, s:I}", "free", (json_int_t)f->free, "taken", cores - f->free - broken, "broken", broken,
                   "fragmentation", f->value, "pieces", (json_int_t)f->pieces, "largest_piece", (json_int_t)f->largest_piece,
                   "largest_rectangle", (json_int_t)f->largest_rectangle);
}

int coremap_chip_about(const coremap_chip *of, char **json, coremap_error **error)
{
  cm_error e;
  cm_fragmentation f;
  const cm_chip *chip = of->chip;
  const uint64_t refusals = cm_json_refusals();
  if (cm_fragmentation_of(of->occupancy, &f, &e) != CM_OK)
    return library_tell(e.status, &e, error);
  json_t *stated = cm_chip_json(chip);
  const char *kind = json_string_value(json_object_get(json_object_get(stated, "interconnect"), "kind"));
  json_t *made = json_pack(
    "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:s, s:[b, b], s:I, s:o, s:o, s:I, s:I, s:o, s:o}", "name", chip->name, "description",
    chip->description, "cores", pair(chip->width, chip->height), "dies", pair(chip->dies_x, chip->dies_y), "die_cores",
    pair(chip->die_width, chip->die_height), "router_cores", pair(chip->router_x, chip->router_y), "limits", limits_json(&chip->limits),
    "neuron_limits", neuron_limits_json(&chip->limits), "relays", chip->relays, "interconnect", kind != NULL ? kind : "mesh", "torus",
    chip->torus_x, chip->torus_y, "table_entries", (json_int_t)chip->table_entries, "energy_pj", costs_json(&chip->energy_pj),
    "latency_ns", costs_json(&chip->latency_ns), "dead_cores", (json_int_t)chip->dead_core_count, "dead_links",
    (json_int_t)chip->dead_link_count, "classes", classes_json(chip), "occupancy", occupancy_json(chip, of->occupancy, &f));
  json_decref(stated);
  return library_tell(library_whole_text(made, refusals, json, &e), &e, error);
}

void coremap_chip_free(coremap_chip *chip)
{
  if (chip == NULL || atomic_fetch_sub(&chip->owners, 1) > 1)
    return;
  cm_occupancy_free(chip->occupancy);
  cm_chip_free(chip->chip);
  free(chip);
}
