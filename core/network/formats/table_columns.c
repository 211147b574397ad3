/* Which column of a table is what: by the words of a header, a comment, or the caller. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/network/formats/table_rows.h"

/* As connectomes, simulators and graph programs call them. "i", "j", "u" and "v" count beside a weight or delay only. */
static const char *const words[CM_COLUMNS][24] = {
  [CM_COLUMN_SOURCE] = {"source", "from", "src", "pre", "presynaptic", "source_id", "pre_id", "pre_root_id", "bodyId_pre",
                        "pre_pt_root_id", "presynaptic_id", "presynaptic_index", "source_node_id", "pre_gid", "sources", "sender", "senders", "row", "rows", "i", "u"},
  [CM_COLUMN_TARGET] = {"target", "to", "dst", "dest", "post", "postsynaptic", "target_id", "post_id", "post_root_id",
                        "bodyId_post", "post_pt_root_id", "postsynaptic_id", "postsynaptic_index", "target_node_id",
                        "post_gid", "targets", "receiver", "receivers", "col", "cols", "column", "columns", "j", "v"},
  [CM_COLUMN_WEIGHT] = {"weight", "weights", "w", "syn_count", "synapse_count", "n_synapses", "n_syn", "syn_weight",
                        "synaptic_weight", "count", "strength", "value", "values", "data"},
  [CM_COLUMN_DELAY] = {"delay", "delays", "delay_ms", "delay (ms)", "d"},
};

static const char *const rate_words[CM_RATE_COLUMNS][9] = {
  [CM_RATE_NAME] = {"name", "neuron", "id", "node_id", "neuron_id", "gid", "label", "source"},
  [CM_RATE_VALUE] = {"rate", "rates", "rate_hz", "firing_rate", "firing_rate_hz", "frequency", "hz", "rate (hz)"},
};

bool cm_field_whole(const char *text, size_t length, uint64_t *value)
{
  uint64_t number = 0;
  if (length == 0 || length > 19 || (length > 1 && text[0] == '0'))
    return false;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9')
      return false;
    number = number * 10 + (uint64_t)(text[i] - '0');
  }
  *value = number;
  return true;
}

bool cm_field_number(const cm_field *f, double *value)
{
  uint64_t number;
  if (f->length <= 15 && cm_field_whole(f->text, f->length, &number)) {
    *value = (double)number;
    return true;
  }
  char text[64], *end;
  if (f->length == 0 || f->length >= sizeof text || isspace((unsigned char)f->text[0]))
    return false;
  memcpy(text, f->text, f->length);
  text[f->length] = '\0';
  *value = strtod(text, &end);
  return end == text + f->length;
}

cm_id_kind cm_field_id(const char *text, size_t length, uint64_t *value)
{
  double number;
  const cm_field field = {text, length};
  bool point = false;
  size_t written = 0; /* as numbers are: 007, 0x1 and inf are names */
  if (cm_field_whole(text, length, value))
    return CM_ID_WHOLE;
  for (; written < length && text[written] != '\0' && strchr("0123456789.eE+-", text[written]) != NULL; written++)
    point = point || strchr(".eE", text[written]) != NULL;
  if (written < length || !point || !isdigit((unsigned char)text[0]) || !cm_field_number(&field, &number))
    return CM_ID_NAME;
  *value = number <= 0x1p53 ? (uint64_t)number : 0;
  return number > 0x1p53 ? CM_ID_LOST : (double)*value < number ? CM_ID_FRACTION : CM_ID_FLOAT;
}

int cm_column_word(const char *text, size_t length, cm_column_id id)
{
  for (size_t k = 0; k < sizeof words[id] / sizeof *words[id] && words[id][k] != NULL; k++)
    if (strlen(words[id][k]) == length && strncasecmp(words[id][k], text, length) == 0)
      return (int)k;
  return -1;
}

static const char *const type_words[] = {"type", "edge_type", "directed", "direction"};

