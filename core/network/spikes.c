/* Happy path: lines, or rows of an array, to pairs -> pairs by step. What can fail: the file, a line that is no spike of this
 * network, memory. */
#include "core/network/spikes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/order.h"
#include "core/network/pairs.h"
#include "core/network/spike_file.h"

enum { LINE_MAX_BYTES = 1024, FIELDS_MAX = 16, CHECK_EVERY = 1 << 16 };

/* What a column is. */
typedef enum column { STEP, TIME, NEURON, POPULATION, OTHER, COLUMNS = OTHER } column;

typedef struct reader {
  const char *path;
  const char *unit; /* what it consists of: "line" or "row" */
  cm_spike_ids ids;
  uint64_t line;
  int at[COLUMNS]; /* which field each column is; -1: there is none */
  bool headed;     /* the first line says it */
  cm_spike *list;
  uint64_t count, room;
  cm_run *run;
} reader;

static cm_status refuse(const reader *r, const char *why, cm_error *error)
{
  cm_fail(error, CM_BAD_OPTION, "%s, %s %llu: %s", r->path, r->unit, (unsigned long long)r->line, why);
  return cm_fail_at(error, "%s %llu", r->unit, (unsigned long long)r->line);
}

static cm_status add_spike(reader *r, uint64_t step, const char *id, cm_error *error)
{
  char why[200];
  uint32_t neuron;
  if (!cm_spike_ids_find(&r->ids, id, &neuron, why, sizeof why))
    return refuse(r, why, error);
  if (step >= CM_SPIKE_STEPS_MAX)
    return refuse(r, "steps go up to 99999", error);
  CM_TRY(CM_ROOM(r->run->memory, r->list, &r->room, r->count + 1, error));
  r->list[r->count++] = (cm_spike){(uint32_t)step, neuron};
  return r->count % CHECK_EVERY == 0 ? cm_run_check(r->run, error) : CM_OK;
}

/* ---- lines ---- */

/* Cuts a line into fields, without the blanks around them: at commas, else semicolons, else tabs and blanks; returns how many. */
static int split(char *line, char *field[FIELDS_MAX])
{
  static const char blanks[] = " \t";
  int count = 0;
  line[strcspn(line, "#\r\n")] = '\0';
  const char *signs = strchr(line, ',') != NULL ? "," : strchr(line, ';') != NULL ? ";" : blanks;
  for (line += strspn(line, blanks); *line != '\0' && count < FIELDS_MAX; line += strspn(line, blanks)) {
    char *begin = line, *end = line + strcspn(line, signs);
    line = *end == '\0' ? end : end + 1;
    while (end > begin && strchr(blanks, end[-1]) != NULL)
      end--;
    *end = '\0';
    field[count++] = begin;
  }
  return count;
}

static column column_of(const char *word)
{
  static const struct {
    const char *word;
    column is;
  } words[] = {{"step", STEP},      {"time", TIME},      {"times", TIME},      {"time_ms", TIME},         {"timestamps", TIME},
               {"neuron", NEURON},  {"name", NEURON},    {"id", NEURON},       {"gid", NEURON},           {"sender", NEURON},
               {"senders", NEURON}, {"node_id", NEURON}, {"node_ids", NEURON}, {"population", POPULATION}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcasecmp(words[i].word, word) == 0)
      return words[i].is;
  return OTHER;
}

/* Whether the first line with something in it names the columns; without such a line they are step and neuron. */
static bool take_header(reader *r, char *field[FIELDS_MAX], int count)
{
  int at[COLUMNS + 1] = {-1, -1, -1, -1, -1};
  for (int i = count; i-- > 0;)
    at[column_of(field[i])] = i;
  bool header = at[NEURON] >= 0 && (at[STEP] >= 0 || at[TIME] >= 0);
  if (header)
    memcpy(r->at, at, sizeof r->at);
  r->headed = header;
  return header;
}

/* The step of a time; false: none is there. */
static bool step_at(const reader *r, double ms, uint64_t *step)
{
  const double rounding = 1e-9;
  if (!(ms >= 0 && ms <= 1e15))
    return false;
  *step = (uint64_t)floor(ms / (r->ids.step_ms > 0 ? r->ids.step_ms : 1) + rounding);
  return true;
}

static bool read_step(const reader *r, char *field[FIELDS_MAX], uint64_t *step)
{
  char *end;
  if (r->at[STEP] >= 0)
    return cm_whole_parse(field[r->at[STEP]], step);
  const double ms = strtod(field[r->at[TIME]], &end);
  return end != field[r->at[TIME]] && *end == '\0' && step_at(r, ms, step);
}

