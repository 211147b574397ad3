libcoremapd_a_SOURCES += \
  api/server.h api/server.c api/limits.c api/listen.c api/proxies.c api/origin.c api/tls.c api/clients.h api/clients.c api/connections.c api/access.c api/sessions.c api/session_store.c api/owners.c api/descriptors.c api/kept.c api/kept_reply.c api/library.c api/request_read.c api/gzip.c api/request.h api/internal.h api/handlers.h api/routes.def api/log.c api/head.c api/body.c api/request.c api/pages.c api/reply.c api/write.h api/write.c \
  api/pool.c api/subscriptions.c api/shown.c api/routes.c \
  api/problem.h api/problem.c api/system.c api/metrics.c api/users.c api/quotas.c api/bin.c api/audit.c api/networks.c api/uploads.c api/chips.c api/occupancy.c \
  api/job_view.h api/job_view.c api/jobs.c api/submit.c api/exports.c api/mappings.c api/programs.c api/results.c
nodist_libcoremapd_a_SOURCES = api/openapi.c
libcoremapd_a_CPPFLAGS = $(AM_CPPFLAGS) -DCM_VERSION='"$(PACKAGE_VERSION)"'

# The document is served from memory, with the options of jobs from their tables.
EXTRA_DIST += api/openapi.json
CLEANFILES += api/openapi.c
api/openapi.c: api/openapi.json
	$(AM_V_GEN)$(MKDIR_P) api && { echo '#include "api/server.h"'; echo 'const char cm_openapi_text[] = {'; \
	od -An -v -tx1 $(srcdir)/api/openapi.json | $(SED) 's/\([0-9a-f][0-9a-f]\)/0x\1,/g'; echo '0};'; } > $@.new && \
	mv $@.new $@
