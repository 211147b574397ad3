/* The option "spikes" of jobs: neurons that fire are given, as text, or as an upload of the server. */
#pragma once

#include "base/option_upload.h"

typedef struct cm_spikes_given {
  bool text;                     /* it stays where it is: only a job that knows its network can read it */
  char upload[CM_UPLOAD_ID_MAX]; /* its id; "": none */
} cm_spikes_given;

static inline bool cm_spikes_are_given(const cm_spikes_given *given)
{
  return given->text || given->upload[0] != '\0';
}

/* How an option whose field is a cm_spikes_given is read. */
extern const cm_option_own cm_option_of_spikes;