/* "neurons,N". */
static cm_status check_neurons(const reader *r, uint64_t number, cm_error *error)
{
  char why[200];
  if (number == r->ids.neurons)
    return CM_OK;
  (void)snprintf(
    why, sizeof why,
    "it is for a network of %llu, but the network has %u neurons, numbered from 0: the spikes of this network are needed",
    (unsigned long long)number, r->ids.neurons);
  return refuse(r, why, error);
}

/* Whether the line has what the columns need; without a header nothing else. */
static bool has_columns(const reader *r, int count)
{
  int needed = 0;
  for (int i = 0; i < COLUMNS; i++)
    needed = r->at[i] >= needed ? r->at[i] + 1 : needed;
  return count == needed || (r->headed && count > needed);
}

static cm_status read_spike(reader *r, char *field[FIELDS_MAX], int count, cm_error *error)
{
  uint64_t step;
  if (!has_columns(r, count) || !read_step(r, field, &step))
    return refuse(r,
                  r->at[STEP] >= 0 ? "lines are STEP,NEURON, both whole numbers from 0"
                                   : "a time in milliseconds and a neuron are expected, as the first line says",
                  error);
  if (r->at[POPULATION] < 0)
    return add_spike(r, step, field[r->at[NEURON]], error);
  return add_spike(r, step, cm_say("%s[%s]", field[r->at[POPULATION]], field[r->at[NEURON]]).text, error);
}

static cm_status read_line(reader *r, char *line, bool *first, cm_error *error)
{
  char *field[FIELDS_MAX];
  uint64_t number;
  r->line++;
  if (strlen(line) == LINE_MAX_BYTES - 1)
    return refuse(r, "the line is too long; lines are STEP,NEURON", error);
  const bool commas = strchr(line, ',') != NULL;
  const int count = split(line, field);
  if (count == 0)
    return CM_OK;
  const bool begins = *first;
  *first = false;
  if (count == 2 && strcmp(field[0], "neurons") == 0 && cm_whole_parse(field[1], &number)) {
    *first = begins;
    return check_neurons(r, number, error);
  }
  if (begins && take_header(r, field, count))
    return CM_OK;
  /* Numbers between blanks that nothing names are as likely a neuron and a time. */
  return read_spike(r, field, commas || r->headed ? count : 0, error);
}

/* A row of an array, as rows are counted in NumPy. */
static cm_status take_row(void *user, uint64_t number, uint64_t step, uint64_t neuron, cm_error *error)
{
  reader *r = user;
  r->line = number;
  return add_spike(r, step, cm_say("%llu", (unsigned long long)neuron).text, error);
}

/* A spike of a SONATA file: neurons are called by their population and id there, "v1[7]". */
static cm_status take_spike(void *user, uint64_t number, const char *population, uint64_t id, double ms, cm_error *error)
{
  reader *r = user;
  uint64_t step;
  r->line = number;
  return step_at(r, ms, &step) ? add_spike(r, step, cm_say(population[0] != '\0' ? "%s[%llu]" : "%s%llu", population, (unsigned long long)id).text,
                                           error) : refuse(r, "a time in milliseconds is expected", error);
}

static bool is_hdf5(const char *path)
{
  char magic[4] = "";
  FILE *stream = fopen(path, "re");
  const bool is =
    stream != NULL && fread(magic, 1, sizeof magic, stream) == sizeof magic && memcmp(magic, "\x89HDF", sizeof magic) == 0;
  if (stream != NULL)
    fclose(stream);
  return is;
}

static cm_status read_hdf5(reader *r, const char *path, cm_error *error)
{
  r->unit = "spike";
  const cm_status status = r->ids.confined ? cm_spike_file_read(path, r->run, take_spike, r, error)
                                           : cm_spike_file_apart(path, r->run, take_spike, r, error);
  if (status != CM_BAD_NETWORK)
    return status;
  return cm_fail(error, CM_BAD_OPTION, "%.100s: %.300s", r->path, cm_say("%s", error->detail).text);
}

cm_status cm_spikes_sort(const cm_spike *list, uint64_t count, bool ascending, cm_memory *memory, cm_spikes *s, cm_error *error)
{
  CM_TRY(CM_NEW_ALL(memory, error, CM_ARRAY(s->first, (size_t)s->steps + 2), CM_ARRAY(s->neuron, count)));
  for (uint64_t i = 0; i < count; i++)
    s->first[list[i].step + 2]++;
  for (uint32_t i = 0; i < s->steps; i++)
    s->first[i + 2] += s->first[i + 1];
  for (uint64_t i = 0; i < count; i++)
    s->neuron[s->first[list[i].step + 1]++] = list[i].neuron;
  for (uint32_t i = 0; ascending && i < s->steps; i++)
    qsort(s->neuron + s->first[i], s->first[i + 1] - s->first[i], sizeof *s->neuron, cm_ascending);
  return CM_OK;
}

