/* The routes as data. 404, 405 with Allow, which query arguments there are, who may,
 * and the coverage of the OpenAPI document all come from this table. */
#include <string.h>

#include "api/handlers.h"

const cm_route cm_routes[] = {
  {"GET", "/healthz", cm_get_health, "getHealth", CM_BODY_NONE, CM_LANE_AT_ONCE, true, "", CM_RIGHT_PUBLIC, CM_OBJECT_NONE,
   CM_DEED_SEE},
  {"GET", "/readyz", cm_get_ready, "getReady", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_PUBLIC, CM_OBJECT_NONE,
   CM_DEED_SEE},
  {"GET", "/metrics", cm_get_metrics, "getMetrics", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_WATCH,
   CM_OBJECT_NONE, CM_DEED_SEE},
  {"GET", "/openapi.json", cm_get_openapi, "getOpenapi", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_PUBLIC,
   CM_OBJECT_NONE, CM_DEED_SEE},
  {"GET", "/v1/me", cm_get_me, "getMe", CM_BODY_NONE, CM_LANE_AT_ONCE, true, "", CM_RIGHT_SELF, CM_OBJECT_NONE, CM_DEED_SEE},
  {"GET", "/v1/cache", cm_get_cache, "getCache", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_WATCH, CM_OBJECT_NONE,
   CM_DEED_SEE},
  {"DELETE", "/v1/cache", cm_delete_cache, "deleteCache", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_OPERATE,
   CM_OBJECT_NONE, CM_DEED_SEE},

  {"POST", "/v1/session", cm_post_session, "postSession", CM_BODY_JSON, CM_LANE_SHORT, true, "", CM_RIGHT_PUBLIC,
   CM_OBJECT_NONE, CM_DEED_SEE},
  {"DELETE", "/v1/session", cm_delete_session, "deleteSession", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_PUBLIC,
   CM_OBJECT_NONE, CM_DEED_SEE},
  {"GET", "/v1/users", cm_list_users, "listUsers", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_ADMIN, CM_OBJECT_NONE,
   CM_DEED_SEE},
  {"POST", "/v1/users", cm_post_user, "postUser", CM_BODY_JSON, CM_LANE_SHORT, true, "", CM_RIGHT_ADMIN, CM_OBJECT_NONE,
   CM_DEED_SEE},
  {"GET", "/v1/users/{name}", cm_get_user, "getUser", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_ADMIN,
   CM_OBJECT_NONE, CM_DEED_SEE},
  {"PATCH", "/v1/users/{name}", cm_patch_user, "patchUser", CM_BODY_JSON, CM_LANE_SHORT, true, "", CM_RIGHT_ADMIN,
   CM_OBJECT_NONE, CM_DEED_SEE},
  {"DELETE", "/v1/users/{name}", cm_delete_user, "deleteUser", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_ADMIN,
   CM_OBJECT_NONE, CM_DEED_SEE},
  {"GET", "/v1/audit", cm_get_audit, "getAudit", CM_BODY_NONE, CM_LANE_SHORT, true,
   "user action since until limit cursor format", CM_RIGHT_ADMIN, CM_OBJECT_NONE, CM_DEED_SEE},
  {"GET", "/v1/usage", cm_get_usage, "getUsage", CM_BODY_NONE, CM_LANE_SHORT, true, "user", CM_RIGHT_SELF, CM_OBJECT_NONE,
   CM_DEED_SEE},
  {"GET", "/v1/quotas", cm_list_quotas, "listQuotas", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_ADMIN, CM_OBJECT_NONE,
   CM_DEED_SEE},
  {"PUT", "/v1/quotas/users/{name}", cm_put_user_quota, "putUserQuota", CM_BODY_JSON, CM_LANE_SHORT, true, "",
   CM_RIGHT_ADMIN, CM_OBJECT_NONE, CM_DEED_SEE},
  {"PUT", "/v1/quotas/groups/{name}", cm_put_group_quota, "putGroupQuota", CM_BODY_JSON, CM_LANE_SHORT, true, "",
   CM_RIGHT_ADMIN, CM_OBJECT_NONE, CM_DEED_SEE},
  {"GET", "/v1/bin", cm_list_bin, "listBin", CM_BODY_NONE, CM_LANE_SHORT, true, "user", CM_RIGHT_READ, CM_OBJECT_NONE,
   CM_DEED_SEE},
  {"DELETE", "/v1/bin", cm_empty_bin, "emptyBin", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_SUBMIT, CM_OBJECT_NONE,
   CM_DEED_SEE},
  {"POST", "/v1/bin/{id}/restore", cm_restore_binned, "restoreBinned", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_SUBMIT, CM_OBJECT_BINNED,
   CM_DEED_CHANGE},
  {"DELETE", "/v1/bin/{id}", cm_delete_binned, "deleteBinned", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_SUBMIT, CM_OBJECT_BINNED,
   CM_DEED_CHANGE},
  {"GET", "/v1/retention", cm_list_retention, "listRetention", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_SELF, CM_OBJECT_NONE,
   CM_DEED_SEE},
  {"PUT", "/v1/retention/{name}", cm_put_retention, "putRetention", CM_BODY_JSON, CM_LANE_SHORT, true, "", CM_RIGHT_ADMIN, CM_OBJECT_NONE,
   CM_DEED_SEE},
  {"PUT", "/v1/drain", cm_put_drain, "putDrain", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_OPERATE, CM_OBJECT_NONE,
   CM_DEED_SEE},
  {"DELETE", "/v1/drain", cm_delete_drain, "deleteDrain", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_OPERATE,
   CM_OBJECT_NONE, CM_DEED_SEE},
  {"GET", "/v1/tokens", cm_list_tokens, "listTokens", CM_BODY_NONE, CM_LANE_SHORT, true, "user", CM_RIGHT_SELF,
   CM_OBJECT_NONE, CM_DEED_SEE},
  {"POST", "/v1/tokens", cm_post_token, "postToken", CM_BODY_JSON, CM_LANE_SHORT, true, "", CM_RIGHT_ACCOUNT,
   CM_OBJECT_NONE, CM_DEED_SEE},
  {"DELETE", "/v1/tokens/{id}", cm_delete_token, "deleteToken", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_SELF,
   CM_OBJECT_NONE, CM_DEED_SEE},

  {"GET", "/v1/networks", cm_list_networks, "listNetworks", CM_BODY_NONE, CM_LANE_SHORT, true, "limit cursor sha256",
   CM_RIGHT_READ, CM_OBJECT_NONE, CM_DEED_SEE},
  {"POST", "/v1/networks", cm_post_network, "postNetwork", CM_BODY_FILE, CM_LANE_IMPORT, false,
   "name format columns zeros visibility",
   CM_RIGHT_SUBMIT, CM_OBJECT_NONE, CM_DEED_SEE},
  {"GET", "/v1/networks/{id}", cm_get_network, "getNetwork", CM_BODY_NONE, CM_LANE_AT_ONCE, true, "", CM_RIGHT_READ,
   CM_OBJECT_NETWORK, CM_DEED_SEE},
  {"DELETE", "/v1/networks/{id}", cm_delete_network, "deleteNetwork", CM_BODY_NONE, CM_LANE_SHORT, true, "",
   CM_RIGHT_SUBMIT, CM_OBJECT_NETWORK, CM_DEED_CHANGE},
  {"GET", "/v1/networks/{id}/content", cm_get_network_content, "getNetworkContent", CM_BODY_NONE, CM_LANE_SHORT, true,
   "", CM_RIGHT_READ, CM_OBJECT_NETWORK, CM_DEED_SEE},
  {"POST", "/v1/networks/{id}/rates", cm_post_network_rates, "postNetworkRates", CM_BODY_FILE, CM_LANE_IMPORT, false,
   "visibility", CM_RIGHT_SUBMIT, CM_OBJECT_NETWORK, CM_DEED_SEE},
  {"PUT", "/v1/networks/{id}/pin", cm_put_pin, "putNetworkPin", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_SUBMIT, CM_OBJECT_NETWORK,
   CM_DEED_CHANGE},
  {"DELETE", "/v1/networks/{id}/pin", cm_delete_pin, "deleteNetworkPin", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_SUBMIT, CM_OBJECT_NETWORK,
   CM_DEED_CHANGE},
  {"GET", "/v1/networks/{id}/access", cm_get_access, "getNetworkAccess", CM_BODY_NONE, CM_LANE_SHORT, true, "",
   CM_RIGHT_READ, CM_OBJECT_NETWORK, CM_DEED_SEE},
  {"PUT", "/v1/networks/{id}/access", cm_put_access, "putNetworkAccess", CM_BODY_JSON, CM_LANE_SHORT, true, "",
   CM_RIGHT_SUBMIT, CM_OBJECT_NETWORK, CM_DEED_CHANGE},

  {"POST", "/v1/uploads", cm_post_upload, "postUpload", CM_BODY_JSON, CM_LANE_SHORT, false, "", CM_RIGHT_SUBMIT,
   CM_OBJECT_NONE, CM_DEED_SEE},
  {"HEAD", "/v1/uploads/{id}", cm_head_upload, "headUpload", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_SUBMIT,
   CM_OBJECT_UPLOAD, CM_DEED_SEE},
  {"PATCH", "/v1/uploads/{id}", cm_patch_upload, "patchUpload", CM_BODY_FILE, CM_LANE_IMPORT, false, "format columns zeros of",
   CM_RIGHT_SUBMIT, CM_OBJECT_UPLOAD, CM_DEED_CHANGE},
  {"DELETE", "/v1/uploads/{id}", cm_delete_upload, "deleteUpload", CM_BODY_NONE, CM_LANE_SHORT, true, "",
   CM_RIGHT_SUBMIT, CM_OBJECT_UPLOAD, CM_DEED_CHANGE},

  {"GET", "/v1/chips", cm_list_chips, "listChips", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_READ, CM_OBJECT_NONE,
   CM_DEED_SEE},
  {"GET", "/v1/chips/{name}", cm_get_chip, "getChip", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_READ,
   CM_OBJECT_CHIP, CM_DEED_SEE},
  {"PUT", "/v1/chips/{name}", cm_put_chip, "putChip", CM_BODY_BULK, CM_LANE_SHORT, true, "visibility", CM_RIGHT_SUBMIT,
   CM_OBJECT_CHIP, CM_DEED_PUT},
  {"DELETE", "/v1/chips/{name}", cm_delete_chip, "deleteChip", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_SUBMIT,
   CM_OBJECT_CHIP, CM_DEED_CHANGE},
  {"GET", "/v1/chips/{name}/access", cm_get_access, "getChipAccess", CM_BODY_NONE, CM_LANE_SHORT, true, "",
   CM_RIGHT_READ, CM_OBJECT_CHIP, CM_DEED_SEE},
  {"PUT", "/v1/chips/{name}/access", cm_put_access, "putChipAccess", CM_BODY_JSON, CM_LANE_SHORT, true, "",
   CM_RIGHT_SUBMIT, CM_OBJECT_CHIP, CM_DEED_CHANGE},
  {"GET", "/v1/chips/{name}/occupancy", cm_get_occupancy, "getOccupancy", CM_BODY_NONE, CM_LANE_SHORT, true, "",
   CM_RIGHT_READ, CM_OBJECT_CHIP, CM_DEED_SEE},
  {"PUT", "/v1/chips/{name}/occupancy", cm_put_occupancy, "putOccupancy", CM_BODY_BULK, CM_LANE_SHORT, true, "",
   CM_RIGHT_RESERVE, CM_OBJECT_CHIP, CM_DEED_CHANGE},
  {"PATCH", "/v1/chips/{name}/occupancy", cm_patch_occupancy, "patchOccupancy", CM_BODY_BULK, CM_LANE_SHORT, true, "",
   CM_RIGHT_RESERVE, CM_OBJECT_CHIP, CM_DEED_CHANGE},
  {"GET", "/v1/chips/{name}/reservations", cm_list_reservations, "listReservations", CM_BODY_NONE, CM_LANE_SHORT, true,
   "", CM_RIGHT_READ, CM_OBJECT_CHIP, CM_DEED_SEE},
  {"POST", "/v1/chips/{name}/reservations", cm_post_reservation, "postReservation", CM_BODY_BULK, CM_LANE_SHORT, true,
   "", CM_RIGHT_RESERVE, CM_OBJECT_CHIP, CM_DEED_SEE},
  {"GET", "/v1/chips/{name}/reservations/{id}", cm_get_reservation, "getReservation", CM_BODY_NONE, CM_LANE_SHORT, true,
   "", CM_RIGHT_READ, CM_OBJECT_LEASE, CM_DEED_SEE},
  {"PUT", "/v1/chips/{name}/reservations/{id}", cm_put_reservation, "putReservation", CM_BODY_JSON, CM_LANE_SHORT, true,
   "", CM_RIGHT_RESERVE, CM_OBJECT_LEASE, CM_DEED_CHANGE},
  {"DELETE", "/v1/chips/{name}/reservations/{id}", cm_delete_reservation, "deleteReservation", CM_BODY_NONE,
   CM_LANE_SHORT, true, "", CM_RIGHT_RESERVE, CM_OBJECT_LEASE, CM_DEED_CHANGE},
  {"GET", "/v1/chips/{name}/reservations/{id}/access", cm_get_access, "getLeaseAccess", CM_BODY_NONE, CM_LANE_SHORT,
   true, "", CM_RIGHT_READ, CM_OBJECT_LEASE, CM_DEED_SEE},
  {"PUT", "/v1/chips/{name}/reservations/{id}/access", cm_put_access, "putLeaseAccess", CM_BODY_JSON, CM_LANE_SHORT,
   true, "", CM_RIGHT_RESERVE, CM_OBJECT_LEASE, CM_DEED_CHANGE},

  {"GET", "/v1/jobs", cm_list_jobs, "listJobs", CM_BODY_NONE, CM_LANE_SHORT, true, "limit cursor state user network",
   CM_RIGHT_READ, CM_OBJECT_NONE, CM_DEED_SEE},
  {"POST", "/v1/jobs", cm_post_job, "postJob", CM_BODY_JSON, CM_LANE_SHORT, false, "", CM_RIGHT_SUBMIT, CM_OBJECT_NONE,
   CM_DEED_SEE},
  {"GET", "/v1/jobs/{id}", cm_get_job, "getJob", CM_BODY_NONE, CM_LANE_AT_ONCE, true, "wait", CM_RIGHT_READ, CM_OBJECT_JOB,
   CM_DEED_SEE},
  {"DELETE", "/v1/jobs/{id}", cm_delete_job, "deleteJob", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_SUBMIT,
   CM_OBJECT_JOB, CM_DEED_CHANGE},
  {"GET", "/v1/jobs/{id}/events", cm_get_job_events, "getJobEvents", CM_BODY_NONE, CM_LANE_SHORT, true, "",
   CM_RIGHT_READ, CM_OBJECT_JOB, CM_DEED_SEE},
  {"GET", "/v1/jobs/{id}/log", cm_get_job_log, "getJobLog", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_READ,
   CM_OBJECT_JOB, CM_DEED_SEE},
  {"POST", "/v1/jobs/{id}/cancel", cm_cancel_job, "cancelJob", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_SUBMIT,
   CM_OBJECT_JOB, CM_DEED_CHANGE},
  {"GET", "/v1/jobs/{id}/access", cm_get_access, "getJobAccess", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_READ,
   CM_OBJECT_JOB, CM_DEED_SEE},
  {"PUT", "/v1/jobs/{id}/access", cm_put_access, "putJobAccess", CM_BODY_JSON, CM_LANE_SHORT, true, "", CM_RIGHT_SUBMIT,
   CM_OBJECT_JOB, CM_DEED_CHANGE},

  {"GET", "/v1/mappings/{id}", cm_get_mapping, "getMapping", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_READ,
   CM_OBJECT_MAPPING, CM_DEED_SEE},
  {"DELETE", "/v1/mappings/{id}", cm_delete_mapping, "deleteMapping", CM_BODY_NONE, CM_LANE_SHORT, true, "",
   CM_RIGHT_SUBMIT, CM_OBJECT_MAPPING, CM_DEED_CHANGE},
  {"GET", "/v1/mappings/{id}/cores", cm_get_mapping_cores, "getMappingCores", CM_BODY_NONE, CM_LANE_SHORT, true,
   "format", CM_RIGHT_READ, CM_OBJECT_MAPPING, CM_DEED_SEE},
  {"GET", "/v1/mappings/{id}/neurons", cm_get_mapping_neurons, "getMappingNeurons", CM_BODY_NONE, CM_LANE_SHORT, true,
   "format part", CM_RIGHT_READ, CM_OBJECT_MAPPING, CM_DEED_SEE},
  {"GET", "/v1/mappings/{id}/links", cm_get_mapping_links, "getMappingLinks", CM_BODY_NONE, CM_LANE_SHORT, true,
   "format", CM_RIGHT_READ, CM_OBJECT_MAPPING, CM_DEED_SEE},
  {"GET", "/v1/mappings/{id}/routes", cm_get_mapping_routes, "getMappingRoutes", CM_BODY_NONE, CM_LANE_SHORT, true,
   "format", CM_RIGHT_READ, CM_OBJECT_MAPPING, CM_DEED_SEE},
  {"GET", "/v1/mappings/{id}/certificate", cm_get_mapping_certificate, "getMappingCertificate", CM_BODY_NONE,
   CM_LANE_SHORT, true, "", CM_RIGHT_READ, CM_OBJECT_MAPPING, CM_DEED_SEE},
  {"GET", "/v1/mappings/{id}/pareto", cm_get_mapping_pareto, "getMappingPareto", CM_BODY_NONE, CM_LANE_SHORT, true,
   "format", CM_RIGHT_READ, CM_OBJECT_MAPPING, CM_DEED_SEE},
  {"GET", "/v1/mappings/{id}/pareto/{number}", cm_get_mapping_pareto_point, "getMappingParetoPoint", CM_BODY_NONE,
   CM_LANE_SHORT, true, "", CM_RIGHT_READ, CM_OBJECT_MAPPING, CM_DEED_SEE},
  {"GET", "/v1/mappings/{id}/part", cm_get_mapping_part, "getMappingPart", CM_BODY_NONE, CM_LANE_SHORT, true, "",
   CM_RIGHT_READ, CM_OBJECT_MAPPING, CM_DEED_SEE},
  {"GET", "/v1/mappings/{id}/placement", cm_get_mapping_placement, "getMappingPlacement", CM_BODY_NONE, CM_LANE_SHORT,
   true, "", CM_RIGHT_READ, CM_OBJECT_MAPPING, CM_DEED_SEE},
  {"GET", "/v1/mappings/{id}/content", cm_get_mapping_content, "getMappingContent", CM_BODY_NONE, CM_LANE_SHORT, true,
   "", CM_RIGHT_READ, CM_OBJECT_MAPPING, CM_DEED_SEE},
  {"GET", "/v1/mappings/{id}/export", cm_get_mapping_export, "getMappingExport", CM_BODY_NONE, CM_LANE_IMPORT, true, "to",
   CM_RIGHT_READ, CM_OBJECT_MAPPING, CM_DEED_SEE},
  {"GET", "/v1/mappings/{id}/picture", cm_get_mapping_picture, "getMappingPicture", CM_BODY_NONE, CM_LANE_IMPORT, true, "layer format",
   CM_RIGHT_READ, CM_OBJECT_MAPPING, CM_DEED_SEE},
  {"POST", "/v1/mappings/{id}/commit", cm_commit_mapping, "commitMapping", CM_BODY_JSON, CM_LANE_SHORT, true, "",
   CM_RIGHT_RESERVE, CM_OBJECT_MAPPING, CM_DEED_SEE},
  {"PUT", "/v1/mappings/{id}/pin", cm_put_pin, "putMappingPin", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_SUBMIT, CM_OBJECT_MAPPING,
   CM_DEED_CHANGE},
  {"DELETE", "/v1/mappings/{id}/pin", cm_delete_pin, "deleteMappingPin", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_SUBMIT, CM_OBJECT_MAPPING,
   CM_DEED_CHANGE},
  {"GET", "/v1/mappings/{id}/access", cm_get_access, "getMappingAccess", CM_BODY_NONE, CM_LANE_SHORT, true, "",
   CM_RIGHT_READ, CM_OBJECT_MAPPING, CM_DEED_SEE},
  {"PUT", "/v1/mappings/{id}/access", cm_put_access, "putMappingAccess", CM_BODY_JSON, CM_LANE_SHORT, true, "",
   CM_RIGHT_SUBMIT, CM_OBJECT_MAPPING, CM_DEED_CHANGE},

  {"GET", "/v1/programs/{id}", cm_get_program, "getProgram", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_READ,
   CM_OBJECT_PROGRAM, CM_DEED_SEE},
  {"DELETE", "/v1/programs/{id}", cm_delete_program, "deleteProgram", CM_BODY_NONE, CM_LANE_SHORT, true, "",
   CM_RIGHT_SUBMIT, CM_OBJECT_PROGRAM, CM_DEED_CHANGE},
  {"GET", "/v1/programs/{id}/model", cm_get_program_model, "getProgramModel", CM_BODY_NONE, CM_LANE_SHORT, true, "",
   CM_RIGHT_READ, CM_OBJECT_PROGRAM, CM_DEED_SEE},
  {"GET", "/v1/programs/{id}/schedule", cm_get_program_schedule, "getProgramSchedule", CM_BODY_NONE, CM_LANE_SHORT, true,
   "", CM_RIGHT_READ, CM_OBJECT_PROGRAM, CM_DEED_SEE},
  {"GET", "/v1/programs/{id}/program", cm_get_program_file, "getProgramFile", CM_BODY_NONE, CM_LANE_SHORT, true, "",
   CM_RIGHT_READ, CM_OBJECT_PROGRAM, CM_DEED_SEE},
  {"GET", "/v1/programs/{id}/tiles", cm_get_program_tiles, "getProgramTiles", CM_BODY_NONE, CM_LANE_SHORT, true, "",
   CM_RIGHT_READ, CM_OBJECT_PROGRAM, CM_DEED_SEE},
  {"GET", "/v1/programs/{id}/mapping", cm_get_program_mapping, "getProgramMapping", CM_BODY_NONE, CM_LANE_SHORT, true,
   "", CM_RIGHT_READ, CM_OBJECT_PROGRAM, CM_DEED_SEE},
  {"GET", "/v1/programs/{id}/report", cm_get_program_report, "getProgramReport", CM_BODY_NONE, CM_LANE_SHORT, true, "",
   CM_RIGHT_READ, CM_OBJECT_PROGRAM, CM_DEED_SEE},
  {"GET", "/v1/programs/{id}/pieces", cm_get_program_pieces, "getProgramPieces", CM_BODY_NONE, CM_LANE_SHORT, true, "",
   CM_RIGHT_READ, CM_OBJECT_PROGRAM, CM_DEED_SEE},
  {"PUT", "/v1/programs/{id}/pin", cm_put_pin, "putProgramPin", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_SUBMIT, CM_OBJECT_PROGRAM,
   CM_DEED_CHANGE},
  {"DELETE", "/v1/programs/{id}/pin", cm_delete_pin, "deleteProgramPin", CM_BODY_NONE, CM_LANE_SHORT, true, "", CM_RIGHT_SUBMIT, CM_OBJECT_PROGRAM,
   CM_DEED_CHANGE},
  {"GET", "/v1/programs/{id}/access", cm_get_access, "getProgramAccess", CM_BODY_NONE, CM_LANE_SHORT, true, "",
   CM_RIGHT_READ, CM_OBJECT_PROGRAM, CM_DEED_SEE},
  {"PUT", "/v1/programs/{id}/access", cm_put_access, "putProgramAccess", CM_BODY_JSON, CM_LANE_SHORT, true, "",
   CM_RIGHT_SUBMIT, CM_OBJECT_PROGRAM, CM_DEED_CHANGE},

  {"GET", "/", cm_get_static, "getViewer", CM_BODY_NONE, CM_LANE_SHORT, true, "*", CM_RIGHT_PUBLIC, CM_OBJECT_NONE,
   CM_DEED_SEE},
  {"GET", "/{file*}", cm_get_static, "getViewerFile", CM_BODY_NONE, CM_LANE_SHORT, true, "*", CM_RIGHT_PUBLIC,
   CM_OBJECT_NONE, CM_DEED_SEE},
};
const size_t cm_route_count = sizeof cm_routes / sizeof *cm_routes;

