/* The handlers of the routes (routes.c), by the file that has them, and what handlers lend each other. A handler runs
 * in a pool's thread, where it may block, or at once where its route says so, and sets a reply. */
#pragma once

#include "api/internal.h"
#include "api/lists.h"
#include "api/write.h"
#include "storage/audit.h"
#include "storage/leases.h"
#include "storage/limits.h"

/* Routes may share a handler, which each of them declares. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
#define ROUTE(method, pattern, handler, ...) void handler(cm_request *request);
#include "api/routes.def"
#undef ROUTE
#pragma GCC diagnostic pop

/* Deletes a network, mapping, program or job, into the bin where there is one, and replies. */
void cm_request_delete(cm_request *request, cm_object object, const char *id);

/* The labels that a body gives as its member; false: the reply is set. And as a member of a reply. */
bool cm_labels_of(cm_request *request, const json_t *object, char labels[CM_LABELS_MAX]);
void cm_write_labels(cm_writer *w, const char *labels);

/* Members of a network beside its id and owner; none when it has gone. */
void cm_network_write(cm_writer *w, const cm_request *request, const char *id);

/* What a request causes, for the audit trail. */
void cm_audit_of(const cm_request *request, cm_audit_entry *entry);
/* Adds the limits of a row as members, null for those that are not set. */
void cm_limits_add(json_t *object, const cm_limit_kind *kind, const cm_limit_row *row);
/* Sets the limits that the body gives for the user or group of the path; false: the reply is set. */
bool cm_request_limits(cm_request *request, const cm_limit_kind *kind, bool group);

/* Imports a file that has arrived (whole, hashed) and answers 201, 200 or the problem. The file stays. CM_OK: its
 * bytes are a network; CM_BAD_REQUEST: it was not tried. */
typedef struct cm_import_file {
  const char *path, *sha256, *name;
  uint64_t bytes;
  cm_owner owner; /* of the network */
} cm_import_file;
cm_status cm_import_upload(cm_request *request, const cm_import_file *file);

/* Reads {"owner", "ttl"} into what is wanted; false: the reply is set. What it points to belongs to `object`. */
bool cm_request_lease(cm_request *request, const json_t *object, cm_lease_request *wanted);
void cm_reply_lease(cm_request *request, unsigned status, const cm_lease *lease);

/* Replies with the job as it is now, its tag and place. */
void cm_reply_job(cm_request *request, unsigned status, const char *id);

/* What an open file holds, which the caller frees; NULL: it cannot be read now. Closes it. */
char *cm_file_text(int file);

/* Whether the caller sees the mapping's network, which is there: what is made of both tells of it; false: the reply is set, and says that
 * the mapping cannot be `made` (exported). */
bool cm_mapping_shows_network(cm_request *request, const cm_mapping_row *mapping, const char *made);

/* Replies with what a view of cores, cores.bin or cores.json of the mapping that the path names, has of a box, or of blocks. */
void cm_cores_reply(cm_request *request, const char *view, const char *type);

/* Replies with the answer to a question about the structure of the mapping that the path names. */
void cm_structure_reply(cm_request *request, const char *kind);

/* Makes a view of a mapping that its job left to who wants it (routes, certificate, structure), and opens it; the caller closes. Takes as
 * long as making it does, and the memory of an import. */
cm_status cm_view_make(cm_request *request, const cm_mapping_row *mapping, const char *view, int *file, cm_error *error);