static cm_status read_lines(reader *r, FILE *stream, cm_error *error)
{
  char line[LINE_MAX_BYTES];
  bool first = true;
  cm_status status = CM_OK;
  while (status == CM_OK && fgets(line, sizeof line, stream) != NULL)
    status = read_line(r, line, &first, error);
  return status == CM_OK && ferror(stream) != 0 ? cm_fail_errno(error, EIO, "cannot read", r->path) : status;
}

/* The spikes that were read; the list goes. */
static cm_status finish(reader *r, cm_status status, cm_spikes *spikes, cm_error *error)
{
  cm_spikes made = {.neurons = r->ids.neurons};
  cm_spike_ids_close(&r->ids);
  if (status == CM_OK && r->count == 0)
    status = cm_fail(error, CM_BAD_OPTION, "%s has no spike; lines are STEP,NEURON, both numbered from 0", r->path);
  for (uint64_t i = 0; i < r->count; i++)
    made.steps = r->list[i].step >= made.steps ? r->list[i].step + 1 : made.steps;
  CM_THEN(status, cm_spikes_sort(r->list, r->count, false, r->run->memory, &made, error));
  cm_free(r->list);
  CM_END(status, *spikes = made, cm_spikes_free(&made));
}

static reader reader_of(const char *name, const char *unit, const cm_spike_ids *ids, cm_run *run)
{
  return (reader){
    .path = name, .unit = unit, .ids = *ids, .at = {[STEP] = 0, [NEURON] = 1, [TIME] = -1, [POPULATION] = -1}, .run = run};
}

cm_status cm_spikes_read(const char *path, const char *name, const cm_spike_ids *ids, cm_run *run, cm_spikes *spikes,
                         cm_error *error)
{
  reader r = reader_of(name, "row", ids, run);
  bool is_array = false;
  cm_status status = cm_spike_ids_open(&r.ids, run->memory, error);
  if (status != CM_OK)
    return finish(&r, status, spikes, error);
  if (is_hdf5(path))
    return finish(&r, read_hdf5(&r, path, error), spikes, error);
  status = cm_pairs_read(path, run, take_row, &r, &is_array, error);
  if (status == CM_BAD_NETWORK && is_array) {
    status = cm_fail(error, CM_BAD_OPTION, "%.100s: spikes in an array have a row [step, neuron] each: %.300s", name, cm_say("%s",
                                                            error->detail).text);
  }
  if (is_array || (status != CM_OK && status != CM_BAD_NETWORK)) /* lines that gzip or NumPy know nothing of are lines */
    return finish(&r, status, spikes, error);
  FILE *stream = fopen(path, "re");
  if (stream == NULL)
    return finish(&r, cm_fail_errno(error, errno, "cannot read", name), spikes, error);
  r.unit = "line";
  status = read_lines(&r, stream, error);
  fclose(stream);
  return finish(&r, status, spikes, error);
}

cm_status cm_spikes_parse(const char *text, const char *name, const cm_spike_ids *ids, cm_run *run, cm_spikes *spikes,
                          cm_error *error)
{
  /* One byte more than the text, for one of no bytes cannot be opened. */
  FILE *stream = fmemopen((char *)(uintptr_t)text, strlen(text) + 1, "r");
  reader r = reader_of(name, "line", ids, run);
  if (stream == NULL)
    return cm_whole(false, name, error);
  cm_status status = cm_spike_ids_open(&r.ids, run->memory, error);
  CM_THEN(status, read_lines(&r, stream, error));
  fclose(stream);
  return finish(&r, status, spikes, error);
}

bool cm_spikes_miss_inputs(const cm_spikes *spikes, const cm_topology *topology, char *note, size_t size)
{
  const cm_dynamics *d = topology->dynamics;
  uint32_t inputs = 0;
  for (uint32_t v = 0; d != NULL && v < topology->vertex_count; v++)
    inputs += d->model[v] == CM_NEURON_INPUT;
  const uint64_t all = spikes->first[spikes->steps];
  for (uint64_t i = 0; inputs > 0 && i < all; i++)
    if (d->model[spikes->neuron[i]] == CM_NEURON_INPUT)
      return false;
  if (inputs > 0)
    (void)snprintf(note, size, "none of the %u inputs fires, so that biases alone make spikes: say when inputs fire (spikes, --input on the command line) or how "
                   "often (poisson)", inputs);
  return inputs > 0;
}

void cm_spikes_free(cm_spikes *spikes)
{
  CM_FREE(spikes->first, spikes->neuron);
  *spikes = (cm_spikes){0};
}
