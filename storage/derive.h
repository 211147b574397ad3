/* Private by derivation: what is made of other things is at most as visible as the narrowest of them (docs/how-to/users.md). */
#pragma once

#include "storage/jobs.h"

/* The same as cm_owner_narrow. `asked`: the visibility is the caller's word, and CM_BAD_OPTION when it is wider. */
cm_status cm_owner_derive(cm_owner *made, bool asked, const cm_owner *source, cm_error *error);

/* In a transaction: the owner of a job, and of what it makes, by all that it is made of: its network, its chip, the mapping that it starts
 * from or simulates, the spikes it reads. Asked when it is queued and again when it ends, for a source may have been hidden meanwhile
 * (not of a job that somebody has widened by his word: that holds for what it makes); what is gone leaves it as it was. */
cm_status cm_job_derive_in(sqlite3 *handle, const cm_job *job, cm_owner *owner, bool asked, cm_error *error);
