/* What a question has, and what is told of neurons and places. */
#include "core/output/structure/asking.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/json.h"
#include "base/number.h"
#include "base/order.h"

const char *cm_asked(const cm_asking *q, const char *name)
{
  for (size_t i = 0; q->arguments[i] != NULL; i += 2)
    if (strcmp(q->arguments[i], name) == 0)
      return q->arguments[i + 1];
  return NULL;
}

cm_status cm_asked_badly(cm_error *error, const char *name, const char *format, ...)
{
  char text[CM_ERROR_DETAIL_MAX];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  (void)cm_fail(error, CM_BAD_OPTION, "%s", text);
  return cm_fail_at(error, "%.40s", name);
}

cm_status cm_asked_count(const cm_asking *q, const char *name, cm_count_range range, uint64_t *value, cm_error *error)
{
  const char *text = cm_asked(q, name);
  *value = range.normal;
  if (text == NULL || (cm_whole_parse(text, value) && *value >= range.low && *value <= range.high))
    return CM_OK;
  return cm_asked_badly(error, name, "%s must be a whole number from %" PRIu64 " to %" PRIu64, name, range.low, range.high);
}

cm_status cm_asked_neuron(const cm_asking *q, const char *text, uint32_t *neuron, cm_error *error)
{
  const uint32_t neurons = cm_structure_neurons(q->s);
  uint64_t number = 0;
  if (text != NULL && !cm_whole_parse(text, &number))
    for (const char *name; number < neurons && ((name = cm_neuron_name(q->s, (uint32_t)number)) == NULL || strcmp(name, text) != 0);)
      number++;
  if (text == NULL || number >= neurons)
    return cm_asked_badly(error, "neuron", "there is no neuron \"%.60s\": it must be a number below %" PRIu32 ", or a neuron's whole name",
                          text == NULL ? "" : text, neurons);
  *neuron = (uint32_t)number;
  return CM_OK;
}

void cm_axons_of(const cm_structure *s, uint32_t neuron, uint32_t *first, uint32_t *end)
{
  uint32_t low = s->axon_first[s->part[neuron]], high = s->axon_first[s->part[neuron] + 1];
  const uint32_t last = high;
  CM_BISECT(low, high, at, s->source[at] < neuron)
  *first = *end = low;
  while (*end < last && s->source[*end] == neuron)
    ++*end;
}

bool cm_next_input(const cm_structure *s, uint32_t neuron, uint64_t *at, uint32_t *axon)
{
  const uint64_t end = s->in_first[neuron + 1];
  uint64_t difference = 0;
  unsigned shift = 0;
  if (*at >= end)
    return false;
  while (*at < end && shift < 35) {
    const uint8_t byte = s->in[(*at)++];
    difference |= (uint64_t)(byte & 127) << shift;
    shift += 7;
    if (byte < 128)
      break;
  }
  difference += *axon;
  if (difference >= s->source_count) /* damaged */
    return false;
  *axon = (uint32_t)difference;
  return true;
}

const char *cm_neuron_name(const cm_structure *s, uint32_t neuron)
{
  return s->label_first_count > 0 && s->label_first[neuron] < s->label_count ? s->label + s->label_first[neuron] : NULL;
}

const char *cm_population_name(const cm_structure *s, uint32_t population)
{
  const char *name = s->population_name;
  for (uint32_t k = 0; k < population; k++)
    name += strlen(name) + 1;
  return name;
}

uint32_t cm_part_on(const cm_structure *s, uint32_t core)
{
  uint32_t p = 0;
  while (p < cm_structure_parts(s) && s->core[p] != core)
    p++;
  return p;
}

void cm_put_place(cm_asking *q, uint32_t part)
{
  const uint32_t core = q->s->core[part];
  (void)fprintf(q->w.stream, "\"part\": %" PRIu32 ", \"x\": %" PRIu32 ", \"y\": %" PRIu32, part, core % q->chip->width, core / q->chip->width);
}

void cm_put_neuron(cm_asking *q, uint32_t neuron)
{
  const char *name = cm_neuron_name(q->s, neuron);
  (void)fprintf(q->w.stream, "\"neuron\": %" PRIu32, neuron);
  if (name == NULL)
    return;
  cm_view_put_text(&q->w, ", \"name\": ");
  cm_json_put_string(name, q->w.stream);
}

void cm_put_core(cm_asking *q, uint32_t core)
{
  (void)fprintf(q->w.stream, "[%" PRIu32 ", %" PRIu32 "]", core % q->chip->width, core / q->chip->width);
}

void cm_put_packets(cm_asking *q, const char *name, uint64_t scaled)
{
  (void)fprintf(q->w.stream, ", \"%s\": ", name);
  cm_view_put_real(&q->w, (double)scaled / *q->s->unit);
}

void cm_put_table(cm_asking *q, uint64_t at, bool behind_another)
{
  const uint32_t router = q->s->router[at], columns = cm_chip_routers_x(q->chip);
  (void)fprintf(q->w.stream, "%s\n {\"router\": %" PRIu32, behind_another ? "," : "", router);
  if (router < columns * cm_chip_routers_y(q->chip))
    (void)fprintf(q->w.stream, ", \"x\": %" PRIu32 ", \"y\": %" PRIu32, router % columns, router / columns);
  (void)fprintf(q->w.stream, ", \"entries\": %" PRIu32 "}", q->s->entries[at]);
}
