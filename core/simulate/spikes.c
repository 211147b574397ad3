/* Happy path: lines, or rows of an array, to pairs -> pairs by step. What can fail: the file, a line that is no spike of this
 * network, memory. */
#include "core/simulate/spikes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "core/network/pairs.h"

enum { LINE_MAX_BYTES = 128, CHECK_EVERY = 1 << 16 };

typedef struct spike {
  uint32_t step, neuron;
} spike;

typedef struct reader {
  const char *path;
  const char *unit; /* what it consists of: "line" or "row" */
  uint32_t neurons;
  uint64_t line;
  spike *list;
  uint64_t count, room;
  cm_run *run;
} reader;

static cm_status refuse(const reader *r, const char *why, cm_error *error)
{
  cm_fail(error, CM_BAD_OPTION, "%s, %s %llu: %s", r->path, r->unit, (unsigned long long)r->line, why);
  return cm_fail_at(error, "%s %llu", r->unit, (unsigned long long)r->line);
}

static cm_status refuse_network(const reader *r, const char *what, uint64_t number, cm_error *error)
{
  char why[200];
  (void)snprintf(why, sizeof why,
                 "%s %llu, but the network has %u neurons, numbered from 0: the spikes of this network are needed", what,
                 (unsigned long long)number, r->neurons);
  return refuse(r, why, error);
}

/* Cuts a line at its comment and at the blanks around it. */
static char *trim(char *line)
{
  line[strcspn(line, "#\r\n")] = '\0';
  line += strspn(line, " \t");
  for (size_t length = strlen(line); length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'); length--)
    line[length - 1] = '\0';
  return line;
}

static cm_status add_spike(reader *r, uint64_t step, uint64_t neuron, cm_error *error)
{
  if (neuron >= r->neurons)
    return refuse_network(r, "neuron", neuron, error);
  if (step >= CM_SPIKE_STEPS_MAX)
    return refuse(r, "steps go up to 99999", error);
  if (CM_ROOM(r->run->memory, r->list, &r->room, r->count + 1, error) != CM_OK)
    return error->status;
  r->list[r->count++] = (spike){(uint32_t)step, (uint32_t)neuron};
  return r->count % CHECK_EVERY == 0 ? cm_run_check(r->run, error) : CM_OK;
}

static cm_status read_line(reader *r, char *line, cm_error *error)
{
  uint64_t step, neuron;
  bool first = ++r->line == 1;
  if (strlen(line) == LINE_MAX_BYTES - 1)
    return refuse(r, "the line is too long; lines are STEP,NEURON", error);
  line = trim(line);
  char *comma = strchr(line, ',');
  if (*line == '\0' || (first && strcmp(line, "step,neuron") == 0))
    return CM_OK;
  if (comma != NULL)
    *comma = '\0';
  if (comma != NULL && strcmp(trim(line), "neurons") == 0 && cm_whole_parse(trim(comma + 1), &neuron))
    return neuron == r->neurons ? CM_OK : refuse_network(r, "it is for a network of", neuron, error);
  if (comma == NULL || !cm_whole_parse(trim(line), &step) || !cm_whole_parse(trim(comma + 1), &neuron))
    return refuse(r, "lines are STEP,NEURON, both whole numbers from 0", error);
  return add_spike(r, step, neuron, error);
}

/* A row of an array, as rows are counted in NumPy. */
static cm_status take_row(void *user, uint64_t number, uint64_t step, uint64_t neuron, cm_error *error)
{
  reader *r = user;
  r->line = number;
  return add_spike(r, step, neuron, error);
}

static cm_status sort_by_step(const reader *r, cm_spikes *s, cm_error *error)
{
  cm_run *run = r->run;
  for (uint64_t i = 0; i < r->count; i++)
    s->steps = r->list[i].step >= s->steps ? r->list[i].step + 1 : s->steps;
  if (CM_NEW(run->memory, s->first, (size_t)s->steps + 2, error) != CM_OK ||
      CM_NEW(run->memory, s->neuron, r->count, error) != CM_OK)
    return error->status;
  for (uint64_t i = 0; i < r->count; i++)
    s->first[r->list[i].step + 2]++;
  for (uint32_t i = 0; i < s->steps; i++)
    s->first[i + 2] += s->first[i + 1];
  for (uint64_t i = 0; i < r->count; i++)
    s->neuron[s->first[r->list[i].step + 1]++] = r->list[i].neuron;
  return CM_OK;
}

static cm_status read_lines(reader *r, FILE *stream, cm_error *error)
{
  char line[LINE_MAX_BYTES];
  cm_status status = CM_OK;
  while (status == CM_OK && fgets(line, sizeof line, stream) != NULL)
    status = read_line(r, line, error);
  return status == CM_OK && ferror(stream) != 0 ? cm_fail_errno(error, EIO, "cannot read", r->path) : status;
}

/* The spikes that were read; the list goes. */
static cm_status finish(reader *r, cm_status status, cm_spikes *spikes, cm_error *error)
{
  cm_spikes made = {.neurons = r->neurons};
  if (status == CM_OK && r->count == 0)
    status = cm_fail(error, CM_BAD_OPTION, "%s has no spike; lines are STEP,NEURON, both numbered from 0", r->path);
  if (status == CM_OK)
    status = sort_by_step(r, &made, error);
  cm_free(r->list);
  if (status != CM_OK) {
    cm_spikes_free(&made);
    return status;
  }
  *spikes = made;
  return CM_OK;
}

cm_status cm_spikes_read(const char *path, const char *name, uint32_t neurons, cm_run *run, cm_spikes *spikes, cm_error *error)
{
  reader r = {.path = name, .unit = "row", .neurons = neurons, .run = run};
  bool is_array;
  cm_status status = cm_pairs_read(path, run, take_row, &r, &is_array, error);
  if (status == CM_BAD_NETWORK && is_array) {
    char why[CM_ERROR_DETAIL_MAX];
    (void)snprintf(why, sizeof why, "%s", error->detail);
    status = cm_fail(error, CM_BAD_OPTION, "%.100s: spikes in an array have a row [step, neuron] each: %.300s", name, why);
  }
  if (is_array || (status != CM_OK && status != CM_BAD_NETWORK)) /* lines that gzip or NumPy know nothing of are lines */
    return finish(&r, status, spikes, error);
  FILE *stream = fopen(path, "re");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot read", name);
  r.unit = "line";
  status = read_lines(&r, stream, error);
  fclose(stream);
  return finish(&r, status, spikes, error);
}

cm_status cm_spikes_parse(const char *text, const char *name, uint32_t neurons, cm_run *run, cm_spikes *spikes,
                          cm_error *error)
{
  /* One byte more than the text, for one of no bytes cannot be opened. */
  FILE *stream = fmemopen((char *)(uintptr_t)text, strlen(text) + 1, "r");
  reader r = {.path = name, .unit = "line", .neurons = neurons, .run = run};
  if (stream == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory for %s", name);
  cm_status status = read_lines(&r, stream, error);
  fclose(stream);
  return finish(&r, status, spikes, error);
}

void cm_spikes_free(cm_spikes *spikes)
{
  cm_free(spikes->first);
  cm_free(spikes->neuron);
  *spikes = (cm_spikes){0};
}
