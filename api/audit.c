/* GET /v1/audit: who changed what (docs/how-to/administration.md); and how a request becomes the cause of its writes. */
#include "api/handlers.h"
#include "base/json.h"
#include "base/text.h"

enum { EXPORT_MAX = 1000000 };

/* The client's address, as its key tells it (of IPv6 the network). */
static void address_of(const cm_request *request, char *text, size_t size)
{
  const unsigned char *k = request->address;
  if (memcmp(k + 4, "\0\0\0\4", 4) == 0)
    (void)snprintf(text, size, "%u.%u.%u.%u", k[0], k[1], k[2], k[3]);
  else if (memcmp(k, "\0\0\0\0\0\0\0\1", 8) == 0)
    (void)snprintf(text, size, "unix");
  else
    (void)snprintf(text, size, "%x:%x:%x:%x::/64", k[0] << 8 | k[1], k[2] << 8 | k[3], k[4] << 8 | k[5], k[6] << 8 | k[7]);
}

void cm_audit_of(const cm_request *request, cm_audit_entry *entry)
{
  *entry = (cm_audit_entry){0};
  (void)snprintf(entry->user, sizeof entry->user, "%s", request->who.user);
  (void)snprintf(entry->action, sizeof entry->action, "%s", request->route->operation);
  (void)snprintf(entry->object, sizeof entry->object, "%.*s", (int)strcspn(request->target, "?"), request->target);
  (void)snprintf(entry->request, sizeof entry->request, "%s", request->id);
  address_of(request, entry->address, sizeof entry->address);
}

static json_t *entry_json(const cm_audit_entry *e)
{
  return json_pack("{s:I, s:o, s:s, s:s, s:s, s:s, s:s, s:s}", "sequence", (json_int_t)e->sequence, "at", cm_time_json(e->at), "user",
                   e->user, "address", e->address, "action", e->action, "object", e->object, "request", e->request, "effect", e->effect);
}

/* A line an entry. */
static void reply_lines(cm_request *request, const cm_audit_entry *entries, size_t count)
{
  cm_text text;
  size_t size = 0;
  if (!cm_text_open(&text)) {
    cm_reply_text(request, 503, NULL, NULL, 0);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    json_t *line = entry_json(&entries[i]);
    (void)cm_json_dumpf(line, text.stream, JSON_COMPACT);
    (void)fputc('\n', text.stream);
    json_decref(line);
  }
  char *whole = cm_text_close(&text, &size);
  cm_reply_text(request, 200, "application/x-ndjson", whole, size);
}

static void reply_page(cm_request *request, const cm_audit_entry *entries, size_t count, uint64_t limit)
{
  json_t *list = json_array();
  for (size_t i = 0; i < count && i < limit; i++)
    (void)json_array_append_new(list, entry_json(&entries[i]));
  json_t *body = json_pack("{s:o}", "entries", list);
  if (count > limit)
    cm_page_add_next(request, body, entries[limit - 1].sequence);
  cm_reply_json(request, 200, body);
}

void cm_get_audit(cm_request *request)
{
  cm_audit_entry *entries;
  size_t count;
  uint64_t limit, since, until;
  int64_t before;
  const char *format = cm_request_query(request, "format");
  const bool lines = format != NULL && strcmp(format, "ndjson") == 0;
  if (format != NULL && !lines && strcmp(format, "json") != 0) {
    CM_REPLY_BAD(request, "format must be json or ndjson");
    return;
  }
  if (!cm_page_asked(request, lines ? EXPORT_MAX : CM_PAGE_MAX, lines ? EXPORT_MAX : CM_PAGE_DEFAULT, &limit, &before) ||
      !cm_request_number(request, "since", 0, INT32_MAX, 0, &since) ||
      !cm_request_number(request, "until", 0, UINT32_MAX, 0, &until))
    return;
  const cm_audit_filter filter = {.user = cm_request_query(request, "user"), .action = cm_request_query(request, "action"),
                                  .object = cm_request_query(request, "object"),
                                  .since = (double)since, .until = (double)until, .before = before,
                                  .limit = (size_t)limit + !lines};
  if (!cm_reply_ok(request, cm_audit_list(request->store, &filter, &entries, &count, &request->error)))
    return;
  if (lines)
    reply_lines(request, entries, count);
  else
    reply_page(request, entries, count, limit);
  free(entries);
}
