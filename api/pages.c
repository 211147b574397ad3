/* Pages of lists. Where one ends is the number of its last row, which the database gives in order of arrival, whoever may see them.
 * Clients get it masked, so that it tells nothing of how many came in between. */
#include <sodium.h>
#include <string.h>

#include "api/handlers.h"

/* A cursor's bytes: a digest of list and number, and the number under a mask made of the digest. */
enum { HALF = 8 };

/* A keyed digest of a half of a cursor; the key is this data folder's, and stays. */
static void digest(const cm_store *store, const char *purpose, const unsigned char half[HALF], unsigned char to[HALF])
{
  unsigned char whole[crypto_generichash_BYTES];
  crypto_generichash_state state;
  (void)crypto_generichash_init(&state, (const unsigned char *)store->id, strlen(store->id), sizeof whole);
  (void)crypto_generichash_update(&state, half, HALF);
  (void)crypto_generichash_update(&state, (const unsigned char *)purpose, strlen(purpose));
  (void)crypto_generichash_final(&state, whole, sizeof whole);
  memcpy(to, whole, HALF);
}

static void mask(const cm_store *store, const unsigned char of[HALF], unsigned char number[HALF])
{
  unsigned char bits[HALF];
  digest(store, "mask", of, bits);
  for (int i = 0; i < HALF; i++)
    number[i] ^= bits[i];
}

void cm_page_next(const cm_request *request, int64_t sequence, char cursor[CM_CURSOR_MAX])
{
  unsigned char bytes[2 * HALF];
  memcpy(bytes + HALF, &sequence, HALF);
  digest(request->store, request->route->pattern, bytes + HALF, bytes);
  mask(request->store, bytes, bytes + HALF);
  (void)sodium_bin2base64(cursor, CM_CURSOR_MAX, bytes, sizeof bytes, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

void cm_page_add_next(const cm_request *request, json_t *body, int64_t sequence)
{
  char cursor[CM_CURSOR_MAX];
  cm_page_next(request, sequence, cursor);
  (void)json_object_set_new(body, "next", json_string(cursor));
}

/* The number in a cursor; false: it is none of this list's. */
static bool unmask(const cm_request *request, const char *cursor, int64_t *sequence)
{
  unsigned char bytes[2 * HALF], expected[HALF];
  size_t size;
  if (sodium_base642bin(bytes, sizeof bytes, cursor, strlen(cursor), NULL, &size, NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 ||
      size != sizeof bytes)
    return false;
  mask(request->store, bytes, bytes + HALF);
  digest(request->store, request->route->pattern, bytes + HALF, expected);
  memcpy(sequence, bytes + HALF, HALF);
  return sodium_memcmp(expected, bytes, HALF) == 0;
}

bool cm_page_asked(cm_request *request, uint64_t most, uint64_t normal, uint64_t *limit, int64_t *before)
{
  const char *cursor = cm_request_query(request, "cursor");
  *before = 0;
  if (!cm_request_number(request, "limit", 1, most, normal, limit))
    return false;
  if (cursor == NULL || unmask(request, cursor, before))
    return true;
  cm_reply_problem(request, 400, "bad-request", "The request cannot be understood",
                   "query argument cursor must be the \"next\" of a page of this list; leave it out for the first page");
  return false;
}
