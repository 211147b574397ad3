/* Who sends how much to whom, as a matrix: parts, or populations. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "core/output/structure/asking.h"

/* A figure of many: whole ones by their digits, others to nine. */
static void put_figure(cm_asking *q, double value)
{
  if (value >= 0 && value < 1e15 && value == (double)(uint64_t)value)
    cm_view_put_count(&q->w, (uint64_t)value);
  else
    (void)fprintf(q->w.stream, "%.9g", value);
}

static void put_rows(cm_asking *q, const double *value, uint32_t side)
{
  cm_view_put_text(&q->w, ",\n\"rows\": [");
  for (uint32_t i = 0; i < side; i++) {
    cm_view_put_text(&q->w, i > 0 ? ",\n [" : "\n [");
    for (uint32_t j = 0; j < side; j++) {
      if (j > 0)
        (void)fputc(',', q->w.stream);
      put_figure(q, value[(size_t)i * side + j]);
    }
    cm_view_put_text(&q->w, "]");
  }
  cm_view_put_text(&q->w, "]}\n");
}

static void put_head(cm_asking *q, const char *by, const char *unit, uint32_t of)
{
  const uint32_t fold = (of + CM_MATRIX_SIDE_MAX - 1) / CM_MATRIX_SIDE_MAX;
  (void)fprintf(q->w.stream, "{\"by\": \"%s\", \"unit\": \"%s\", \"of\": %" PRIu32 ", \"folded\": %" PRIu32, by, unit, of, fold);
}

static cm_status answer_parts(cm_asking *q, cm_error *error)
{
  const cm_structure *s = q->s;
  const uint32_t parts = cm_structure_parts(s), fold = (parts + CM_MATRIX_SIDE_MAX - 1) / CM_MATRIX_SIDE_MAX, side = (parts + fold - 1) / fold;
  double *value;
  CM_TRY(CM_NEW(NULL, value, (size_t)side * side, error));
  for (uint32_t p = 0; p < parts; p++)
    for (uint32_t a = s->axon_first[p]; a < s->axon_first[p + 1]; a++)
      for (uint64_t i = s->pair_first[a]; i < s->pair_first[a + 1]; i++)
        value[(size_t)(p / fold) * side + s->pair_part[i] / fold] += (double)cm_pair_packets(s, a, i);
  for (size_t i = 0; i < (size_t)side * side; i++)
    value[i] /= *s->unit;
  put_head(q, "part", "packets", parts);
  put_rows(q, value, side);
  cm_free(value);
  return CM_OK;
}

static cm_status answer_populations(cm_asking *q, cm_error *error)
{
  const cm_structure *s = q->s;
  uint32_t side = 0, count = 0;
  if (s->population_count == 0)
    return cm_fail(error, CM_NOT_FOUND, "the network has no populations: ask for by=part");
  while ((uint64_t)side * side < s->matrix_count)
    side++;
  for (uint64_t i = 0; i < s->population_name_count; i++)
    count += s->population_name[i] == '\0';
  put_head(q, "population", "synapse events", count);
  cm_view_put_text(&q->w, ",\n\"names\": [");
  for (const char *name = s->population_name; name < s->population_name + s->population_name_count; name += strlen(name) + 1) {
    cm_view_put_text(&q->w, name > s->population_name ? ", " : "");
    cm_json_put_string(name, q->w.stream);
  }
  cm_view_put_text(&q->w, "]");
  put_rows(q, s->matrix, side);
  return CM_OK;
}

cm_status cm_answer_matrix(cm_asking *q, cm_error *error)
{
  const char *by = cm_asked(q, "by");
  if (by == NULL || strcmp(by, "part") == 0)
    return answer_parts(q, error);
  if (strcmp(by, "population") == 0)
    return answer_populations(q, error);
  return cm_asked_badly(error, "by", "by must be part or population");
}
