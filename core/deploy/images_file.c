#include "core/deploy/images_file.h"

#include <inttypes.h>

#include "base/json.h"

/* Columns of a neuron's row. */
static const char columns[] = "[\"kind\", \"of\", \"shift\", \"model\", \"threshold\", \"leak\", \"rest\", \"refractory\", \"decay_v\", \"decay_u\", \"bias\", \"v_min\", \"v_max\", "
                              "\"pool\", \"synapses\", \"route\", \"routes\"]";

static void put_neuron(const cm_images *m, const cm_image_neuron *n, FILE *out)
{
  const cm_chip_parameters *p = &n->parameter;
  const uint32_t shift = n->kind <= CM_IMAGE_COPY ? m->shift[n->of] : 0;
  (void)fprintf(out, "[\"%s\", %" PRIu32 ", %" PRIu32 ", \"%s\", %d, %d, %d, %d, %d, %d, %d, %d, %d, %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", cm_image_kinds[n->kind], n->of,
                shift, cm_chip_neurons[p->model].name, p->threshold, p->leak, p->rest, p->refractory, p->decay_v, p->decay_u, p->bias, p->v_min, p->v_max, n->entry, n->entries,
                n->route, n->routes);
}

static void put_core(const cm_images *m, const cm_core_image *c, FILE *out)
{
  (void)fprintf(out, "{\"core\": %" PRIu32 ", \"x\": %" PRIu32 ", \"y\": %" PRIu32 ",\n  \"neurons\": [", c->core, c->core % m->chip->width, c->core / m->chip->width);
  for (uint64_t k = 0; k < c->neurons; k++) {
    (void)fputs(k == 0 ? "\n    " : ",\n    ", out);
    put_neuron(m, &c->neuron[k], out);
  }
  (void)fputs("],\n  \"pool\": [", out);
  for (uint64_t i = 0; i < c->entries; i++)
    (void)fprintf(out, "%s[%" PRIu32 ", %d, %d]", i == 0 ? "" : i % 16 == 0 ? ",\n    " : ", ", c->pool[i].target, c->pool[i].weight, c->pool[i].delay);
  (void)fputs("],\n  \"routes\": [", out);
  for (uint64_t i = 0; i < c->routes; i++)
    (void)fprintf(out, "%s[%" PRIu32 ", %" PRIu32 "]", i == 0 ? "" : i % 16 == 0 ? ",\n    " : ", ", c->route[i].core, c->route[i].neuron);
  (void)fputs("]}", out);
}

/* Steps and neurons of the network, of inputs alone. */
static void put_inputs(const cm_images *m, const cm_spikes *given, FILE *out)
{
  uint64_t count = 0;
  (void)fputs("],\n\"inputs\": [", out);
  for (uint32_t step = 0; step < given->steps; step++)
    for (uint64_t i = given->first[step]; i < given->first[step + 1]; i++) {
      const uint32_t v = given->neuron[i];
      if (m->image[m->core[v]].neuron[m->at[v]].kind == CM_IMAGE_INPUT)
        (void)fprintf(out, "%s[%" PRIu32 ", %" PRIu32 "]", count++ == 0 ? "" : count % 16 == 0 ? ",\n  " : ", ", step, v);
    }
}

void cm_images_print(const cm_images *m, const cm_spikes *given, FILE *out)
{
  (void)fputs("{\"version\": 1, \"chip\": ", out);
  cm_json_put_string(m->chip->name, out);
  (void)fprintf(out, ", \"format\": \"%s\", \"network_neurons\": %" PRIu32 ", \"network_synapses\": %" PRIu64 ", \"network_steps\": %" PRIu32 ", \"steps\": %" PRIu32
                ",\n\"neuron_columns\": %s,\n\"pool_columns\": [\"target\", \"weight\", \"delay\"], \"route_columns\": [\"core\", \"neuron\"],\n\"cores\": [",
                m->chip->images.format, m->neurons, m->synapses, m->network_steps, m->steps, columns);
  for (uint32_t i = 0; i < m->cores; i++) {
    (void)fputs(i == 0 ? "\n" : ",\n", out);
    put_core(m, &m->image[i], out);
  }
  put_inputs(m, given, out);
  (void)fputs("]}\n", out);
}

void cm_images_print_spikes(const cm_images_result *r, FILE *out)
{
  for (uint64_t i = 0; i < r->spikes; i++)
    (void)fprintf(out, "%" PRIu32 " %" PRIu32 " %" PRIu32 "\n", r->spike[i].step, r->spike[i].core, r->spike[i].neuron);
}

void cm_images_print_events(const cm_images *m, const cm_images_result *r, FILE *out)
{
  (void)fputs("run,core", out);
  for (int c = 0; c < CM_CHARGES; c++)
    (void)fprintf(out, ",%s", cm_charge_names[c]);
  (void)fputs("\n", out);
  for (uint32_t step = 0; step < m->steps; step++)
    for (uint32_t i = 0; i < m->cores; i++) {
      (void)fprintf(out, "%" PRIu32 ",%" PRIu32, step, m->image[i].core);
      for (int c = 0; c < CM_CHARGES; c++)
        (void)fprintf(out, ",%.0f", r->events[(size_t)step * m->cores + i].count[c]);
      (void)fputs("\n", out);
    }
}
