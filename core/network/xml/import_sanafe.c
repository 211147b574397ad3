/* SANA-FE's networks: YAML of groups, edges and mappings, an item a line, as it and our own export write them; or the netlist of its
 * first version, "g 6 ...", "e 0.0->0.3 weight=1".
 *
 * Happy path: keys at the margin say which section follows, an item's first line what it is, the lines below it its attributes. What can
 * fail: edges of whole groups, flow style, compartments of dendrites, neurons that no group has; see xml_graph.c. */
#include <stdio.h>
#include <string.h>

#include "core/network/formats/readers.h"
#include "core/network/formats/table_rows.h"
#include "core/network/xml/xml_graph.h"

typedef enum section { OTHERS, ARCHITECTURE, NETWORK, GROUPS, NEURONS, EDGES, MAPPINGS } section;

typedef struct sanafe {
  cm_xml_graph graph;
  cm_xml position; /* for messages */
  cm_table table;
  section section;
  size_t items_at;             /* how far items of the section are indented; SIZE_MAX: none has been met */
  char group[CM_KEY_MAX];      /* under way */
  char unit[CM_KEY_MAX];       /* of the architecture, the last that was named */
  char input_unit[CM_KEY_MAX]; /* the one that feeds spikes in */
  unsigned groups; /* of a netlist */
} sanafe;

static cm_status bad(sanafe *s, const char *what, const cm_field *shown, cm_error *error)
{
  s->position.line = (unsigned long)s->table.line;
  return cm_xml_bad(&s->position, cm_say("'%.*s' %s", cm_field_shown(shown), shown->text, what).text, error);
}

/* ---- texts ---- */

static bool blank(char c)
{
  return c == ' ' || c == '\t';
}

static cm_field trim(const char *text, size_t length)
{
  while (length > 0 && blank(*text)) {
    text++;
    length--;
  }
  while (length > 0 && blank(text[length - 1]))
    length--;
  if (length > 1 && (*text == '"' || *text == '\'') && text[length - 1] == *text)
    return (cm_field){text + 1, length - 2};
  return (cm_field){text, length};
}

static bool is(const cm_field *f, const char *word)
{
  return f->length == strlen(word) && memcmp(f->text, word, f->length) == 0;
}

/* A comment begins at a line's beginning or behind a blank. */
static size_t without_comment(const char *line, size_t length)
{
  for (size_t i = 0; i < length; i++)
    if (line[i] == '#' && (i == 0 || blank(line[i - 1])))
      return i;
  return length;
}

/* "key: value"; no colon: all of it is the key. */
static void part(const cm_field *f, cm_field *key, cm_field *value)
{
  size_t i = 0;
  while (i < f->length && !(f->text[i] == ':' && (i + 1 == f->length || blank(f->text[i + 1]))))
    i++;
  *key = trim(f->text, i);
  *value = i < f->length ? trim(f->text + i + 1, f->length - i - 1) : (cm_field){f->text + i, 0};
}

/* The value of an attribute, at whatever depth of brackets, behind `sign`; false: it is not there. */
static bool attribute(const cm_field *f, const char *name, char sign, cm_field *value)
{
  const size_t length = strlen(name);
  for (size_t i = 0; i + length < f->length; i++) {
    if (memcmp(f->text + i, name, length) != 0 || f->text[i + length] != sign ||
        (i > 0 && strchr("[{, \t", f->text[i - 1]) == NULL))
      continue;
    size_t begin = i + length + 1, end = begin;
    while (end < f->length && strchr(sign == '=' ? " \t" : ",]}", f->text[end]) == NULL)
      end++;
    *value = trim(f->text + begin, end - begin);
    return true;
  }
  return false;
}

static bool keep(char to[CM_KEY_MAX], const cm_field *f)
{
  return f->length > 0 && f->length < CM_KEY_MAX && snprintf(to, CM_KEY_MAX, "%.*s", (int)f->length, f->text) > 0;
}

/* ---- neurons and synapses ---- */

static cm_status add_neuron(sanafe *s, const char *group, const cm_field *id, cm_error *error)
{
  char name[CM_NODE_TEXT_MAX];
  s->position.line = (unsigned long)s->table.line;
  if (id->length == 0 || id->length + strlen(group) + 2 > sizeof name)
    return bad(s, "is no neuron's name", id, error);
  CM_TRY(cm_xml_graph_node(&s->graph, &s->position, cm_say("%s.%.*s", group, (int)id->length, id->text).text, error));
  CM_TRY(cm_xml_graph_value(&s->graph, &s->position, CM_ROLE_POPULATION, group, error));
  return cm_xml_graph_end(&s->graph, &s->position, error);
}

/* Neurons first to last, by their numbers. */
static cm_status add_range(sanafe *s, const char *group, uint64_t first, uint64_t last, cm_error *error)
{
  char text[24] = "";
  if (last - first >= s->table.limits->vertices_max)
    return cm_over_limit("neurons", last - first + 1, s->table.limits->vertices_max, error);
  for (uint64_t i = first; i <= last; i++) {
    const cm_field id = {text, (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)i)};
    CM_TRY(add_neuron(s, group, &id, error));
  }
  return CM_OK;
}

