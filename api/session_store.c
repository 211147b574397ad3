/* Sessions in memory: a session stands for its token, which is looked at with every request, and ends with it. They are kept by a hash
 * of their cookie, 32 random bytes; a restart ends them. */
#define HASH_NONFATAL_OOM 1 /* the default ends the process */
#include <uthash.h>

#include "api/internal.h"

enum { SECRET_BYTES = 32, SECRET_LENGTH = CM_SESSION_SECRET_MAX - 1, KEY_BYTES = 32, SESSIONS_MAX = 10000, OF_USER_MAX = 64 };

static const double idle_seconds = 86400;

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

static void drop(cm_sessions *sessions, session *s)
{
  HASH_DEL(sessions->all, s);
  free(s);
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
  if (now - s->made > CM_SESSION_SECONDS || now - s->seen > idle_seconds) {
    drop(sessions, s);
    return NULL;
  }
  s->seen = now;
  return s;
}

static const char *cookie_of(const cm_request *request)
{
  const char *secret = MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND, CM_SESSION_COOKIE);
  return secret != NULL && strlen(secret) == SECRET_LENGTH ? secret : NULL;
}

cm_status cm_sessions_start(cm_sessions **sessions, cm_error *error)
{
  cm_sessions *made;
  CM_TRY(CM_HEAP(made, 1, "the server", error));
  pthread_mutex_init(&made->lock, NULL);
  *sessions = made;
  return CM_OK;
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

bool cm_session_begin(cm_sessions *sessions, const cm_identity *who, char secret[CM_SESSION_SECRET_MAX])
{
  unsigned char bytes[SECRET_BYTES];
  session *s = calloc(1, sizeof *s);
  if (s == NULL)
    return false;
  randombytes_buf(bytes, sizeof bytes);
  sodium_bin2base64(secret, CM_SESSION_SECRET_MAX, bytes, sizeof bytes, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
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

void cm_session_end(const cm_request *request)
{
  cm_sessions *sessions = request->server->sessions;
  const char *secret = cookie_of(request);
  if (secret == NULL)
    return;
  pthread_mutex_lock(&sessions->lock);
  session *s = find(sessions, secret);
  if (s != NULL)
    drop(sessions, s);
  pthread_mutex_unlock(&sessions->lock);
}
