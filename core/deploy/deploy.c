#include "core/deploy/deploy.h"

#include <string.h>

#include "core/deploy/emitters.h"

cm_status cm_deploy_check(const cm_chip *chip, cm_error *error)
{
  cm_emit *emit;
  return cm_emitter_find(chip, &emit, error);
}

cm_status cm_deploy_inputs(const cm_profile *p, cm_memory *memory, cm_spikes *inputs, cm_error *error)
{
  const cm_spikes *all = &p->spikes;
  cm_spikes s = {.neurons = all->neurons, .steps = all->steps};
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(s.first, (size_t)s.steps + 1), CM_ARRAY(s.neuron, all->first[all->steps])),
            cm_spikes_free(&s));
  for (uint32_t step = 0; step < s.steps; step++) {
    s.first[step + 1] = s.first[step];
    for (uint64_t i = all->first[step]; i < all->first[step + 1]; i++)
      if (p->topology->dynamics->model[all->neuron[i]] == CM_NEURON_INPUT)
        s.neuron[s.first[step + 1]++] = all->neuron[i];
  }
  *inputs = s;
  return CM_OK;
}

/* Runs the network with loops as long as the chip's. */
static cm_status run_on_chip(cm_deployment *d, cm_run *run, cm_error *error)
{
  const cm_profile *r = d->reference;
  cm_semantics semantics = *r->semantics;
  cm_spikes inputs = {0};
  cm_stimulus stimulus = {.inputs = 0};
  semantics.loop = d->network.loop;
  semantics.delayed = d->network.delayed;
  const cm_profile_setting setting = {&semantics, r->dt, r->steps, false};
  cm_status status = cm_deploy_inputs(r, run->memory, &inputs, error);
  CM_THEN(status, cm_stimulus_given(r->topology, &inputs, r->steps, run, &stimulus, error));
  CM_THEN(status, cm_profile_run(r->topology, &setting, &stimulus, run, &d->on_chip, error));
  cm_stimulus_free(&stimulus);
  d->on_chip.semantics = r->semantics;
  return status;
}

static cm_status check_peak(const cm_images *m, const cm_image_peak *peak, uint64_t most, const char *what, cm_error *error)
{
  char called[64];
  if (most == 0 || peak->most <= most)
    return CM_OK;
  (void)cm_fail(error, CM_LIMIT_BROKEN, "%s has %llu %s in step %u, of which the chip loses those beyond %llu: map with smaller parts, or drive the network less",
                cm_image_core_called(m, peak->image, called, sizeof called), (unsigned long long)peak->most, what, peak->step, (unsigned long long)most);
  cm_error_figure(error, "most", peak->most);
  cm_error_figure(error, "limit", most);
  return error->status;
}

static cm_status check_stuck(const cm_deployment *d, cm_error *error)
{
  const cm_images_result *r = &d->result;
  char called[64];
  (void)cm_fail(error, CM_LIMIT_BROKEN, "%s sends %llu packets in step %u, of which the routers hold %llu until it ends and lose the others: map with smaller parts, or drive the network less",
                cm_image_core_called(&d->images, r->stuck.image, called, sizeof called), (unsigned long long)r->stuck.most, r->stuck.step, (unsigned long long)r->stuck_held);
  cm_error_figure(error, "most", r->stuck.most);
  cm_error_figure(error, "limit", r->stuck_held);
  return error->status;
}

static cm_status check_result(const cm_deployment *d, cm_error *error)
{
  const cm_image_limits *l = &d->images.chip->images;
  const cm_images_result *r = &d->result;
  uint32_t first;
  if (l->packets_per_step != 0 && r->packets_peak.most > l->packets_per_step)
    return cm_fail(error, CM_LIMIT_BROKEN, "the chip has %llu packets in step %u, of which it loses those beyond %llu: map on fewer cores, or drive the network less",
                   (unsigned long long)r->packets_peak.most, r->packets_peak.step, (unsigned long long)l->packets_per_step);
  CM_TRY(check_peak(&d->images, &r->spikes_peak, l->spikes_per_step, "spikes", error));
  if (r->stuck.most > 0)
    return check_stuck(d, error);
  if (r->lost > 0)
    return cm_fail(error, CM_LIMIT_BROKEN, "%llu delayed synapses are due beyond the %llu a step that a core has room for: use shorter delays, or smaller parts",
                   (unsigned long long)r->lost, (unsigned long long)l->delayed_per_step);
  if (cm_spikes_differ(&d->network, &d->quantised.result.spikes, &r->network, NULL, &first) > 0)
    return cm_fail(error, CM_INTERNAL, "the images spike otherwise than the quantised network, from step %u on", first);
  return CM_OK;
}

cm_status cm_deploy_run(const cm_profile *reference, const cm_mapped *mapped, bool events, cm_run *run, cm_deployment *deployment, cm_error *error)
{
  cm_deployment d = {.reference = reference};
  cm_integer_setting setting = {.semantics = reference->semantics, .dt = reference->dt, .hop = mapped->parts == 1 ? 1 : 2};
  cm_status status = cm_emitter_words(mapped->chip, &setting.words, error);
  CM_THEN(status, cm_integer_network_make(reference->topology, &setting, run, &d.network, error));
  CM_THEN(status, run_on_chip(&d, run, error));
  cm_run_phase(run, "quantise");
  CM_THEN(status, cm_quantise(&d.network, &d.on_chip.spikes, run, &d.quantised, error));
  cm_run_phase(run, "images");
  CM_THEN(status, cm_images_make(&d.network, mapped, reference->steps, run, &d.images, error));
  CM_THEN(status, cm_images_run(&d.images, &d.on_chip.spikes, events, run, &d.result, error));
  CM_END(status, *deployment = d, cm_deployment_free(&d));
}

cm_status cm_deploy(const cm_profile *reference, const cm_mapped *mapped, cm_run *run, cm_deployment *deployment, cm_error *error)
{
  cm_deployment d;
  CM_TRY(cm_deploy_run(reference, mapped, false, run, &d, error));
  CM_END(check_result(&d, error), *deployment = d, cm_deployment_free(&d));
}

cm_status cm_deployment_spikes(const cm_deployment *d, cm_memory *memory, cm_spikes *spikes, cm_error *error)
{
  const cm_images *m = &d->images;
  cm_spikes s = {.neurons = m->neurons, .steps = m->steps};
  uint64_t count = 0, next = 0;
  CM_TRY_OR(CM_NEW_ALL(memory, error, CM_ARRAY(s.first, (size_t)s.steps + 1), CM_ARRAY(s.neuron, d->result.spikes)),
            cm_spikes_free(&s));
  for (uint32_t step = 0; step < s.steps; step++) {
    for (; next < d->result.spikes && d->result.spike[next].step == step; next++) {
      const cm_image_neuron *n = &m->image[m->of_core[d->result.spike[next].core]].neuron[d->result.spike[next].neuron];
      if (n->kind <= CM_IMAGE_INPUT)
        s.neuron[count++] = n->of;
    }
    s.first[step + 1] = count;
  }
  *spikes = s;
  return CM_OK;
}

void cm_deployment_free(cm_deployment *d)
{
  cm_profile_free(&d->on_chip);
  cm_integer_network_free(&d->network);
  cm_quantised_free(&d->quantised);
  cm_images_free(&d->images);
  cm_images_result_free(&d->result);
  *d = (cm_deployment){.reference = NULL};
}
