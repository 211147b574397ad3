/* Happy path: least squares of each operator's pieces, weighted by their run. What can fail: lines that are no pieces, devices that the chip does not have; memory. */
#include "core/chip/rates_fit.h"

#include <errno.h>
#include <math.h>

static const char header[] = "run,device,kind,operator,operations,ns";
enum { CELLS = 6, RUNS_MAX = 4096 };

typedef struct piece {
  uint32_t run, group;
  double operations, ns;
} piece;

typedef struct measured_run {
  const char *name;
  double ns, foreseen_ns;
} measured_run;

/* Pieces of one device and kind, and of an operator on a type: weighted sums of operations x, x x and x y for times y; or all operators on a type, for
 * those that the table lacks. */
typedef struct group {
  uint32_t device;
  cm_unit_kind kind;
  const char *name;
  double x, xx, xy;
  double was_ns, ns; /* of an operation */
} group;

typedef struct fit {
  cm_target *target;
  cm_memory *memory;
  piece *pieces;
  measured_run *runs;
  group *groups;
  uint64_t piece_count, piece_room, run_count, run_room, group_count, group_room, line;
} fit;

bool cm_rates_are_measured(const char *csv)
{
  return strncmp(csv, "run,device,", 11) == 0;
}

/* ---- reading ---- */

static cm_status find_run(fit *f, const char *name, uint32_t *number, cm_error *error)
{
  for (uint64_t k = f->run_count; k-- > 0;)
    if (strcmp(f->runs[k].name, name) == 0) {
      *number = (uint32_t)k;
      return CM_OK;
    }
  if (f->run_count == RUNS_MAX)
    return cm_fail(error, CM_BAD_REQUEST, "more than %d runs", RUNS_MAX);
  CM_TRY(CM_ROOM(f->memory, f->runs, &f->run_room, f->run_count + 1, error));
  f->runs[f->run_count] = (measured_run){.name = name};
  *number = (uint32_t)f->run_count++;
  return CM_OK;
}

static cm_status find_group(fit *f, const char *device, const char *kind, const char *name, uint32_t *number, cm_error *error)
{
  group g = {.device = 0, .kind = CM_UNIT_MATRIX, .name = name};
  while (g.device < f->target->device_count && strcmp(f->target->device[g.device].name, device) != 0)
    g.device++;
  while (g.kind < CM_UNIT_KINDS && strcmp(cm_unit_name(g.kind), kind) != 0)
    g.kind++;
  if (g.device == f->target->device_count || g.kind == CM_UNIT_KINDS || !cm_device_does(&f->target->device[g.device], g.kind))
    return cm_fail(error, CM_BAD_REQUEST, "line %llu: the chip has no device \"%.40s\" with a rate for kind \"%.40s\": the runs are of another chip", (unsigned long long)f->line, device,
                   kind);
  for (uint64_t k = 0; k < f->group_count; k++)
    if (f->groups[k].device == g.device && f->groups[k].kind == g.kind && strcmp(f->groups[k].name, name) == 0) {
      *number = (uint32_t)k;
      return CM_OK;
    }
  CM_TRY(CM_ROOM(f->memory, f->groups, &f->group_room, f->group_count + 1, error));
  const double rate = cm_device_rate(&f->target->device[g.device], g.kind, name);
  g.was_ns = rate > 0 ? 1 / rate : 0;
  f->groups[f->group_count] = g;
  *number = (uint32_t)f->group_count++;
  return CM_OK;
}

static bool read_number(const char *cell, double *number)
{
  char *end;
  errno = 0;
  *number = strtod(cell, &end);
  return end != cell && *end == '\0' && errno == 0 && *number >= 0 && *number <= 1e15;
}

static cm_status read_line(fit *f, char *line, cm_error *error)
{
  char *cell[CELLS];
  int cells = 0;
  piece p = {.run = 0};
  uint32_t of_type;
  for (char *at = line; at != NULL; at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL)
    if (cells++ < CELLS)
      cell[cells - 1] = at;
  for (char *comma = line; (comma = strchr(comma, ',')) != NULL; comma++)
    *comma = '\0';
  if (cells != CELLS)
    return cm_fail(error, CM_BAD_REQUEST, "line %llu has %d cells instead of the six of %s", (unsigned long long)f->line, cells, header);
  if (!read_number(cell[4], &p.operations) || !read_number(cell[5], &p.ns))
    return cm_fail(error, CM_BAD_REQUEST, "line %llu: operations \"%.40s\" and ns \"%.40s\" should be numbers from 0 to 1e15", (unsigned long long)f->line, cell[4], cell[5]);
  const char *slash = strchr(cell[3], '/');
  if (slash == NULL || strlen(cell[3]) >= CM_TARGET_NAME_MAX)
    return cm_fail(error, CM_BAD_REQUEST, "line %llu: \"%.60s\" is no operator and type, as Conv/float32", (unsigned long long)f->line, cell[3]);
  CM_TRY(find_run(f, cell[0], &p.run, error));
  CM_TRY(find_group(f, cell[1], cell[2], cell[3], &p.group, error));
  CM_TRY(find_group(f, cell[1], cell[2], slash + 1, &of_type, error));
  CM_TRY(CM_ROOM(f->memory, f->pieces, &f->piece_room, f->piece_count + 1, error));
  if (p.ns <= 0 || p.operations <= 0)
    return CM_OK; /* says nothing */
  f->runs[p.run].ns += p.ns;
  f->pieces[f->piece_count++] = p;
  return CM_OK;
}

