/* A job as clients see it: its members, its tag, and what a queued one waits for. */
#pragma once

#include "api/handlers.h"

bool cm_job_has_ended(cm_job_state state);

/* What the workers do now; nothing when that cannot be found out. */
cm_jobs_running cm_jobs_running_now(const cm_request *request);

/* The members of a job, into an object that is begun. `running`: what the workers do, for what a queued job waits for. */
void cm_job_write(cm_writer *w, const cm_request *request, const cm_job *job, bool whole, const cm_jobs_running *running);

/* The caller frees; NULL: no memory. */
char *cm_job_show(const cm_request *request, const cm_job *job, bool compact, size_t *size);

/* `version` of CM_WATCHED_ENDED from before the job was read. */
void cm_reply_shown(cm_request *request, unsigned status, const cm_job *job, const char *tag, uint64_t version);

/* Says whether anything about a job has changed since. */
void cm_job_tag(const cm_request *request, const cm_job *job, char *tag, size_t size);
