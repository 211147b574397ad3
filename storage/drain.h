/* The wish that a server takes nothing new and ends once its running jobs have: a row of the database, so that whoever may
 * write the data folder can ask, beside a server that runs. */
#pragma once

#include "storage/database.h"

/* Asks for it, or takes the wish back. */
cm_status cm_drain_ask(cm_database *database, bool drain, cm_error *error);

/* Whether it is asked for. */
cm_status cm_drain_asked(cm_database *database, bool *asked, cm_error *error);
