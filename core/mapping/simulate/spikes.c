/* Happy path: lines to pairs -> pairs by step. What can fail: the file, a line that is no spike of this network, memory. */
#include "core/mapping/simulate/spikes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/number.h"

enum { LINE_MAX_BYTES = 128, CHECK_EVERY = 1 << 16 };

typedef struct spike {
  uint32_t step, neuron;
} spike;

typedef struct reader {
  const char *path;
  uint32_t neurons;
  uint64_t line;
  spike *list;
  uint64_t count, room;
} reader;

static cm_status refuse(const reader *r, const char *why, cm_error *error)
{
  cm_fail(error, CM_BAD_OPTION, "%s, line %llu: %s", r->path, (unsigned long long)r->line, why);
  return cm_fail_at(error, "line %llu", (unsigned long long)r->line);
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

static cm_status read_line(reader *r, char *line, cm_run *run, cm_error *error)
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
  if (neuron >= r->neurons)
    return refuse_network(r, "neuron", neuron, error);
  if (step >= CM_SPIKE_STEPS_MAX)
    return refuse(r, "steps go up to 99999", error);
  if (CM_ROOM(run->memory, r->list, &r->room, r->count + 1, error) != CM_OK)
    return error->status;
  r->list[r->count++] = (spike){(uint32_t)step, (uint32_t)neuron};
  return r->count % CHECK_EVERY == 0 ? cm_run_check(run, error) : CM_OK;
}

static cm_status sort_by_step(const reader *r, cm_run *run, cm_spikes *s, cm_error *error)
{
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

static cm_status read_stream(FILE *stream, const char *path, uint32_t neurons, cm_run *run, cm_spikes *spikes, cm_error *error)
{
  reader r = {.path = path, .neurons = neurons};
  cm_spikes made = {.neurons = neurons};
  char line[LINE_MAX_BYTES];
  cm_status status = CM_OK;
  while (status == CM_OK && fgets(line, sizeof line, stream) != NULL)
    status = read_line(&r, line, run, error);
  if (status == CM_OK && ferror(stream) != 0)
    status = cm_fail_errno(error, EIO, "cannot read", path);
  if (status == CM_OK && r.count == 0)
    status = cm_fail(error, CM_BAD_OPTION, "%s has no spike; lines are STEP,NEURON, both numbered from 0", path);
  if (status == CM_OK)
    status = sort_by_step(&r, run, &made, error);
  cm_free(r.list);
  if (status != CM_OK) {
    cm_spikes_free(&made);
    return status;
  }
  *spikes = made;
  return CM_OK;
}

cm_status cm_spikes_read(const char *path, uint32_t neurons, cm_run *run, cm_spikes *spikes, cm_error *error)
{
  FILE *stream = fopen(path, "re");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot read", path);
  cm_status status = read_stream(stream, path, neurons, run, spikes, error);
  fclose(stream);
  return status;
}

cm_status cm_spikes_parse(const char *text, const char *name, uint32_t neurons, cm_run *run, cm_spikes *spikes,
                          cm_error *error)
{
  /* One byte more than the text, for one of no bytes cannot be opened. */
  FILE *stream = fmemopen((char *)(uintptr_t)text, strlen(text) + 1, "r");
  if (stream == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory for %s", name);
  cm_status status = read_stream(stream, name, neurons, run, spikes, error);
  fclose(stream);
  return status;
}

void cm_spikes_free(cm_spikes *spikes)
{
  cm_free(spikes->first);
  cm_free(spikes->neuron);
  *spikes = (cm_spikes){0};
}
