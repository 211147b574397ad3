libcoremapd_a_SOURCES += \
  api/server.h api/server.c api/limits.c api/listen.c api/proxies.c api/origin.c api/tls.c api/clients.h api/clients.c api/connections.c api/access.c api/sessions.c api/session_store.c api/owners.c api/descriptors.c api/kept.c api/kept_reply.c api/library.c api/request_read.c api/gzip.c api/request.h api/internal.h api/handlers.h api/routes.def api/log.c api/head.c api/body.c api/request.c api/pages.c api/reply.c api/write.h api/write.c \
  api/pool.c api/subscriptions.c api/shown.c api/routes.c \
  api/problem.h api/problem.c api/openapi.h api/openapi_notation.c api/openapi_document.c api/system.c api/metrics.c api/users.c api/quotas.c api/bin.c api/audit.c api/networks.c api/uploads.c api/chips.c api/occupancy.c \
  api/job_view.h api/job_view.c api/jobs.c api/submit.h api/submit.c api/batches.c api/events.c api/sweeps.c api/sweep_table.c api/fits.h api/fits.c api/making.h api/making.c api/exports.c api/mappings.c api/cores.c api/structure.c api/programs.c api/lists.h api/lists.c api/labels.c
nodist_libcoremapd_a_SOURCES = api/openapi_text.c

# What api/openapi_document.c makes the document of: a list of areas, what they have in common first.
OPENAPI = api/openapi/common.json api/openapi/server.json api/openapi/users.json api/openapi/networks.json api/openapi/uploads.json \
  api/openapi/chips.json api/openapi/occupancy.json api/openapi/jobs.json api/openapi/sweeps.json api/openapi/mappings.json api/openapi/programs.json \
  api/openapi/viewer.json
EXTRA_DIST += $(OPENAPI)
CLEANFILES += api/openapi_text.c
api/openapi_text.c: $(OPENAPI)
	$(AM_V_GEN)$(MKDIR_P) api && { echo '#include "api/server.h"'; echo 'const char cm_openapi_text[] = {'; \
	before='['; for f in $(OPENAPI); do echo "$$before"; cat $(srcdir)/$$f; before=,; done | \
	{ cat; echo ']'; } | od -An -v -tx1 | $(SED) 's/\([0-9a-f][0-9a-f]\)/0x\1,/g'; echo '0};'; } > $@.new && \
	mv $@.new $@
