/* Reading requests for jobs: what POST /v1/jobs takes, and a sweep for each of its points. */
#pragma once

#include "api/internal.h"

/* Reads and checks the request of a job whole; false: the reply is set. The caller clears *job in either case. */
bool cm_submit_read(cm_request *request, const json_t *object, cm_job *job);

/* Fills in what says how long a job takes: its likeness, size and time limit. */
void cm_submit_liken(cm_job *job, const library_job_kind *kind, const json_t *options, const cm_network *network);

/* Answers that a job or sweep was made, was there, or could not be. */
void cm_submit_reply(cm_request *request, cm_job_created result, const char *id);

/* Reads an array of jobs and queues them, all or none; replies. */
void cm_batch_submit(cm_request *request, const json_t *list, const cm_job_key *key);

/* Reads a sweep, queues its jobs, and replies. */
void cm_sweep_submit(cm_request *request, const json_t *body, const cm_job_key *key);
