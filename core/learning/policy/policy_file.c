/* Policy files: shape, bound, card and numbers between a magic word and a checksum. */
#include <math.h>

#include "base/file.h"
#include "core/learning/policy/policy.h"
#include "core/learning/policy/checksummed_file.h"
#include "core/learning/policy/shipped.h"

/* The last three are the version. A shape of the second has its kind too. */
static const char magic[] = "CMPOL001", magic_kind[] = "CMPOL002";
static const size_t shape_bytes = offsetof(cm_policy_shape, kind);
static const char kind[] = "policy";

cm_status cm_policy_save(const cm_policy *policy, const char *path, cm_error *error)
{
  cm_checksummed_writer w;
  uint32_t card = (uint32_t)strlen(policy->card);
  bool kinds = policy->shape.kind > 0;
  cm_checksummed_begin(&w, kinds ? magic_kind : magic);
  cm_checksummed_put(&w, &policy->shape, kinds ? sizeof policy->shape : shape_bytes);
  cm_checksummed_put(&w, &policy->bound, sizeof policy->bound);
  cm_checksummed_put(&w, &card, sizeof card);
  cm_checksummed_put(&w, policy->card, card);
  cm_checksummed_put(&w, policy->parameter, policy->count * sizeof *policy->parameter);
  if (w.size + CM_CHECKSUM_BYTES > CM_POLICY_FILE_BYTES_MAX) {
    free(w.bytes);
    return cm_fail(error, CM_TOO_LARGE, "a policy of %zu numbers is more than a file holds (%d bytes)", policy->count,
                   CM_POLICY_FILE_BYTES_MAX);
  }
  return cm_checksummed_commit(&w, path, error);
}

static bool all_finite(const cm_policy *policy)
{
  for (size_t i = 0; i < policy->count; i++)
    if (!isfinite(policy->parameter[i]))
      return false;
  return true;
}

/* The checksummed fields; the checksum was right, so that what is wrong here was wrong when it was written. */
static cm_status read_fields(cm_checksummed_reader *r, bool kinds, const char *name, cm_policy **policy, cm_error *error)
{
  cm_policy_shape shape = {0};
  float bound;
  uint32_t length;
  cm_policy *made;
  cm_checksummed_get(r, &shape, kinds ? sizeof shape : shape_bytes);
  cm_checksummed_get(r, &bound, sizeof bound);
  cm_checksummed_get(r, &length, sizeof length);
  if (r->failed || length > r->size - r->at)
    return cm_fail(error, CM_DAMAGED, "%s ends before its card", name);
  if (cm_policy_new(&shape, bound, 0, &made, error) != CM_OK) {
    if (error->status != CM_NO_MEMORY)
      error->status = CM_DAMAGED; /* a shape that no policy has */
    cm_fail_more(error, ": %s", name);
    return error->status;
  }
  char *card = malloc((size_t)length + 1);
  if (card != NULL) {
    cm_checksummed_get(r, card, length);
    card[length] = '\0';
    free(made->card);
    made->card = card;
  }
  cm_checksummed_get(r, made->parameter, made->count * sizeof *made->parameter);
  cm_status status = cm_whole(card != NULL, "a policy", error);
  if (status == CM_OK && (r->failed || r->at != r->size || !all_finite(made)))
    status = cm_fail(error, CM_DAMAGED, "%s does not hold the %zu numbers of its shape", name, made->count);
  CM_END(status, *policy = made, cm_policy_free(made));
}

cm_status cm_policy_parse(const void *bytes, size_t size, const char *name, cm_policy **policy, cm_error *error)
{
  cm_checksummed_reader r = {.bytes = bytes, .size = size};
  bool kinds = size > CM_MAGIC_BYTES && memcmp(bytes, magic_kind, CM_MAGIC_BYTES) == 0;
  CM_TRY(cm_checksummed_open(&r, kinds ? magic_kind : magic, kind, name, error));
  return read_fields(&r, kinds, name, policy, error);
}

cm_status cm_policy_load(const char *path, cm_policy **policy, cm_error *error)
{
  char *bytes;
  size_t size;
  CM_TRY(cm_file_read(path, CM_POLICY_FILE_BYTES_MAX, &bytes, &size, error));
  cm_status status = cm_policy_parse(bytes, size, path, policy, error);
  free(bytes);
  return status;
}

cm_status cm_policy_shipped(cm_shipped_policy which, cm_policy **policy, cm_error *error)
{
  const cm_shipped_file *file = &cm_shipped_files[which];
  return cm_policy_parse(file->bytes, file->size, "a policy of this program", policy, error);
}