/* "7" or "0..99". */
static cm_status add_neurons(sanafe *s, const cm_field *said, cm_error *error)
{
  uint64_t first, last;
  const char *dots = said->length > 2 ? memmem(said->text, said->length, "..", 2) : NULL;
  if (dots == NULL)
    return add_neuron(s, s->group, said, error);
  const size_t before = (size_t)(dots - said->text);
  if (!cm_field_whole(said->text, before, &first) || !cm_field_whole(dots + 2, said->length - before - 2, &last) || last < first)
    return bad(s, "is no range of neurons; FIRST..LAST is expected", said, error);
  return add_range(s, s->group, first, last, error);
}

static cm_status end_edge(sanafe *s, cm_error *error)
{
  return s->graph.in_edge ? cm_xml_graph_end(&s->graph, &s->position, error) : CM_OK;
}

/* A weight of the edge under way, if the line has one. */
static cm_status take_weight(sanafe *s, const cm_field *attributes, char sign, cm_error *error)
{
  char text[64];
  cm_field value;
  s->position.line = (unsigned long)s->table.line;
  if (!attribute(attributes, "weight", sign, &value) && !(sign == '=' && attribute(attributes, "w", sign, &value)))
    return CM_OK;
  return cm_xml_graph_value(&s->graph, &s->position, CM_ROLE_WEIGHT, cm_say("%.*s",
                                                            (int)(value.length < sizeof text ? value.length : sizeof text - 1), value.text).text,
                                                            error);
}

static cm_status begin_edge(sanafe *s, const cm_field *said, cm_error *error)
{
  char name[2][CM_NODE_TEXT_MAX];
  const char *arrow = said->length > 2 ? memmem(said->text, said->length, "->", 2) : NULL;
  CM_TRY(end_edge(s, error));
  if (arrow == NULL)
    return bad(s, "is no edge; GROUP.NEURON -> GROUP.NEURON is expected", said, error);
  const size_t before = (size_t)(arrow - said->text);
  const cm_field end[2] = {trim(said->text, before), trim(arrow + 2, said->length - before - 2)};
  for (int i = 0; i < 2; i++) {
    if (memchr(end[i].text, '.', end[i].length) == NULL)
      return bad(s, "is a whole group: edges between groups (dense, sparse, conv2d) are not read, write those between neurons",
                 &end[i], error);
    if (end[i].length >= sizeof name[i])
      return bad(s, "is no neuron's name", &end[i], error);
    (void)snprintf(name[i], sizeof name[i], "%.*s", (int)end[i].length, end[i].text);
  }
  s->position.line = (unsigned long)s->table.line;
  return cm_xml_graph_edge(&s->graph, &s->position, name[0], name[1], true, false, error);
}

/* ---- YAML ---- */

/* A key at the margin of the file, or of its network. */
static cm_status begin_section(sanafe *s, const cm_field *key, const cm_field *value, cm_error *error)
{
  static const struct {
    const char *word;
    section section;
  } words[] = {
    {"architecture", ARCHITECTURE}, {"network", NETWORK}, {"groups", GROUPS}, {"edges", EDGES}, {"mappings", MAPPINGS}};
  CM_TRY(end_edge(s, error));
  s->section = OTHERS;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (is(key, words[i].word))
      s->section = words[i].section;
  s->items_at = SIZE_MAX;
  return value->length == 0 || s->section == OTHERS || is(value, "[]")
           ? CM_OK
           : bad(s, "is in flow style, of which only attributes are read", value, error);
}

/* Somas of the unit that feeds spikes in are those of inputs. */
static cm_status read_mapping(sanafe *s, const cm_field *key, const cm_field *value, cm_error *error)
{
  cm_field soma;
  uint32_t group;
  const char *dot = memchr(key->text, '.', key->length);
  if (dot == NULL || s->input_unit[0] == '\0' || !attribute(value, "soma", ':', &soma) || !is(&soma, s->input_unit))
    return CM_OK;
  const uint32_t before = s->graph.populations.count;
  CM_TRY(cm_names_number(&s->graph.populations, key->text, (size_t)(dot - key->text), CM_POPULATIONS_MAX, &group, error));
  if (s->graph.populations.count > before)
    return bad(s, "is mapped, and no group is called so", key, error);
  CM_TRY(CM_ROOM(s->table.memory, s->graph.is_input, &s->graph.is_input_room, before, error));
  s->graph.is_input[group] = 1;
  return CM_OK;
}

static cm_status read_item(sanafe *s, const cm_field *key, const cm_field *value, cm_error *error)
{
  if (s->section == GROUPS)
    return CM_OK;
  if (s->section == MAPPINGS)
    return read_mapping(s, key, value, error);
  if (s->section == NEURONS)
    return is(key, "name") ? bad(s, "names a neuron by an attribute; 'NAME: [...]' is expected", value, error)
                           : add_neurons(s, key, error);
  return begin_edge(s, key, error) == CM_OK ? take_weight(s, value, ':', error) : error->status;
}

