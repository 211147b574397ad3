/* Happy path: names of columns, then a core a line. What can fail: columns that are unknown or missing, cells that are no numbers, runs in pieces; memory. */
#include <errno.h>
#include <math.h>

#include "core/chip/costs_fit.h"

enum { COLUMNS_MAX = 16, RUNS_MAX = 1 << 20 };
enum { COLUMN_CORE = CM_CHARGES, COLUMN_RUN, COLUMN_NS, COLUMN_TILES, COLUMNS };
static const double count_max = 1e15;

typedef struct reader {
  cm_run *run;
  cm_measured_steps *made;
  uint64_t name_room, ns_room, tiles_room, first_room, core_room, cores;
  uint64_t line;
  unsigned columns, is[COLUMNS_MAX];
} reader;

const char *cm_term_name(int term)
{
  static const char *const between[] = {"barrier", "barrier/spike", "barrier/packet"};
  return term < CM_CHARGES ? cm_charge_names[term] : between[term - CM_CHARGES];
}

static const char *column_name(unsigned column)
{
  static const char *const others[] = {"core", "run", "ns", "tiles"};
  return column < CM_CHARGES ? cm_charge_names[column] : others[column - CM_CHARGES];
}

/* The next cell of a line, blanks around it left out; *at behind its comma. */
static char *next_cell(char **at)
{
  char *cell = *at, *end = cell + strcspn(cell, ",");
  *at = *end == ',' ? end + 1 : end;
  while (*cell == ' ' || *cell == '\t')
    cell++;
  while (end > cell && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
    end--;
  *end = '\0';
  return cell;
}

static cm_status read_header(reader *b, char *line, cm_error *error)
{
  bool there[COLUMNS] = {false};
  char *at = line;
  for (char *end = line + strlen(line); at < end || b->columns == 0;) {
    const char *name = next_cell(&at);
    unsigned k = 0;
    while (k < COLUMNS && strcmp(name, column_name(k)) != 0)
      k++;
    if (k == COLUMNS || there[k] || b->columns == COLUMNS_MAX)
      return cm_fail(error, CM_BAD_REQUEST, "line 1: column \"%.40s\" %s: columns are run, ns, core, tiles, packet_sent, packet_received, synapse, neuron and spike", name,
                     k < COLUMNS ? "stands twice" : "is not known");
    there[k] = true;
    b->is[b->columns++] = k;
  }
  if (!there[COLUMN_RUN] || !there[COLUMN_NS])
    return cm_fail(error, CM_BAD_REQUEST, "line 1: column \"%s\" is missing", there[COLUMN_RUN] ? "ns, the time that the step took" : "run");
  return CM_OK;
}

static cm_status read_number(const reader *b, unsigned column, const char *cell, double *value, cm_error *error)
{
  char *end;
  errno = 0;
  *value = strtod(cell, &end);
  if (end == cell || *end != '\0' || errno != 0 || !(*value >= 0 && *value <= count_max))
    return cm_fail(error, CM_BAD_REQUEST, "line %llu, column %s: \"%.40s\" is no number from 0 to %g", (unsigned long long)b->line, column_name(column), cell, count_max);
  return CM_OK;
}

static cm_status begin_run(reader *b, const char *name, double ns, uint32_t tiles, cm_error *error)
{
  cm_measured_steps *m = b->made;
  cm_memory *memory = b->run->memory;
  if (m->runs == RUNS_MAX)
    return cm_fail(error, CM_BAD_REQUEST, "line %llu: more than %d runs", (unsigned long long)b->line, RUNS_MAX);
  if (CM_ROOM(memory, m->name, &b->name_room, (uint64_t)m->runs + 1, error) != CM_OK || CM_ROOM(memory, m->ns, &b->ns_room, (uint64_t)m->runs + 1, error) != CM_OK ||
      CM_ROOM(memory, m->tiles, &b->tiles_room, (uint64_t)m->runs + 1, error) != CM_OK || CM_ROOM(memory, m->first, &b->first_room, (uint64_t)m->runs + 2, error) != CM_OK)
    return error->status;
  m->name[m->runs] = name;
  m->ns[m->runs] = ns;
  m->tiles[m->runs] = tiles;
  m->first[m->runs++] = b->cores;
  return CM_OK;
}

static cm_status read_row(reader *b, char *line, cm_error *error)
{
  cm_measured_steps *m = b->made;
  cm_core_events events = {{0}};
  const char *name = "";
  double ns = 0, tiles = 0, ignored;
  char *at = line;
  for (unsigned k = 0; k < b->columns; k++) {
    const unsigned column = b->is[k];
    const bool last = *at == '\0';
    char *cell = next_cell(&at);
    if (last)
      return cm_fail(error, CM_BAD_REQUEST, "line %llu has %u cells, the first line %u", (unsigned long long)b->line, k, b->columns);
    if (column == COLUMN_RUN)
      name = cell;
    else if (read_number(b, column, cell, column == COLUMN_NS ? &ns : column == COLUMN_TILES ? &tiles : column == COLUMN_CORE ? &ignored : &events.count[column], error) != CM_OK)
      return error->status;
  }
  if (*at != '\0' || ns <= 0)
    return cm_fail(error, CM_BAD_REQUEST, "line %llu %s", (unsigned long long)b->line, ns <= 0 ? "has a step of 0 ns" : "has more cells than the first line");
  const bool same = m->runs > 0 && strcmp(m->name[m->runs - 1], name) == 0;
  if (same && m->ns[m->runs - 1] != ns)
    return cm_fail(error, CM_BAD_REQUEST, "line %llu: run \"%.40s\" took %.10g ns here and %.10g above", (unsigned long long)b->line, name, ns, m->ns[m->runs - 1]);
  if (!same && begin_run(b, name, ns, (uint32_t)fmin(tiles, CM_CHIP_CORES_MAX), error) != CM_OK)
    return error->status;
  CM_TRY(CM_ROOM(b->run->memory, m->core, &b->core_room, b->cores + 1, error));
  m->core[b->cores++] = events;
  return CM_OK;
}

static int by_text(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Refuses runs that stand in pieces: they would be taken for several. */
static cm_status check_names(const reader *b, cm_error *error)
{
  const cm_measured_steps *m = b->made;
  const char **sorted;
  cm_status status = CM_OK;
  CM_TRY(CM_NEW(b->run->memory, sorted, m->runs, error));
  memcpy(sorted, m->name, m->runs * sizeof *sorted);
  qsort(sorted, m->runs, sizeof *sorted, by_text);
  for (uint32_t k = 1; k < m->runs && status == CM_OK; k++)
    if (strcmp(sorted[k], sorted[k - 1]) == 0)
      status = cm_fail(error, CM_BAD_REQUEST, "run \"%.40s\" stands in several places: put the lines of its cores together", sorted[k]);
  cm_free(sorted);
  return status;
}

static cm_status read_lines(reader *b, cm_error *error)
{
  cm_measured_steps *m = b->made;
  for (char *line = m->text, *next; line != NULL; line = next) {
    next = strchr(line, '\n');
    if (next != NULL)
      *next++ = '\0';
    b->line++;
    if (line[strspn(line, " \t\r")] == '\0')
      continue;
    if ((b->columns == 0 ? read_header(b, line, error) : read_row(b, line, error)) != CM_OK)
      return error->status;
  }
  if (m->runs == 0)
    return cm_fail(error, CM_BAD_REQUEST, "there is no run in it: expected a line of columns, then one for each core of each run");
  m->first[m->runs] = b->cores;
  return check_names(b, error);
}

cm_status cm_measured_steps_read(const char *csv, size_t size, cm_run *run, cm_measured_steps *steps, cm_error *error)
{
  cm_measured_steps m = {.runs = 0};
  reader b = {.run = run, .made = &m};
  if (memchr(csv, '\0', size) != NULL)
    return cm_fail(error, CM_BAD_REQUEST, "it is no text");
  cm_status status = CM_NEW(run->memory, m.text, size + 1, error);
  if (status == CM_OK) {
    memcpy(m.text, csv, size);
    status = read_lines(&b, error);
  }
  CM_END(status, *steps = m, cm_measured_steps_free(&m));
}

void cm_measured_steps_free(cm_measured_steps *m)
{
  CM_FREE(m->name, m->ns, m->tiles, m->first, m->core, m->text);
  *m = (cm_measured_steps){.runs = 0};
}
