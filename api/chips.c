/* /v1/chips: descriptions by name; presets cannot be changed. */
#include "api/handlers.h"
#include "base/foreign.h"
#include "base/json.h"
#include "storage/chips.h"

void cm_list_chips(cm_request *request)
{
  cm_chip_entry *chips;
  size_t count;
  if (!cm_reply_ok(request, cm_chips_list(request->store, &request->viewer, &chips, &count, &request->error)))
    return;
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) {
    coremap_chip *chip;
    if (cm_chips_open(request->store, chips[i].name, &chip, &request->error) != CM_OK)
      continue; /* deleted since it was listed */
    const library_chip_facts c = library_chip_facts_of(chip);
    json_t *entry = json_pack("{s:s, s:b, s:s, s:I, s:I, s:I, s:b, s:b}", "name", chips[i].name, "preset", chips[i].preset,
                              "description", c.description, "width", (json_int_t)c.width, "height", (json_int_t)c.height, "cores",
                              (json_int_t)c.width * c.height, "runs_programs", c.runs_programs, "takes_images", c.takes_images);
    if (!chips[i].preset)
      cm_owner_add(entry, &chips[i].owner);
    (void)json_array_append_new(list, entry);
    coremap_chip_free(chip);
  }
  free(chips);
  cm_reply_json(request, 200, json_pack("{s:o}", "chips", list));
}

static void reply_chip(cm_request *request, unsigned status, char *text)
{
  char etag[CM_SHA_MAX];
  cm_chips_tag(text, etag);
  if (status == 200 && strcmp(request->method, "PUT") != 0 && cm_reply_unchanged(request, etag)) {
    free(text);
    return;
  }
  cm_reply_text(request, status, "application/json", text, strlen(text));
  cm_reply_header(request, "ETag", "\"%s\"", etag);
}

void cm_get_chip(cm_request *request)
{
  char *text;
  bool preset;
  if (cm_reply_ok(request, cm_chips_text(request->store, request->param[0], &text, &preset, &request->error)))
    reply_chip(request, 200, text);
}

static cm_status check_description(const char *text, cm_error *error)
{
  if (cm_foreign_is_plain(text, CM_FOREIGN_LINE))
    return CM_OK;
  (void)cm_fail(error, CM_BAD_CHIP, "/description: expected a text without control characters");
  return cm_fail_at(error, "/description");
}

/* The description in our own words, so that equal chips are equal texts. A name in it must be the path's. */
static cm_status read_chip(cm_request *request, const char *name, char **text, cm_error *error)
{
  coremap_chip *chip;
  json_error_t why;
  uint64_t refusals = cm_json_refusals();
  json_t *object = cm_json_loadb(request->body != NULL ? request->body : "", request->body_size,
                              JSON_REJECT_DUPLICATES, &why);
  if (object == NULL && cm_json_whole(refusals, "the chip", error) != CM_OK)
    return error->status;
  if (!json_is_object(object)) {
    json_decref(object);
    cm_fail(error, CM_BAD_CHIP, "the chip must be one JSON object%s%s", object == NULL ? ": " : "",
            object == NULL ? why.text : "");
    return object == NULL ? cm_fail_at(error, "line %d, column %d", why.line, why.column) : error->status;
  }
  const json_t *given = json_object_get(object, "name");
  if (given != NULL && (json_string_value(given) == NULL || strcmp(json_string_value(given), name) != 0)) {
    json_decref(object);
    cm_fail(error, CM_BAD_CHIP, "the chip's name must be \"%s\", as in the path", name);
    return cm_fail_at(error, "/name");
  }
  (void)json_object_set_new(object, "name", json_string(name));
  char *named = cm_json_dumps(object, JSON_COMPACT);
  json_decref(object);
  CM_TRY_OR(cm_json_whole(refusals, "the chip", error), free(named));
  cm_status status = library_chip_read(named, NULL, 0, &chip, error);
  free(named);
  if (status == CM_OK) {
    status = check_description(library_chip_facts_of(chip).description, error);
    CM_THEN(status, library_chip_print(chip, text, error));
    coremap_chip_free(chip);
  }
  return status;
}

/* If-Match of a request that may do without: *tag is NULL then. False: the reply is set. */
static bool read_condition(cm_request *request, char *buffer, const char **tag)
{
  *tag = NULL;
  if (cm_request_header(request, "If-Match") == NULL)
    return true;
  *tag = buffer;
  return cm_request_if_match(request, buffer, CM_CHIP_TAG_MAX);
}

/* If-None-Match of a PUT: *, or none. False: the reply is set. */
static bool read_only_new(cm_request *request, bool *only_new)
{
  const char *text = cm_request_header(request, "If-None-Match");
  *only_new = text != NULL && strcmp(text, "*") == 0;
  if (text == NULL || *only_new)
    return true;
  return CM_REPLY_BAD(request, "If-None-Match of a PUT must be *: only where there is no chip of this name");
}

static void reply_failure(cm_request *request, bool mismatch, const cm_error *error)
{
  if (mismatch)
    cm_reply_problem(request, 412, "precondition-failed", "The state has changed", "%s", error->detail);
  else
    cm_reply_error(request, error);
}

void cm_put_chip(cm_request *request)
{
  char *text = NULL, tag[CM_CHIP_TAG_MAX];
  cm_chip_change change = {.name = request->param[0], .viewer = &request->viewer};
  bool created, mismatch = false;
  if (!cm_chips_name_is_sound(change.name)) {
    cm_reply_problem(request, 400, "bad-chip", "The chip description cannot be used",
                     "a chip's name has letters, digits, '.', '_' and '-', at most %d of them", LIBRARY_CHIP_NAME_MAX - 1);
    return;
  }
  if (!read_condition(request, tag, &change.if_match) || !read_only_new(request, &change.only_new) ||
      !cm_access_owner(request, cm_request_query(request, "visibility"), &change.owner))
    return;
  cm_status status = read_chip(request, change.name, &text, &request->error);
  change.text = text;
  CM_THEN(status, cm_chips_put(request->store, &change, &created, &mismatch, &request->error));
  if (status != CM_OK) {
    free(text);
    reply_failure(request, mismatch, &request->error);
    return;
  }
  reply_chip(request, created ? 201 : 200, text);
  if (created)
    cm_reply_location(request, "/v1/chips/%s", change.name);
}

void cm_delete_chip(cm_request *request)
{
  char buffer[CM_CHIP_TAG_MAX];
  const char *tag;
  bool mismatch = false;
  if (!read_condition(request, buffer, &tag))
    return;
  if (cm_chips_delete(request->store, request->param[0], &request->viewer, tag, &mismatch, &request->error) != CM_OK)
    reply_failure(request, mismatch, &request->error);
  else
    cm_reply_empty(request, 204);
}