/* Segments of each route's pattern; ANY for those that take the rest of a path. */
enum { ANY = 255 };
static unsigned char segments_of[sizeof cm_routes / sizeof *cm_routes];

static void count_segments(void)
{
  for (size_t i = 0; i < cm_route_count; i++) {
    const char *pattern = cm_routes[i].pattern;
    for (const char *p = pattern; *p != '\0'; p++)
      segments_of[i] = (unsigned char)(segments_of[i] + (p[0] == '/' && p[1] != '\0'));
    if (strstr(pattern, "*}") != NULL)
      segments_of[i] = ANY;
  }
}

/* Compares a pattern with the request's segments, filling param. */
static bool matches(cm_request *request, const char *pattern)
{
  size_t params = 0, i = 0;
  const char *p = pattern + 1; /* after the first '/' */
  while (*p != '\0') {
    size_t length = strcspn(p, "/");
    if (p[0] == '{' && p[length - 2] == '*')
      return request->segments > 0 && strcmp(request->segment[0], "v1") != 0;
    if (i >= request->segments)
      return false;
    if (p[0] == '{')
      request->param[params++] = request->segment[i];
    else if (strlen(request->segment[i]) != length || strncmp(request->segment[i], p, length) != 0)
      return false;
    i++;
    p += length;
    if (*p == '/')
      p++;
  }
  return i == request->segments;
}