/* A line of groups: its name, which may stand behind the dash of a list; the neurons begin. */
static cm_status read_group(sanafe *s, size_t indent, const cm_field *key, const cm_field *value, cm_error *error)
{
  if (is(key, "name"))
    return keep(s->group, value) ? CM_OK : bad(s, "is no name of a group, of at most 79 bytes", value, error);
  if (!is(key, "neurons"))
    return CM_OK;
  if (value->length > 0)
    return bad(s, "is in flow style, of which only attributes are read", value, error);
  s->section = NEURONS;
  s->items_at = SIZE_MAX;
  return s->group[0] != '\0' && indent > 0 ? CM_OK : bad(s, "belong to no group: its name is expected before", key, error);
}

static void read_architecture(sanafe *s, const cm_field *key, const cm_field *value)
{
  if (is(key, "name"))
    (void)keep(s->unit, value);
  else if (is(key, "model") && is(value, "input"))
    memcpy(s->input_unit, s->unit, sizeof s->unit);
}

static cm_status read_line(sanafe *s, size_t indent, cm_field text, cm_error *error)
{
  cm_field key, value;
  const bool dash = text.length > 1 && text.text[0] == '-' && blank(text.text[1]);
  if (dash)
    text = trim(text.text + 1, text.length - 1);
  part(&text, &key, &value);
  if (!dash && (indent == 0 || (s->section >= NETWORK && s->section <= EDGES && (is(&key, "groups") || is(&key, "edges")))))
    return begin_section(s, &key, &value, error);
  if (s->section == ARCHITECTURE)
    read_architecture(s, &key, &value);
  if (s->section <= NETWORK)
    return CM_OK;
  if (s->section == NEURONS && s->items_at != SIZE_MAX && indent < s->items_at)
    s->section = GROUPS; /* the next key of the group, or the next group */
  if (s->section == GROUPS)
    return read_group(s, indent, &key, &value, error);
  s->items_at = s->items_at == SIZE_MAX ? indent : s->items_at;
  if (indent <= s->items_at)
    return read_item(s, &key, &value, error);
  return s->section == EDGES && s->graph.in_edge ? take_weight(s, &text, ':', error) : CM_OK;
}

/* ---- netlist ---- */

static cm_status read_entry(sanafe *s, cm_field text, cm_error *error)
{
  uint64_t count;
  const char kind = text.text[0];
  if (text.length < 2 || !blank(text.text[1]))
    return bad(s, "is no line of a netlist; g, n, e or & is expected first", &text, error);
  text = trim(text.text + 1, text.length - 1);
  size_t length = 0;
  while (length < text.length && !blank(text.text[length]))
    length++;
  const cm_field first = {text.text, length}, rest = {text.text + length, text.length - length};
  if (kind == 'g') {
    if (!cm_field_whole(first.text, first.length, &count))
      return bad(s, "is no number of neurons", &first, error);
    return count > 0 ? add_range(s, cm_say("%u", s->groups++).text, 0, count - 1, error) : CM_OK;
  }
  if (kind == 'd')
    return bad(s, "is a compartment of a dendrite, which is not read", &first, error);
  if (kind != 'e')
    return kind == 'n' || kind == '&' ? CM_OK : bad(s, "is no line of a netlist; g, n, e or & is expected first", &text, error);
  CM_TRY(begin_edge(s, &first, error));
  CM_TRY(take_weight(s, &rest, '=', error));
  return end_edge(s, error);
}

/* ---- the whole ---- */

static cm_status read_network(sanafe *s, cm_error *error)
{
  const char *line = NULL;
  size_t length = 0;
  bool end = false, netlist = false, begun = false;
  for (;;) {
    CM_TRY(cm_table_next_line(&s->table, &line, &length, &end, error));
    if (end)
      return end_edge(s, error);
    const cm_field text = trim(line, without_comment(line, length));
    if (text.length == 0 || is(&text, "---"))
      continue;
    netlist = begun ? netlist : text.length > 1 && text.text[0] == 'g' && blank(text.text[1]);
    begun = true;
    if (netlist ? read_entry(s, text, error) != CM_OK : read_line(s, (size_t)(text.text - line), text, error) != CM_OK)
      return error->status;
  }
}

static cm_status read_all(void *reader, const cm_reading_of *in, cm_error *error)
{
  static const char left_out[] = "attributes of neurons, delays, the mapping";
  sanafe *s = reader;
  s->position.format = "SANA-FE network";
  s->table = (cm_table){.source = in->source, .what = "SANA-FE network", .limits = in->limits, .run = in->run, .memory = in->run->memory};
  cm_status status = read_network(s, error);
  s->graph.directed = true;
  if (status == CM_OK && s->graph.ids.count == 0)
    status = cm_fail(error, CM_BAD_NETWORK, "SANA-FE network: it has no groups of neurons (an architecture alone is a chip)");
  cm_reading_add(in->source->reading.ignored, left_out, sizeof left_out - 1);
  cm_table_free(&s->table);
  return status;
}

cm_status cm_import_sanafe(const cm_reading_of *in, cm_error *error)
{
  return cm_xml_graph_read(in, "SANA-FE network", sizeof(sanafe), read_all, error);
}
