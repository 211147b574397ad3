#include "api/making.h"

#include <time.h>

#include "api/internal.h"
#include "storage/quotas.h"

static double thread_seconds(void)
{
  struct timespec now = {0};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

cm_status cm_making_begin(cm_request *request, cm_making *m, cm_error *error)
{
  CM_TRY(cm_quota_check_cpu(request->store->database, request->who.user, error));
  cm_memory_init(&m->memory, cm_server_limits_now(request->server).memory_limit);
  cm_run_init(&m->run);
  m->run.memory = &m->memory;
  m->run.cancel = &request->server->stopping;
  m->began = thread_seconds();
  return CM_OK;
}

void cm_making_end(cm_request *request, cm_making *m)
{
  cm_error ignored;
  cm_run_finish(&m->run);
  (void)cm_quota_note_cpu(request->store->database, request->who.user, thread_seconds() - m->began, &ignored);
}