static bool same_method(const cm_request *request, const char *method)
{
  return strcmp(request->method, method) == 0 ||
         (strcmp(request->method, "HEAD") == 0 && strcmp(method, "GET") == 0);
}

static void allow(char *list, size_t size, const char *method)
{
  size_t used = strlen(list);
  (void)snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", method);
  if (strcmp(method, "GET") == 0)
    allow(list, size, "HEAD");
}

/* True when a list of names separated by spaces has this one. */
static bool lists(const char *names, const char *name)
{
  size_t length = strlen(name);
  for (const char *p = names; length > 0 && (p = strstr(p, name)) != NULL; p++)
    if ((p == names || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0'))
      return true;
  return false;
}

typedef struct query {
  const char *names, *unknown, *twice;
  const char *seen[CM_QUERY_MAX];
  size_t count;
} query;

static enum MHD_Result note_argument(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
  query *q = context;
  (void)kind;
  (void)value;
  if (!lists(q->names, name) || q->count == CM_QUERY_MAX) {
    q->unknown = name;
    return MHD_NO;
  }
  for (size_t i = 0; i < q->count; i++)
    if (strcmp(q->seen[i], name) == 0)
      q->twice = name;
  q->seen[q->count++] = name;
  return MHD_YES;
}

bool cm_route_check_query(cm_request *request)
{
  const char *names = request->route->query;
  query q = {.names = names};
  if (strcmp(names, "*") == 0)
    return true;
  (void)MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, note_argument, &q);
  if (q.unknown != NULL && names[0] == '\0')
    cm_reply_problem(request, 400, "bad-request", "The request cannot be understood",
                     "unknown query argument \"%.60s\"; there are none here", q.unknown);
  else if (q.unknown != NULL)
    cm_reply_problem(request, 400, "bad-request", "The request cannot be understood",
                     "unknown query argument \"%.60s\"; here there are: %s", q.unknown, names);
  else if (q.twice != NULL)
    cm_reply_problem(request, 400, "bad-request", "The request cannot be understood",
                     "query argument \"%.60s\" comes twice", q.twice);
  return request->status == 0;
}

const cm_route *cm_route_find(cm_request *request)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  char allowed[96] = "";
  (void)pthread_once(&once, count_segments);
  for (size_t i = 0; i < cm_route_count; i++) {
    const cm_route *route = &cm_routes[i];
    const bool rest = segments_of[i] == ANY;
    if (!rest && segments_of[i] != request->segments)
      continue;
    if ((rest && allowed[0] != '\0') || !matches(request, route->pattern))
      continue;
    if (same_method(request, route->method))
      return route;
    allow(allowed, sizeof allowed, route->method);
  }
  if (allowed[0] == '\0')
    cm_reply_problem(request, 404, "not-found", "There is no such resource",
                     "nothing is served at %.200s; GET /openapi.json"
                     " lists all resources",
                     request->target);
  else {
    cm_reply_problem(request, 405, "method-not-allowed", "The method is not allowed here",
                     "%s is not allowed here; %s are", request->method, allowed);
    cm_reply_header(request, "Allow", "%s", allowed);
  }
  return NULL;
}
