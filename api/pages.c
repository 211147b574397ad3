/* Pages of lists. Where one ends is the number of its last row, which the database gives in order of arrival, whoever may see them.
 * Clients get it masked, so that it tells nothing of how many came in between. */
#include <sodium.h>

#include "api/handlers.h"

/* A cursor's bytes: a digest of list, order, number and value, the number under a mask made of the digest, and in a list that is sorted by
 * something else than arrival, the last row's value: its kind and that. */
enum { HALF = 8, VALUE_MAX = CM_NAME_MAX + 1, BYTES_MAX = 2 * HALF + VALUE_MAX };
_Static_assert(CM_CURSOR_MAX > (BYTES_MAX * 4 + 2) / 3, "a cursor holds the longest value");

/* A keyed digest of some of a cursor's bytes; the key is this data folder's, and stays. */
static void digest(const cm_store *store, const char *purpose, const unsigned char *bytes, size_t size, unsigned char to[HALF])
{
  unsigned char whole[crypto_generichash_BYTES];
  crypto_generichash_state state;
  (void)crypto_generichash_init(&state, (const unsigned char *)store->id, strlen(store->id), sizeof whole);
  (void)crypto_generichash_update(&state, bytes, size);
  (void)crypto_generichash_update(&state, (const unsigned char *)purpose, strlen(purpose));
  (void)crypto_generichash_final(&state, whole, sizeof whole);
  memcpy(to, whole, HALF);
}

static void mask(const cm_store *store, const unsigned char of[HALF], unsigned char number[HALF])
{
  unsigned char bits[HALF];
  digest(store, "mask", of, HALF, bits);
  for (int i = 0; i < HALF; i++)
    number[i] ^= bits[i];
}

/* Of which list in which order a cursor is. */
static const char *purpose_of(const cm_request *request, char purpose[160])
{
  const char *sort = cm_request_query(request, "sort");
  (void)snprintf(purpose, 160, "%s%s%.60s", request->route->pattern, sort != NULL ? " by " : "", sort != NULL ? sort : "");
  return purpose;
}

static size_t write_value(const cm_cell *cell, unsigned char *to)
{
  to[0] = (unsigned char)cell->kind;
  const size_t size = cell->kind == CM_CELL_TEXT ? strnlen(cell->text, VALUE_MAX - 1) : HALF;
  memcpy(to + 1, cell->kind == CM_CELL_TEXT ? (const void *)cell->text : cell->kind == CM_CELL_WHOLE ? (const void *)&cell->whole : (const void *)&cell->real, size);
  return size + 1;
}

void cm_page_next_at(const cm_request *request, int64_t sequence, const cm_cell *at, char cursor[CM_CURSOR_MAX])
{
  unsigned char bytes[BYTES_MAX];
  char purpose[160];
  memcpy(bytes + HALF, &sequence, HALF);
  const size_t size = 2 * HALF + (at != NULL && at->kind != CM_CELL_NONE ? write_value(at, bytes + 2 * HALF) : 0);
  digest(request->store, purpose_of(request, purpose), bytes + HALF, size - HALF, bytes);
  mask(request->store, bytes, bytes + HALF);
  (void)sodium_bin2base64(cursor, CM_CURSOR_MAX, bytes, size, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

void cm_page_add_next(const cm_request *request, json_t *body, int64_t sequence)
{
  char cursor[CM_CURSOR_MAX];
  cm_page_next_at(request, sequence, NULL, cursor);
  (void)json_object_set_new(body, "next", json_string(cursor));
}

/* The number in a cursor, and the value; false: it is none of this list's. */
static bool unmask(const cm_request *request, const char *cursor, int64_t *sequence, cm_cell *at, char text[CM_NAME_MAX])
{
  unsigned char bytes[BYTES_MAX], expected[HALF];
  char purpose[160];
  size_t size;
  if (sodium_base642bin(bytes, sizeof bytes, cursor, strlen(cursor), NULL, &size, NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
      size < 2 * HALF)
    return false;
  mask(request->store, bytes, bytes + HALF);
  digest(request->store, purpose_of(request, purpose), bytes + HALF, size - HALF, expected);
  memcpy(sequence, bytes + HALF, HALF);
  if (sodium_memcmp(expected, bytes, HALF) != 0)
    return false;
  if (size == 2 * HALF)
    return true;
  const unsigned char *value = bytes + 2 * HALF + 1;
  const size_t length = size - 2 * HALF - 1;
  *at = (cm_cell){.kind = (cm_cell_kind)value[-1]};
  if (at->kind == CM_CELL_TEXT) {
    (void)snprintf(text, CM_NAME_MAX, "%.*s", (int)length, (const char *)value);
    at->text = text;
  } else
    memcpy(at->kind == CM_CELL_WHOLE ? (void *)&at->whole : (void *)&at->real, value, HALF);
  return true;
}

bool cm_page_asked_at(cm_request *request, uint64_t most, uint64_t normal, cm_page *page)
{
  const char *cursor = cm_request_query(request, "cursor");
  *page = (cm_page){0};
  if (!cm_request_number(request, "limit", 1, most, normal, &page->limit))
    return false;
  if (cursor == NULL || unmask(request, cursor, &page->after, &page->at, page->text))
    return true;
  return CM_REPLY_BAD(request,
                      "query argument cursor must be the \"next\" of a page of this list in this order; leave it out for the first page");
}

bool cm_page_asked(cm_request *request, uint64_t most, uint64_t normal, uint64_t *limit, int64_t *before)
{
  cm_page page;
  if (!cm_page_asked_at(request, most, normal, &page))
    return false;
  *limit = page.limit;
  *before = page.after;
  return true;
}
