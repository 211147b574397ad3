#include "core/spiking/profile.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"

static cm_status keep(cm_profile *p, uint32_t step, const cm_step *now, uint64_t *room, cm_memory *memory, cm_error *error)
{
  const uint64_t begin = p->spikes.first[step];
  CM_TRY(CM_ROOM(memory, p->spikes.neuron, room, begin + now->count, error));
  if (now->count > 0)
    memcpy(p->spikes.neuron + begin, now->spike, now->count * sizeof *now->spike);
  p->spikes.first[step + 1] = begin + now->count;
  for (uint32_t i = 0; i < now->count; i++)
    p->count[now->spike[i]]++;
  p->events += now->events;
  return CM_OK;
}

static cm_status run_steps(cm_simulator *simulator, cm_stimulus *stimulus, cm_run *run, cm_profile *p, cm_error *error)
{
  const uint32_t *input;
  uint32_t inputs;
  uint64_t room = 0;
  cm_step now;
  for (uint32_t step = 0; step < p->steps; step++)
    if (cm_stimulus_step(stimulus, step, &input, &inputs, error) != CM_OK ||
        cm_simulator_step(simulator, input, inputs, &now, error) != CM_OK || keep(p, step, &now, &room, run->memory, error) != CM_OK ||
        cm_run_progress(run, (double)step / p->steps, -1, p->topology->vertex_count, now.count, error) != CM_OK)
      return error->status;
  return CM_OK;
}

cm_status cm_profile_run(const cm_topology *topology, const cm_profile_setting *setting, cm_stimulus *stimulus, cm_run *run, cm_profile *profile,
                         cm_error *error)
{
  cm_simulator *simulator = NULL;
  cm_profile p = {.topology = topology, .semantics = setting->semantics, .dt = setting->dt, .steps = setting->steps,
                  .spikes = {.neurons = topology->vertex_count, .steps = setting->steps}};
  cm_run_phase(run, "load");
  cm_status status = cm_simulator_new(topology, setting, run, &simulator, error);
  if (status == CM_OK && (CM_NEW(run->memory, p.count, topology->vertex_count, error) != CM_OK ||
                          CM_NEW(run->memory, p.spikes.first, (size_t)p.steps + 1, error) != CM_OK))
    status = error->status;
  cm_run_phase(run, "run");
  CM_THEN(status, run_steps(simulator, stimulus, run, &p, error));
  cm_simulator_free(simulator);
  if (status == CM_OK)
    *profile = p;
  else
    cm_profile_free(&p);
  return status;
}

void cm_profile_free(cm_profile *profile)
{
  cm_free(profile->count);
  cm_spikes_free(&profile->spikes);
  *profile = (cm_profile){.steps = 0};
}

/* ---- files ---- */

/* A neuron's name as a field of a table, or its number. */
static void put_name(const cm_topology *t, uint32_t neuron, FILE *stream)
{
  const char *name = cm_topology_label(t, neuron);
  if (name == NULL)
    (void)fprintf(stream, "%" PRIu32, neuron);
  else if (strpbrk(name, ",;\"\t #%") == NULL)
    (void)fputs(name, stream);
  else {
    (void)fputc('"', stream);
    for (; *name != '\0'; name++)
      (void)fprintf(stream, *name == '"' ? "\"%c" : "%c", *name);
    (void)fputc('"', stream);
  }
}

cm_status cm_profile_write_rates(const cm_profile *profile, const char *path, cm_error *error)
{
  cm_file file;
  CM_TRY(cm_file_create(&file, path, error));
  (void)fputs("neuron,rate\n", file.stream);
  for (uint32_t v = 0; v < profile->topology->vertex_count; v++) {
    put_name(profile->topology, v, file.stream);
    (void)fprintf(file.stream, ",%.9g\n", (double)profile->count[v] / profile->steps);
  }
  return cm_file_commit(&file, error);
}

cm_status cm_profile_write_spikes(const cm_profile *profile, const char *path, cm_error *error)
{
  const cm_spikes *s = &profile->spikes;
  cm_file file;
  CM_TRY(cm_file_create(&file, path, error));
  (void)fprintf(file.stream, "neurons,%" PRIu32 "\nstep,neuron\n", s->neurons);
  for (uint32_t step = 0; step < s->steps; step++)
    for (uint64_t i = s->first[step]; i < s->first[step + 1]; i++) {
      (void)fprintf(file.stream, "%" PRIu32 ",", step);
      put_name(profile->topology, s->neuron[i], file.stream);
      (void)fputc('\n', file.stream);
    }
  return cm_file_commit(&file, error);
}
