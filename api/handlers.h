/* The handlers of the routes (routes.c), by the file that has them, and what handlers lend each other. A handler runs
 * in a pool's thread, where it may block, or at once where its route says so, and sets a reply. */
#ifndef CM_API_HANDLERS_H
#define CM_API_HANDLERS_H

#include "api/internal.h"
#include "core/mapping/export.h"
#include "storage/audit.h"
#include "storage/leases.h"
#include "storage/limits.h"
#include "storage/mappings.h"

void cm_get_health(cm_request *request);
void cm_get_ready(cm_request *request);
void cm_list_bin(cm_request *request);
void cm_restore_binned(cm_request *request);
void cm_delete_binned(cm_request *request);
void cm_empty_bin(cm_request *request);
void cm_put_pin(cm_request *request);
void cm_delete_pin(cm_request *request);
void cm_list_retention(cm_request *request);
void cm_put_retention(cm_request *request);
/* Deletes a network, mapping, program or job, into the bin where there is one, and replies. */
void cm_request_delete(cm_request *request, cm_object object, const char *id);
void cm_put_drain(cm_request *request);
void cm_delete_drain(cm_request *request);
void cm_get_metrics(cm_request *request);
void cm_get_openapi(cm_request *request);
void cm_get_cache(cm_request *request);
void cm_delete_cache(cm_request *request);
void cm_get_static(cm_request *request);

void cm_get_me(cm_request *request);
void cm_post_session(cm_request *request);
void cm_delete_session(cm_request *request);
void cm_get_access(cm_request *request);
void cm_put_access(cm_request *request);
void cm_list_users(cm_request *request);
void cm_post_user(cm_request *request);
void cm_get_user(cm_request *request);
void cm_patch_user(cm_request *request);
void cm_delete_user(cm_request *request);
void cm_get_usage(cm_request *request);
void cm_get_audit(cm_request *request);
/* What a request causes, for the audit trail. */
void cm_audit_of(const cm_request *request, cm_audit_entry *entry);
void cm_list_quotas(cm_request *request);
/* Adds the limits of a row as members, null for those that are not set. */
void cm_limits_add(json_t *object, const cm_limit_kind *kind, const cm_limit_row *row);
/* Sets the limits that the body gives for the user or group of the path; false: the reply is set. */
bool cm_request_limits(cm_request *request, const cm_limit_kind *kind, bool group);
void cm_put_user_quota(cm_request *request);
void cm_put_group_quota(cm_request *request);
void cm_list_tokens(cm_request *request);
void cm_post_token(cm_request *request);
void cm_delete_token(cm_request *request);

void cm_post_network(cm_request *request);
void cm_post_network_rates(cm_request *request);
void cm_list_networks(cm_request *request);
void cm_get_network(cm_request *request);
void cm_get_network_content(cm_request *request);
void cm_delete_network(cm_request *request);
/* Imports a file that has arrived (whole, hashed) and answers 201, 200 or the problem. The file stays. CM_OK: its
 * bytes are a network; CM_BAD_REQUEST: it was not tried. */
typedef struct cm_import_file {
  const char *path, *sha256, *name;
  uint64_t bytes;
  cm_owner owner; /* of the network */
} cm_import_file;
cm_status cm_import_upload(cm_request *request, const cm_import_file *file);

void cm_post_upload(cm_request *request);
void cm_head_upload(cm_request *request);
void cm_patch_upload(cm_request *request);
void cm_delete_upload(cm_request *request);

void cm_list_chips(cm_request *request);
void cm_get_chip(cm_request *request);
void cm_put_chip(cm_request *request);
void cm_delete_chip(cm_request *request);

void cm_get_occupancy(cm_request *request);
void cm_put_occupancy(cm_request *request);
void cm_patch_occupancy(cm_request *request);
void cm_post_reservation(cm_request *request);
/* Reads {"owner", "ttl"} into what is wanted; false: the reply is set. What it points to belongs to `object`. */
bool cm_request_lease(cm_request *request, const json_t *object, cm_lease_request *wanted);
void cm_reply_lease(cm_request *request, unsigned status, const cm_lease *lease);
void cm_list_reservations(cm_request *request);
void cm_get_reservation(cm_request *request);
void cm_put_reservation(cm_request *request);
void cm_delete_reservation(cm_request *request);

void cm_post_job(cm_request *request);
/* Replies with the job as it is now, its tag and place. */
void cm_reply_job(cm_request *request, unsigned status, const char *id);
void cm_list_jobs(cm_request *request);
void cm_get_job(cm_request *request);
void cm_get_job_events(cm_request *request);
void cm_get_job_log(cm_request *request);
void cm_cancel_job(cm_request *request);
void cm_delete_job(cm_request *request);

void cm_get_mapping(cm_request *request);
void cm_get_mapping_cores(cm_request *request);
void cm_get_mapping_neurons(cm_request *request);
void cm_get_mapping_links(cm_request *request);
void cm_get_mapping_routes(cm_request *request);
void cm_get_mapping_certificate(cm_request *request);
void cm_get_mapping_pareto(cm_request *request);
void cm_get_mapping_pareto_point(cm_request *request);
void cm_get_mapping_part(cm_request *request);
void cm_get_mapping_placement(cm_request *request);
void cm_get_mapping_content(cm_request *request);
/* Makes a view of a mapping that its job left to who wants it (routes, certificate), and opens it; the caller closes. Takes as
 * long as making it does, and the memory of an import. */
cm_status cm_view_make(cm_request *request, const cm_mapping_row *mapping, cm_mapping_view view, int *file, cm_error *error);
void cm_get_mapping_export(cm_request *request);
void cm_get_mapping_picture(cm_request *request);
void cm_commit_mapping(cm_request *request);
void cm_delete_mapping(cm_request *request);

void cm_get_program(cm_request *request);
void cm_delete_program(cm_request *request);
void cm_get_program_model(cm_request *request);
void cm_get_program_file(cm_request *request);
void cm_get_program_report(cm_request *request);
void cm_get_program_pieces(cm_request *request);
void cm_get_program_schedule(cm_request *request);
void cm_get_program_tiles(cm_request *request);
void cm_get_program_mapping(cm_request *request);

#endif