static cm_status read_lines(fit *f, char *text, cm_error *error)
{
  for (char *line = text, *next; line != NULL; line = next) {
    next = strchr(line, '\n');
    if (next != NULL)
      *next++ = '\0';
    line[strcspn(line, "\r")] = '\0';
    if (f->line++ == 0 && strcmp(line, header) != 0)
      return cm_fail(error, CM_BAD_REQUEST, "line 1 should be %s", header);
    if (line[0] != '\0' && strcmp(line, header) != 0 && read_line(f, line, error) != CM_OK)
      return error->status;
  }
  return f->piece_count > 0 ? CM_OK : cm_fail(error, CM_BAD_REQUEST, "there is no piece in it: expected lines of %s", header);
}

/* ---- fitting ---- */

/* Four digits: more would not be measured. */
static double rounded(double number)
{
  char text[32];
  (void)snprintf(text, sizeof text, "%.4g", number);
  return strtod(text, NULL);
}

static cm_status put_rate(cm_device *device, const group *g, cm_error *error)
{
  uint32_t at = 0;
  while (at < device->rate_count[g->kind] && strcmp(device->rate[g->kind][at].type, g->name) != 0)
    at++;
  if (at == CM_TARGET_RATES_MAX)
    return cm_fail(error, CM_BAD_REQUEST, "device %s would have more than %d rates of one kind", device->name, CM_TARGET_RATES_MAX);
  (void)snprintf(device->rate[g->kind][at].type, CM_TARGET_NAME_MAX, "%s", g->name);
  device->rate[g->kind][at].per_ns = rounded(1 / g->ns);
  device->rate_count[g->kind] += at == device->rate_count[g->kind];
  return CM_OK;
}

/* What a piece takes beside its operations. */
static double before(const fit *f, const group *g)
{
  return f->target->issue_ns + f->target->device[g->device].latency_ns;
}

/* The geometric mean over the operators on a type: a table may have many pieces of one of them. 0: none tells. */
static double mean_of_type(const fit *f, const group *type)
{
  double sum = 0, count = 0;
  for (uint64_t k = 0; k < f->group_count; k++) {
    const group *g = &f->groups[k];
    const char *slash = strchr(g->name, '/');
    if (slash == NULL || g->ns <= 0 || g->device != type->device || g->kind != type->kind || strcmp(slash + 1, type->name) != 0)
      continue;
    sum += log(g->ns);
    count++;
  }
  return count > 0 ? exp(sum / count) : 0;
}

static cm_status fit_rates(fit *f, cm_error *error)
{
  for (uint64_t k = 0; k < f->piece_count; k++) {
    const piece *p = &f->pieces[k];
    group *g = &f->groups[p->group];
    const double w = p->operations / (p->ns * f->runs[p->run].ns);
    g->x += w;
    g->xx += w * p->operations;
    g->xy += w * p->ns;
  }
  for (uint64_t k = 0; k < f->group_count; k++) {
    group *g = &f->groups[k];
    if (g->xx > 0) {
      const double price = (g->xy - before(f, g) * g->x) / g->xx;
      g->ns = fmin(fmax(price, g->xy / g->xx / 10), 1e9); /* pieces below what all take beside: a tenth is of their operations */
    }
  }
  for (uint64_t k = 0; k < f->group_count; k++) {
    group *g = &f->groups[k];
    if (strchr(g->name, '/') == NULL)
      g->ns = mean_of_type(f, g);
    CM_TRY_IF(g->ns > 0, put_rate(&f->target->device[g->device], g, error));
  }
  return CM_OK;
}

static json_t *report_of(fit *f, const char *chip)
{
  json_t *prices = json_array(), *runs = json_array();
  double most = 0, sum = 0;
  for (uint64_t k = 0; k < f->group_count; k++)
    if (f->groups[k].ns > 0)
      (void)json_array_append_new(
        prices, json_pack("{s:o, s:f, s:f}", "price",
                          json_sprintf("%s %s %s", f->target->device[f->groups[k].device].name, cm_unit_name(f->groups[k].kind), f->groups[k].name),
                          "was_ns", f->groups[k].was_ns, "ns", f->groups[k].ns));
  for (uint64_t k = 0; k < f->piece_count; k++) {
    const group *g = &f->groups[f->pieces[k].group];
    f->runs[f->pieces[k].run].foreseen_ns += before(f, g) + f->pieces[k].operations * g->ns;
  }
  for (uint64_t k = 0; k < f->run_count; k++) {
    const measured_run *r = &f->runs[k];
    const double off = r->ns > 0 ? r->foreseen_ns / r->ns - 1 : 0;
    (void)json_array_append_new(runs, json_pack("{s:s, s:f, s:f, s:f}", "run", r->name, "measured_ns", r->ns, "foreseen_ns", r->foreseen_ns, "error", off));
    most = fmax(most, fabs(off));
    sum += fabs(off);
  }
  return json_pack("{s:s, s:I, s:o, s:f, s:f, s:o}", "chip", chip, "runs", (json_int_t)f->run_count, "prices", prices, "error_mean", sum / (double)f->run_count, "error_max",
                   most, "steps", runs);
}

cm_status cm_rates_fit(const char *csv, cm_chip *chip, cm_run *run, json_t **report, cm_error *error)
{
  fit f = {.target = chip->target, .memory = run->memory};
  char *text;
  if (chip->target == NULL)
    return cm_fail(error, CM_BAD_REQUEST, "these are pieces of programs, and chip %s runs none: it has no \"machine\"", chip->name);
  CM_TRY(CM_NEW(f.memory, text, strlen(csv) + 1, error));
  memcpy(text, csv, strlen(csv) + 1);
  cm_status status = read_lines(&f, text, error);
  CM_THEN(status, fit_rates(&f, error));
  if (status == CM_OK) {
    *report = report_of(&f, chip->name);
    status = cm_whole(*report != NULL, "the report", error);
  }
  CM_FREE(f.pieces, f.runs, f.groups, text);
  return status;
}
