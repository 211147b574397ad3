/* The notation of api/openapi/, of which the OpenAPI document is made (openapi_document.c). It stands for
 *
 * - a schema: "string" (a type of JSON), "Network" (a schema of components) or "count" (one of "shapes", put in), each with ": and what it
 *   is" behind it; ["Network"]: a list of them; or a JSON schema, in which "properties" alone makes an object, and names that end in ?
 *   are those that may be missing;
 * - content: a schema, for JSON; "text/csv application/json=Cores": media types, JSON with the name of its schema; {media type: schema};
 * - headers: "Location ETag", of components; {name: schema}, where names that end in ? may be missing too.
 *
 * Nothing here fails: whoever asks looks at cm_json_refusals, which tells whether memory sufficed for all pieces. All that is returned is a new
 * reference. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

enum { CM_OPENAPI_WORD_MAX = 64 };

json_t *cm_openapi_schema(const json_t *shapes, const json_t *value);
json_t *cm_openapi_content(const json_t *shapes, const json_t *value);
json_t *cm_openapi_headers(const json_t *shapes, const json_t *value);

/* {"$ref": "#/components/KIND/NAME"} */
json_t *cm_openapi_refer(const char *kind, const char *name);

/* Takes the next of words with spaces between (NULL: none); false: there are no more. */
bool cm_openapi_word(const char **words, char word[CM_OPENAPI_WORD_MAX]);

/* The whole document; the caller frees. NULL: no memory. */
char *cm_openapi_document(void);

/* Adds what is known of a parameter or header, a schema or {"description", "schema", ...}, to `made`. */
void cm_openapi_describe(const json_t *shapes, const json_t *value, json_t *made);
