# Tests that drive a live daemon over HTTP, and of what it keeps; tests/api/client.h holds what they share.
if HAVE_CHECK
SERVER_TESTS = tests/unit/storage tests/unit/storage_folders tests/unit/storage_jobs tests/unit/storage_leases tests/unit/storage_owners tests/unit/ownership tests/unit/storage_retention tests/unit/queue tests/unit/queue_costs tests/unit/ledger tests/unit/check_data tests/api/resources tests/api/networks tests/api/chips tests/api/jobs tests/api/mappings tests/api/simulations tests/api/connections tests/api/users tests/api/rights tests/fault/server
# With models among what they send.
if ONNX
SERVER_TESTS += tests/unit/checked_jobs tests/api/programs tests/api/executors tests/api/audit
EXECUTOR_TESTS = jobs mappings programs simulations
else
EXECUTOR_TESTS = jobs mappings simulations
endif
check_PROGRAMS += $(SERVER_TESTS)
dist_check_SCRIPTS += tests/api/process
TESTS += $(SERVER_TESTS) tests/api/process
API_LIBS = $(SERVER_LIBS) $(CHECK_LIBS) $(CURL_LIBS)
API_CLIENT = tests/api/client.c tests/api/client.h
tests_unit_storage_LDADD = $(API_LIBS)
tests_unit_storage_folders_LDADD = $(API_LIBS)
tests_unit_storage_jobs_LDADD = $(API_LIBS)
tests_unit_storage_leases_LDADD = $(API_LIBS)
tests_unit_storage_retention_LDADD = $(API_LIBS)
tests_unit_storage_owners_LDADD = $(API_LIBS)
tests_unit_ownership_LDADD = $(API_LIBS)
tests_unit_queue_LDADD = $(API_LIBS)
tests_unit_queue_costs_LDADD = $(API_LIBS)
tests_unit_ledger_LDADD = $(API_LIBS)
tests_unit_check_data_LDADD = $(API_LIBS)
tests_unit_checked_jobs_LDADD = $(API_LIBS)
tests_unit_checked_jobs_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=library_mapping_store -Wl,--wrap=cm_check_mapping -Wl,--wrap=coremap_compile_files
tests_api_resources_SOURCES = tests/api/resources.c $(API_CLIENT)
tests_api_resources_LDADD = $(API_LIBS)
tests_api_networks_SOURCES = tests/api/networks.c $(API_CLIENT)
tests_api_networks_LDADD = $(API_LIBS)
tests_api_chips_SOURCES = tests/api/chips.c $(API_CLIENT)
tests_api_chips_LDADD = $(API_LIBS)
tests_api_jobs_SOURCES = tests/api/jobs.c tests/api/jobs.h $(API_CLIENT)
tests_api_jobs_LDADD = $(API_LIBS)
tests_api_mappings_SOURCES = tests/api/mappings.c tests/api/jobs.h $(API_CLIENT)
tests_api_mappings_LDADD = $(API_LIBS)
tests_api_programs_SOURCES = tests/api/programs.c tests/api/jobs.h $(API_CLIENT)
tests_api_programs_LDADD = $(API_LIBS)
tests_api_simulations_SOURCES = tests/api/simulations.c tests/api/jobs.h $(API_CLIENT)
tests_api_simulations_LDADD = $(API_LIBS)
tests_api_connections_SOURCES = tests/api/connections.c $(API_CLIENT)
tests_api_connections_LDADD = $(API_LIBS)
tests_api_executors_SOURCES = tests/api/executors.c $(API_CLIENT)
tests_api_executors_LDADD = $(API_LIBS)
tests_api_users_SOURCES = tests/api/users.c $(API_CLIENT)
tests_api_users_LDADD = $(API_LIBS)
tests_api_audit_SOURCES = tests/api/audit.c tests/api/jobs.h $(API_CLIENT)
tests_api_audit_LDADD = $(API_LIBS)
tests_api_rights_SOURCES = tests/api/rights.c $(API_CLIENT)
tests_api_rights_LDADD = $(API_LIBS)
# It runs those of jobs and what they make: with tests built side by side, not before they are there.
# Said by a variable: automake leaves its own rule for a test out where it finds one with the same name.
OF_EXECUTORS = tests/api/process.log
$(OF_EXECUTORS): $(EXECUTOR_TESTS:%=tests/api/%$(EXEEXT))
tests_fault_server_SOURCES = tests/fault/server.c $(API_CLIENT)
tests_fault_server_LDADD = $(API_LIBS)
endif