cm_edge_type cm_edge_type_of(const cm_field *field)
{
  static const char *const names[][CM_EDGE_TYPES] = {{"directed", "undirected", "mutual"}, {"true", "false", "mutual"}};
  for (int i = 0; i < 2 * CM_EDGE_TYPES; i++) {
    const char *name = names[i / CM_EDGE_TYPES][i % CM_EDGE_TYPES];
    if (strlen(name) == field->length && strncasecmp(name, field->text, field->length) == 0)
      return (cm_edge_type)(i % CM_EDGE_TYPES);
  }
  return CM_EDGE_TYPES;
}

static bool is_type_word(const cm_field *field)
{
  for (size_t k = 0; k < sizeof type_words / sizeof *type_words; k++)
    if (strlen(type_words[k]) == field->length && strncasecmp(type_words[k], field->text, field->length) == 0)
      return true;
  return false;
}

/* The one column whose name has a word of the field for one end in it and none for the other ("neuron_pre", ":START_ID(Body)"). */
static int column_by_part(const cm_field *fields, size_t count, cm_column_id id)
{
  static const char *const parts[2][4] = {{"pre", "source", "start", "from"}, {"post", "target", "end_id", "dest"}};
  int found = CM_COLUMN_NONE;
  for (size_t i = 0; i < count; i++) {
    bool has[2] = {false, false};
    for (int k = 0; k < 8; k++) {
      const char *part = parts[k / 4][k % 4];
      for (size_t at = 0; at + strlen(part) <= fields[i].length; at++)
        has[k / 4] = has[k / 4] || strncasecmp(fields[i].text + at, part, strlen(part)) == 0;
    }
    if (!has[id] || has[1 - id])
      continue;
    if (found != CM_COLUMN_NONE)
      return CM_COLUMN_NONE;
    found = (int)i;
  }
  return found;
}

/* Words of any table, which hold where none of synapses stands beside: "value" is a weight, unless there is a "weight". */
static bool is_loose(const cm_field *field)
{
  static const char *const words_of_tables[] = {"row", "rows", "col", "cols", "column", "columns", "value", "values", "data"};
  for (size_t k = 0; k < sizeof words_of_tables / sizeof *words_of_tables; k++)
    if (strlen(words_of_tables[k]) == field->length && strncasecmp(words_of_tables[k], field->text, field->length) == 0)
      return true;
  return false;
}

/* Whether a text is a word for the rate of an axon. */
static bool cm_rate_word(const char *text, size_t length)
{
  return cm_rate_column(&(cm_field){text, length}) == CM_RATE_VALUE;
}

bool cm_columns_of_header(const cm_field *fields, size_t count, bool certain, cm_columns *columns)
{
  cm_columns found = {.at = {CM_COLUMN_NONE, CM_COLUMN_NONE, CM_COLUMN_NONE, CM_COLUMN_NONE}, .count = count};
  for (size_t i = 0; i < count; i++) {
    const char *type = memchr(fields[i].text, ':', fields[i].length); /* "weight:int", as Neo4j writes it */
    const size_t length = type != NULL && type > fields[i].text ? (size_t)(type - fields[i].text) : fields[i].length;
    for (int id = 0; id < CM_COLUMNS; id++)
      if ((found.at[id] == CM_COLUMN_NONE || (is_loose(&fields[found.at[id]]) && !is_loose(&fields[i]))) &&
          cm_column_word(fields[i].text, length, (cm_column_id)id) >= 0)
        found.at[id] = (int)i;
    if (found.rate == 0 && cm_rate_word(fields[i].text, fields[i].length))
      found.rate = i + 1;
    if (found.type == 0 && is_type_word(&fields[i]))
      found.type = i + 1;
  }
  for (int id = CM_COLUMN_SOURCE; id <= (int)CM_COLUMN_TARGET && certain; id++)
    if (found.at[id] == CM_COLUMN_NONE)
      found.at[id] = column_by_part(fields, count, (cm_column_id)id);
  if (found.at[CM_COLUMN_SOURCE] < 0 || found.at[CM_COLUMN_TARGET] < 0 ||
      (fields[found.at[CM_COLUMN_SOURCE]].length == 1 && !certain && found.at[CM_COLUMN_WEIGHT] < 0 && found.at[CM_COLUMN_DELAY] < 0))
    return false;
  *columns = found;
  return true;
}

