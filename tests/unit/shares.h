/* Mappings that jobs make and are given, for the tests of whose they are. */
#pragma once

#include "store.h"

#include "storage/bin.h"
#include "storage/holders.h"
#include "storage/mappings.h"
#include "storage/users.h"

static inline cm_owner owner_of(const char *user, cm_visibility visibility, const char *group)
{
  cm_owner owner = {.visibility = visibility};
  (void)snprintf(owner.user, sizeof owner.user, "%s", user);
  (void)snprintf(owner.group, sizeof owner.group, "%s", visibility == CM_VISIBLE_GROUP ? group : "");
  return owner;
}

/* A job that is queued; one that needs no mapping comes before those that do. */
static inline void queue_job(const cm_owner *owner, const char *kind, const char *options, char *id)
{
  char text[200];
  cm_job_created result;
  (void)snprintf(text, sizeof text, "%s", options);
  cm_job job = {.network = "abc", .chip = "toy", .options = text, .ttl = 60, .owner = *owner, .priority = strcmp(options, "{}") == 0};
  (void)snprintf(job.kind, sizeof job.kind, "%s", kind);
  ck_ok(cm_jobs_create(store, &job, NULL, &result, id, &error));
}

/* The next queued job ends with a mapping of this id, which is new or (fingerprint NULL) there already. */
static inline cm_status end_job(const char *id, const char *fingerprint)
{
  cm_job job;
  bool taken;
  char path[80];
  claim(&job);
  cm_mapping_row row = {.owner = job.owner, .kind = "map", .network = "abc", .chip = "toy", .bytes = 10, .created = cm_store_time()};
  (void)snprintf(row.id, sizeof row.id, "%s", id);
  (void)snprintf(row.job, sizeof row.job, "%s", job.id);
  if (fingerprint != NULL) {
    (void)snprintf(row.fingerprint, sizeof row.fingerprint, "%s", fingerprint);
    (void)snprintf(path, sizeof path, "mappings/%s", id);
    ck_ok(cm_folder_make(inside(path), &error));
  }
  const cm_job_outcome outcome = {.state = CM_JOB_DONE, .mapping = fingerprint != NULL ? &row : NULL,
                                  .reused_mapping = fingerprint == NULL ? id : NULL};
  cm_status status = cm_jobs_finish(store, &job, &outcome, &taken, &error);
  ck_assert(status == CM_OK || taken);
  if (taken)
    ck_ok(cm_jobs_requeue(store, &job, true, &(cm_error){0}));
  cm_job_clear(&job);
  return status;
}

/* Whether somebody sees a mapping; *his: and may change it. */
static inline bool mapping_shows(const char *id, const char *user, const char *group, bool *his)
{
  cm_owner owner;
  const cm_viewer viewer = {user, group, false};
  const cm_status status = cm_owners_get(store->database, CM_OBJECT_MAPPING, id, NULL, &viewer, &owner, &error);
  ck_assert(status == CM_OK || status == CM_NOT_FOUND);
  *his = status == CM_OK && cm_owner_lets(&owner, &viewer);
  return status == CM_OK;
}

static inline cm_status delete_mapping(const char *id, const char *user, bool *last)
{
  return cm_bin_put(store, CM_OBJECT_MAPPING, id, user != NULL ? &(cm_viewer){user, "", false} : NULL, last, &error);
}
