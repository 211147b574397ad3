/* Checkpoints of a training, and what they must agree with. */
#include <sodium.h>

#include "base/file.h"
#include "core/learning/training/state.h"

enum { CHECKPOINT_BYTES_MAX = 256 << 20 };
static const char magic[] = "CMTRN001";

void cm_training_fingerprint(cm_training *t)
{
  crypto_hash_sha256_state state;
  const cm_train_options *o = &t->options;
  double shape[] = {(double)o->updates, o->threshold, o->rounds, o->noise,   o->epochs,  o->batch,
                    o->clip,            o->rate,      o->whole,  o->entropy, o->held_out, o->watch,
                    o->own,             o->draws};
  crypto_hash_sha256_init(&state);
  crypto_hash_sha256_update(&state, (const unsigned char *)&o->seed, sizeof o->seed);
  crypto_hash_sha256_update(&state, (const unsigned char *)shape, sizeof shape);
  crypto_hash_sha256_update(&state, (const unsigned char *)&t->policy->shape, sizeof t->policy->shape);
  for (uint32_t i = 0; i < t->count; i++) {
    const cm_flows *f = t->example[i]->flows;
    const cm_environment *s = t->example[i]->environment;
    crypto_hash_sha256_update(&state, (const unsigned char *)t->example[i]->name, strlen(t->example[i]->name) + 1);
    crypto_hash_sha256_update(&state, (const unsigned char *)f->target, f->first[f->parts] * sizeof *f->target);
    crypto_hash_sha256_update(&state, (const unsigned char *)f->weight, f->first[f->parts] * sizeof *f->weight);
    crypto_hash_sha256_update(&state, (const unsigned char *)s->site, s->sites * sizeof *s->site);
  }
  crypto_hash_sha256_final(&state, t->fingerprint);
}

cm_status cm_training_save(const cm_training *training, const char *path, cm_error *error)
{
  const cm_training *t = training;
  cm_checksummed_writer w;
  size_t numbers = t->policy->count * sizeof(float);
  cm_checksummed_begin(&w, magic);
  cm_checksummed_put(&w, t->fingerprint, sizeof t->fingerprint);
  cm_checksummed_put(&w, &t->updates, sizeof t->updates);
  cm_checksummed_put(&w, &t->adam.steps, sizeof t->adam.steps);
  cm_checksummed_put(&w, &t->episodes, sizeof t->episodes);
  cm_checksummed_put(&w, t->policy->parameter, numbers);
  cm_checksummed_put(&w, t->adam.moment, numbers);
  cm_checksummed_put(&w, t->adam.square, numbers);
  cm_checksummed_put(&w, t->curve, t->updates * sizeof *t->curve);
  return cm_checksummed_commit(&w, path, error);
}

/* Reads all fields, or leaves the training as it was. */
static cm_status restore(cm_training *t, cm_checksummed_reader *r, const char *path, cm_error *error)
{
  unsigned char of[CM_CHECKSUM_BYTES];
  uint32_t updates;
  uint64_t steps, episodes;
  size_t numbers = t->policy->count * sizeof(float);
  cm_checksummed_get(r, of, sizeof of);
  if (memcmp(of, t->fingerprint, sizeof of) != 0)
    return cm_fail(error, CM_CONFLICT, "%s is a checkpoint of other options or other graphs: resume with those, or "
                   "begin anew", path);
  cm_checksummed_get(r, &updates, sizeof updates);
  cm_checksummed_get(r, &steps, sizeof steps);
  cm_checksummed_get(r, &episodes, sizeof episodes);
  if (r->failed || updates > t->options.updates || r->size - r->at != 3 * numbers + updates * sizeof *t->curve)
    return cm_fail(error, CM_DAMAGED, "%s does not hold what a checkpoint after %u updates holds", path, updates);
  cm_checksummed_get(r, t->policy->parameter, numbers);
  cm_checksummed_get(r, t->adam.moment, numbers);
  cm_checksummed_get(r, t->adam.square, numbers);
  cm_checksummed_get(r, t->curve, updates * sizeof *t->curve);
  t->updates = updates;
  t->adam.steps = steps;
  t->episodes = episodes;
  return CM_OK;
}

cm_status cm_training_resume(cm_training *training, const char *path, cm_error *error)
{
  char *bytes;
  size_t size;
  CM_TRY(cm_file_read(path, CHECKPOINT_BYTES_MAX, &bytes, &size, error));
  cm_checksummed_reader r = {.bytes = (const unsigned char *)bytes, .size = size};
  cm_status status = cm_checksummed_open(&r, magic, "checkpoint", path, error);
  CM_THEN(status, restore(training, &r, path, error));
  free(bytes);
  return status;
}