/* Words between separators, quotes and brackets. */
static size_t list_words(const char *text, size_t length, cm_field *list, size_t room)
{
  static const char between[] = " \t,'\"[]()";
  size_t count = 0;
  for (size_t i = 0; i < length && count < room;) {
    while (i < length && ((strchr(between, text[i]) != NULL && text[i] != '\0') ||
                          (text[i] == 'u' && i + 1 < length && (text[i + 1] == '\'' || text[i + 1] == '"')))) /* u'i' of Python 2 */
      i++;
    size_t begin = i;
    while (i < length && (strchr(between, text[i]) == NULL || text[i] == '\0'))
      i++;
    if (i > begin)
      list[count++] = (cm_field){text + begin, i - begin};
  }
  return count;
}

bool cm_columns_of_comment(const char *line, size_t length, cm_columns *columns)
{
  enum { LIST_MAX = 32 };
  static const char word[] = "columns";
  cm_field list[LIST_MAX];
  const char *at = memmem(line, length, word, sizeof word - 1);
  if (at == NULL)
    return false;
  at += sizeof word - 1;
  size_t left = length - (size_t)(at - line);
  while (left > 0 && (*at == ' ' || *at == '='))
    at++, left--;
  return cm_columns_of_header(list, list_words(at, left, list, LIST_MAX), true, columns);
}

cm_status cm_columns_of_option(const char *said, cm_columns *columns, cm_error *error)
{
  static const char *const names[CM_COLUMNS] = {"source", "target", "weight", "delay"};
  cm_columns found = {.at = {CM_COLUMN_NONE, CM_COLUMN_NONE, CM_COLUMN_NONE, CM_COLUMN_NONE}};
  for (const char *at = said;; at++) {
    size_t length = strcspn(at, ",");
    int id = 0;
    if (length == 4 && strncmp(at, "rate", 4) == 0) {
      if (found.rate != 0)
        return cm_fail(error, CM_BAD_OPTION, "columns \"%.60s\" names rate twice", said);
      found.rate = ++found.count;
      at += length;
      if (*at == '\0')
        break;
      continue;
    }
    while (id < CM_COLUMNS && (strlen(names[id]) != length || strncmp(names[id], at, length) != 0))
      id++;
    if (id == CM_COLUMNS && !(length == 1 && *at == '-'))
      return cm_fail(error, CM_BAD_OPTION,
                     "columns \"%.60s\": '%.*s' is none of source, target, weight, delay, rate and - (not read)", said,
                     length < CM_FIELD_SHOWN_MAX ? (int)length : CM_FIELD_SHOWN_MAX, at);
    if (id < CM_COLUMNS && found.at[id] != CM_COLUMN_NONE)
      return cm_fail(error, CM_BAD_OPTION, "columns \"%.60s\" names %s twice", said, names[id]);
    if (id < CM_COLUMNS)
      found.at[id] = (int)found.count;
    found.count++;
    at += length;
    if (*at == '\0')
      break;
  }
  if (found.at[CM_COLUMN_SOURCE] < 0 || found.at[CM_COLUMN_TARGET] < 0)
    return cm_fail(error, CM_BAD_OPTION, "columns \"%.60s\" names no %s", said,
                   found.at[CM_COLUMN_SOURCE] < 0 ? "source" : "target");
  *columns = found;
  return CM_OK;
}

int cm_field_shown(const cm_field *f)
{
  return f->length < CM_FIELD_SHOWN_MAX ? (int)f->length : CM_FIELD_SHOWN_MAX;
}

cm_rate_column_id cm_rate_column(const cm_field *field)
{
  for (int c = 0; c < CM_RATE_COLUMNS; c++)
    for (size_t k = 0; k < sizeof rate_words[c] / sizeof *rate_words[c] && rate_words[c][k] != NULL; k++)
      if (strlen(rate_words[c][k]) == field->length && strncasecmp(rate_words[c][k], field->text, field->length) == 0)
        return (cm_rate_column_id)c;
  return CM_RATE_COLUMNS;
}
