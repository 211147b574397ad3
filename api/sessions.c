/* Sessions: how a browser signs in with a token and sends it no more (docs/users.md).
 *
 * POST /v1/session takes a token and answers with a cookie of 32 random bytes that scripts cannot read and that other sites'
 * requests do not carry. The session stands for the token, which is looked at with every request: it ends with it. Sessions
 * are kept in memory, by a hash of their cookie; a restart ends them. */
#include <stdlib.h>
#include <string.h>
#define HASH_NONFATAL_OOM 1 /* the default ends the process */
#include <uthash.h>

#include "api/handlers.h"
#include "base/run.h"

enum { SECRET_BYTES = 32, SECRET_LENGTH = 43, KEY_BYTES = 32, SESSIONS_MAX = 10000, OF_USER_MAX = 64 };

#define COOKIE "coremap_session"

static const double session_seconds = 7 * 86400, idle_seconds = 86400;

typedef struct session {
  unsigned char key[KEY_BYTES];
  char token[CM_TOKEN_ID_MAX], user[CM_USER_MAX];
  double made, seen; /* monotonic */
  UT_hash_handle hh;
} session;

struct cm_sessions {
  pthread_mutex_t lock;
  session *all; /* in order of their making */
};

cm_status cm_sessions_start(cm_sessions **sessions, cm_error *error)
{
  cm_sessions *made = calloc(1, sizeof *made);
  if (made == NULL)
    return cm_fail(error, CM_NO_MEMORY, "out of memory while starting the server");
  pthread_mutex_init(&made->lock, NULL);
  *sessions = made;
  return CM_OK;
}

static void drop(cm_sessions *sessions, session *s)
{
  HASH_DEL(sessions->all, s);
  free(s);
}

void cm_sessions_free(cm_sessions *sessions)
{
  if (sessions == NULL)
    return;
  while (sessions->all != NULL)
    drop(sessions, sessions->all);
  pthread_mutex_destroy(&sessions->lock);
  free(sessions);
}

static void key_of(const char *secret, unsigned char key[KEY_BYTES])
{
  (void)crypto_generichash(key, KEY_BYTES, (const unsigned char *)secret, strlen(secret), NULL, 0);
}

/* With the lock held: the session of a cookie, NULL when there is none that still lasts. */
static session *find(cm_sessions *sessions, const char *secret)
{
  unsigned char key[KEY_BYTES];
  session *s;
  double now = cm_now();
  key_of(secret, key);
  HASH_FIND(hh, sessions->all, key, KEY_BYTES, s);
  if (s == NULL)
    return NULL;
  if (now - s->made > session_seconds || now - s->seen > idle_seconds) {
    drop(sessions, s);
    return NULL;
  }
  s->seen = now;
  return s;
}

static const char *cookie_of(const cm_request *request)
{
  const char *secret = MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND, COOKIE);
  return secret != NULL && strlen(secret) == SECRET_LENGTH ? secret : NULL;
}

bool cm_session_token(const cm_request *request, char token[CM_TOKEN_ID_MAX])
{
  cm_sessions *sessions = request->server->sessions;
  const char *secret = cookie_of(request);
  if (secret == NULL || request->foreign)
    return false;
  pthread_mutex_lock(&sessions->lock);
  const session *s = find(sessions, secret);
  if (s != NULL)
    memcpy(token, s->token, CM_TOKEN_ID_MAX);
  pthread_mutex_unlock(&sessions->lock);
  return s != NULL;
}

/* With the lock held: makes room for another one, of this user's where he has as many as one may. */
static void make_room(cm_sessions *sessions, const char *user)
{
  size_t his = 0;
  session *s, *next, *oldest = NULL;
  HASH_ITER(hh, sessions->all, s, next)
    if (strcmp(s->user, user) == 0) {
      oldest = oldest != NULL ? oldest : s;
      his++;
    }
  if (his >= OF_USER_MAX)
    drop(sessions, oldest);
  else if (HASH_COUNT(sessions->all) >= SESSIONS_MAX)
    drop(sessions, sessions->all);
}

/* Makes a session for a token; false: no memory. */
static bool begin(cm_sessions *sessions, const cm_identity *who, char secret[SECRET_LENGTH + 1])
{
  unsigned char bytes[SECRET_BYTES];
  session *s = calloc(1, sizeof *s);
  if (s == NULL)
    return false;
  randombytes_buf(bytes, sizeof bytes);
  sodium_bin2base64(secret, SECRET_LENGTH + 1, bytes, sizeof bytes, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
  key_of(secret, s->key);
  memcpy(s->token, who->token, sizeof s->token);
  memcpy(s->user, who->user, sizeof s->user);
  s->made = s->seen = cm_now();
  pthread_mutex_lock(&sessions->lock);
  make_room(sessions, who->user);
  HASH_ADD(hh, sessions->all, key, KEY_BYTES, s);
  bool kept = s->hh.tbl != NULL;
  pthread_mutex_unlock(&sessions->lock);
  if (!kept)
    free(s);
  return kept;
}

static void set_cookie(cm_request *request, const char *secret, long seconds)
{
  cm_reply_header(request, "Set-Cookie", COOKIE "=%s; Path=%s/; HttpOnly; SameSite=Strict%s; Max-Age=%ld", secret,
                  request->server->base, request->server->secure || request->https ? "; Secure" : "", seconds);
  cm_reply_private(request);
}

/* The token of a body; NULL: the reply is set. */
static const char *read_token(cm_request *request, const json_t *object)
{
  static const char *const names[] = {"token", NULL};
  const char *token = json_string_value(json_object_get(object, "token"));
  if (!cm_request_members(request, object, names))
    return NULL;
  if (token == NULL)
    cm_reply_problem(request, 400, "bad-request", "The request cannot be understood", "/token: expected a token");
  return token;
}

void cm_post_session(cm_request *request)
{
  cm_error error;
  char secret[SECRET_LENGTH + 1];
  bool users = true;
  json_t *object = cm_request_json(request);
  if (object == NULL)
    return;
  const char *token = read_token(request, object);
  if (token == NULL)
    ;
  else if (cm_users_exist(request->store->database, &users, &error) != CM_OK)
    cm_reply_error(request, &error);
  else if (!users)
    cm_reply_problem(request, 409, "conflict", "The state of a thing forbids the change",
                     "there are no users: nobody needs to sign in");
  else if (!cm_access_check(request, token))
    ; /* the reply is set */
  else if (!begin(request->server->sessions, &request->who, secret))
    cm_reply_text(request, 503, NULL, NULL, 0);
  else {
    cm_get_me(request);
    if (request->status == 200)
      set_cookie(request, secret, (long)session_seconds);
    sodium_memzero(secret, sizeof secret);
  }
  json_decref(object);
}

void cm_delete_session(cm_request *request)
{
  cm_sessions *sessions = request->server->sessions;
  const char *secret = cookie_of(request);
  if (secret != NULL) {
    pthread_mutex_lock(&sessions->lock);
    session *s = find(sessions, secret);
    if (s != NULL)
      drop(sessions, s);
    pthread_mutex_unlock(&sessions->lock);
  }
  cm_reply_empty(request, 204);
  set_cookie(request, "", 0);
}
