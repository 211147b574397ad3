/* One thread that follows all jobs under way, however many: it polls their submissions, and tells of their ends. */
#pragma once

#include "daemon/executor.h"

typedef struct cm_follower cm_follower;

/* What is followed; the caller's, and there until it has ended or the follower has stopped. */
typedef struct cm_followed {
  cm_submission *submission;
  void (*ended)(void *user); /* called once, from the thread that follows */
  void *user;
  double looked; /* the rest is the follower's */
  struct cm_followed *next;
} cm_followed;

/* CM_NO_MEMORY. */
cm_status cm_follower_start(cm_follower **follower, cm_error *error);

/* Any thread may call. */
void cm_follower_add(cm_follower *follower, cm_followed *followed);

/* When it last looked (cm_now): it does so every few seconds, whatever there is to do. */
double cm_follower_looked(const cm_follower *follower);

/* Follows nothing from now on: what has not ended is as it was left. NULL is allowed. */
void cm_follower_stop(cm_follower *follower);
