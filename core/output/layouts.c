#include "core/output/layouts.h"

#include <string.h>

enum { MAGIC_BYTES = 8, FIELD_BYTES = 4 };

static const char core_fields[] =
  "u32 part u32 neurons u32 synapses u32 inbound_axons u32 outbound_axons u32 target_cores f32 traffic_in f32 traffic_out f32 congestion";
static const char link_fields[] = "f32 east f32 west f32 south f32 north";

static const struct {
  const char *magic, *views, *head, *count, *of, *record;
} layouts[] = {
  {"CMNEURO1", "neurons", "u32 neurons u32 parts", "neurons", "a neuron, in order", "u32 part"},
  {"CMCORES1", "cores", "u32 width u32 height", "width height", "a core of the chip, row by row; part 4294967295: none", core_fields},
  {"CMCORES2", "cores", "u32 width u32 height u32 x u32 y u32 columns u32 rows", "columns rows",
   "a core of a box of the chip, row by row; part 4294967295: none", core_fields},
  {"CMCORES3", "cores", "u32 width u32 height u32 x u32 y u32 columns u32 rows u32 block", "columns rows",
   "a block of that many cores each way, row by row: how many are used, then the most that one of them has",
   "u32 used u32 neurons u32 synapses u32 inbound_axons u32 outbound_axons u32 target_cores f32 traffic_in f32 traffic_out f32 congestion"},
  {"CMLINKS1", "links routes", "u32 routers_x u32 routers_y", "routers_x routers_y", "a router, row by row: loads of the links that leave it", link_fields},
  {"CMLINKS2", "links routes", "u32 routers_x u32 routers_y u32 x u32 y u32 columns u32 rows", "columns rows",
   "a router of a box, row by row: loads of the links that leave it", link_fields},
  {"CMLINKS3", "links routes", "u32 routers u32 links", "links", "a link of an interconnect", "u32 from u32 to f32 load"},
};

/* The next of words between spaces, as a text; NULL: there are no more, or no memory. */
static json_t *next_word(const char **words)
{
  const size_t length = strcspn(*words, " ");
  json_t *word = length > 0 ? json_stringn(*words, length) : NULL;
  *words += length;
  *words += strspn(*words, " ");
  return word;
}

static json_t *words_json(const char *words)
{
  json_t *list = json_array(), *word;
  while ((word = next_word(&words)) != NULL)
    (void)json_array_append_new(list, word);
  return list;
}

/* Fields from `offset` on, and where they end in it. */
static json_t *fields_json(const char *fields, int *offset)
{
  json_t *list = json_array(), *type;
  while ((type = next_word(&fields)) != NULL) {
    (void)json_array_append_new(list, json_pack("{s:o, s:o, s:i}", "name", next_word(&fields), "type", type, "offset", *offset));
    *offset += FIELD_BYTES;
  }
  return list;
}

json_t *cm_layouts_json(void)
{
  json_t *rows = json_array();
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
    int head = MAGIC_BYTES, record = 0;
    json_t *head_fields = fields_json(layouts[i].head, &head), *fields = fields_json(layouts[i].record, &record);
    (void)json_array_append_new(rows, json_pack("{s:s, s:o, s:i, s:o, s:o, s:s, s:i, s:o}", "magic", layouts[i].magic, "views", words_json(layouts[i].views),
                                                "head_bytes", head, "head", head_fields, "count", words_json(layouts[i].count), "of", layouts[i].of,
                                                "record_bytes", record, "record", fields));
  }
  return rows;
}
