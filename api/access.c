/* Who asks, and whether he may (docs/how-to/users.md): as long as there are no users everybody on loopback may do all. Else the scopes of a token
 * and the role of its user must be those that the route asks for; what is revoked ends at once. No token or a wrong one is 401, after a delay
 * that grows with the wrong ones of an address and that holds up nobody who has a right one; what does not suffice 403. */
#include <strings.h>
#define HASH_NONFATAL_OOM 1 /* the default ends the process */
#include <uthash.h>

#include "api/handlers.h"

#include "base/hold.h"

enum { ADDRESSES_MAX = 4096, DELAYED_MAX = 16, USES_MAX = 256, FREE_FAILURES = 3, KNOWN_MAX = 256, REFUSED_MAX = 32 };

static const double used_seconds = 60;   /* a token's last use is noted so exactly */
static const double forget_seconds = 10; /* after which one failure is forgotten */
static const double known_seconds = 1;
static const double first_delay = 0.25, delay_max = 8;

/* ---- what rights there are ---- */

static const struct {
  unsigned scope;
  cm_role role;
} rights[] = {
  [CM_RIGHT_READ] = {CM_SCOPE_READ, CM_ROLE_USER},
  [CM_RIGHT_SUBMIT] = {CM_SCOPE_SUBMIT, CM_ROLE_USER},
  [CM_RIGHT_RESERVE] = {CM_SCOPE_RESERVE, CM_ROLE_USER},
  [CM_RIGHT_ACCOUNT] = {CM_SCOPE_ADMIN, CM_ROLE_USER},
  [CM_RIGHT_WATCH] = {CM_SCOPE_READ, CM_ROLE_OPERATOR},
  [CM_RIGHT_OPERATE] = {CM_SCOPE_ADMIN, CM_ROLE_OPERATOR},
  [CM_RIGHT_ADMIN] = {CM_SCOPE_ADMIN, CM_ROLE_ADMIN},
};

static const char *scope_name(unsigned scope)
{
  size_t i = 0;
  while (cm_scope_names[i + 1] != NULL && scope != 1u << i)
    i++;
  return cm_scope_names[i];
}

void cm_right_asks(cm_right right, const char **scope, const char **role)
{
  *scope = rights[right].scope != 0 ? scope_name(rights[right].scope) : NULL;
  *role = rights[right].role != CM_ROLE_USER ? cm_role_name(rights[right].role) : NULL;
}

bool cm_access_has(cm_request *request, cm_right right)
{
  if ((rights[right].scope & ~request->who.scopes) != 0)
    return cm_reply_problem(request, 403, "forbidden", "The token does not suffice",
                     "this needs a token with scope %s; GET /v1/me says what this one has", scope_name(rights[right].scope));
  if (request->who.role < rights[right].role)
    return cm_reply_problem(request, 403, "forbidden", "The role does not suffice", "this needs role %s; yours is %s",
                     cm_role_name(rights[right].role), cm_role_name(request->who.role));
  return true;
}

/* ---- addresses that sent wrong tokens ---- */

typedef struct address {
  unsigned char key[CM_ADDRESS_KEY];
  double failures, since; /* how many stand to its account, as of when */
  unsigned delayed;       /* replies held back now */
  UT_hash_handle hh;
} address;

/* A token that was good last: it is until users or tokens change (cm_database_version), and for a second, for changes that are made
 * around the server. */
typedef struct known {
  unsigned char digest[CM_TOKEN_DIGEST];
  uint64_t version;
  double until; /* 0: nothing is here */
  cm_identity who;
} known;

/* What is to be written down. */
typedef struct noted {
  cm_token_use uses[USES_MAX];
  size_t use_count;
  cm_audit_entry refused[REFUSED_MAX + 1]; /* changes; more of a second than REFUSED_MAX are only counted, in an entry of their own */
  size_t refused_count, refused_more;
} noted;

struct cm_access {
  pthread_mutex_t lock;
  known known[KNOWN_MAX]; /* by the first byte of the digest */
  address *addresses;
  noted noted;
};

static double failures_now(const address *a, double now)
{
  double left = a->failures - (now - a->since) / forget_seconds;
  return left > 0 ? left : 0;
}

/* With the lock held: the account of an address; room is made by the one with the fewest failures that waits for nothing.
 * NULL: no memory. */
static address *account(cm_access *access, const unsigned char *key, double now)
{
  address *a, *next, *least = NULL;
  HASH_FIND(hh, access->addresses, key, CM_ADDRESS_KEY, a);
  if (a != NULL)
    return a;
  if (HASH_COUNT(access->addresses) >= ADDRESSES_MAX) {
    HASH_ITER(hh, access->addresses, a, next)
      if (a->delayed == 0 && (least == NULL || failures_now(a, now) < failures_now(least, now)))
        least = a;
    if (least == NULL)
      return NULL;
    HASH_DEL(access->addresses, least);
    free(least);
  }
  if ((a = calloc(1, sizeof *a)) == NULL)
    return NULL;
  memcpy(a->key, key, CM_ADDRESS_KEY);
  a->since = now;
  HASH_ADD(hh, access->addresses, key, CM_ADDRESS_KEY, a);
  if (a->hh.tbl == NULL) {
    free(a);
    return NULL;
  }
  return a;
}

/* Notes a wrong token; the seconds that its reply is held back, negative when too many of this address are. */
static double note_failure(cm_access *access, const unsigned char *key)
{
  double now = cm_now(), delay = 0;
  CM_HOLD(&access->lock);
  address *a = account(access, key, now);
  if (a != NULL) {
    a->failures = failures_now(a, now) + 1;
    a->since = now;
    for (double n = a->failures; n > FREE_FAILURES && delay < delay_max; n--)
      delay = delay > 0 ? 2 * delay : first_delay;
    delay = delay < delay_max ? delay : delay_max;
    if (delay > 0 && a->delayed >= DELAYED_MAX)
      delay = -1;
    else if (delay > 0)
      a->delayed++;
  }
  return delay;
}

void cm_access_delay_over(cm_request *request)
{
  cm_access *access = request->server->access;
  address *a;
  CM_HOLD(&access->lock);
  HASH_FIND(hh, access->addresses, request->address, CM_ADDRESS_KEY, a);
  if (a != NULL && a->delayed > 0)
    a->delayed--;
  request->delay = 0;
}

/* ---- signing in ---- */

static void refuse(cm_request *request, const char *challenge, const char *title, const char *detail)
{
  cm_reply_problem(request, 401, "unauthorized", title, "%s", detail);
  cm_reply_header(request, "WWW-Authenticate", "Bearer realm=\"coremapd\"%s", challenge);
}

static void refuse_token(cm_request *request, const cm_error *why)
{
  atomic_fetch_add(&request->server->counters.wrong_tokens, 1);
  request->delay = note_failure(request->server->access, request->address);
  if (request->delay < 0) {
    cm_reply_problem(request, 429, "too-many", "Too many wrong tokens",
                     "too many wrong tokens came from this address; right ones are still taken");
    cm_reply_header(request, "Retry-After", "%d", (int)delay_max);
  } else
    refuse(request, ", error=\"invalid_token\"", "The token is not accepted", why->detail);
}

/* The token of an Authorization header; NULL when it is of another kind. */
static const char *bearer(const char *header)
{
  if (strncasecmp(header, "Bearer", 6) != 0 || (header[6] != ' ' && header[6] != '\t'))
    return NULL;
  return header + 6 + strspn(header + 6, " \t");
}

/* Notes that a token was used, to be written with others. */
static void note_use(cm_access *access, const cm_identity *who)
{
  double now = cm_store_time();
  if (now - who->used < used_seconds)
    return;
  CM_HOLD(&access->lock);
  size_t i = 0;
  noted *n = &access->noted;
  while (i < n->use_count && strcmp(n->uses[i].id, who->token) != 0)
    i++;
  if (i < USES_MAX) {
    n->use_count += i == n->use_count;
    memcpy(n->uses[i].id, who->token, sizeof who->token);
    n->uses[i].when = now;
  }
}

/* Whether a token of this digest was good a moment ago, and nothing has changed since. */
static bool recall(cm_access *access, const unsigned char *digest, uint64_t version, cm_identity *who)
{
  CM_HOLD(&access->lock);
  const known *k = &access->known[digest[0]];
  const bool good = cm_now() < k->until && k->version == version && sodium_memcmp(k->digest, digest, sizeof k->digest) == 0 &&
                    (k->who.expires <= 0 || k->who.expires > cm_store_time());
  if (good)
    *who = k->who;
  return good;
}

static void remember(cm_access *access, const unsigned char *digest, uint64_t version, const cm_identity *who)
{
  CM_HOLD(&access->lock);
  known *k = &access->known[digest[0]];
  *k = (known){.version = version, .until = cm_now() + known_seconds, .who = *who};
  memcpy(k->digest, digest, sizeof k->digest);
}

bool cm_access_check(cm_request *request, const char *token)
{
  cm_access *access = request->server->access;
  unsigned char digest[CM_TOKEN_DIGEST];
  const uint64_t version = cm_database_version(request->store->database, CM_WATCHED_PEOPLE);
  cm_token_digest(token, digest);
  if (recall(access, digest, version, &request->who)) {
    note_use(access, &request->who);
    return true;
  }
  cm_status status = cm_tokens_check(request->store->database, token, digest, &request->who, &request->error);
  if (status == CM_OK) {
    remember(access, digest, version, &request->who);
    note_use(access, &request->who);
  } else if (status == CM_NOT_FOUND)
    refuse_token(request, &request->error);
  else if (status == CM_CONFLICT)
    refuse(request, ", error=\"invalid_token\"", "The token is not accepted", request->error.detail);
  else
    cm_reply_error(request, &request->error);
  return status == CM_OK;
}

/* A browser sends its cookie whoever's page makes it ask: what changes something must name the page's origin, which the head's
 * check has found to be ours (head.c). False: the reply is set, or the session has ended. */
static bool take_session(cm_request *request, const char *token)
{
  if (!cm_request_is_safe(request) && cm_request_header(request, "Origin") == NULL)
    return cm_reply_problem(request, 403, "cross-origin", "Another site asked for this",
                            "with a session's cookie, requests that change something must send Origin");
  cm_status status = cm_tokens_again(request->store->database, token, &request->who, &request->error);
  if (status == CM_NOT_FOUND || status == CM_CONFLICT)
    return false;
  if (status == CM_OK)
    note_use(request->server->access, &request->who);
  return cm_reply_ok(request, status);
}

/* A user whom a trusted proxy was the first to name. */
static cm_status add_remote(cm_request *request, cm_error *error)
{
  cm_user made = {.role = CM_ROLE_USER};
  cm_audit_entry cause;
  cm_error taken;
  if (!cm_user_name_is_sound(request->remote_user))
    return cm_fail(error, CM_NOT_FOUND, "\"%.60s\" is no name for a user", request->remote_user);
  (void)snprintf(made.name, sizeof made.name, "%s", request->remote_user);
  cm_audit_of(request, &cause);
  (void)snprintf(cause.user, sizeof cause.user, "%s", made.name);
  (void)snprintf(cause.action, sizeof cause.action, "auto-add");
  (void)snprintf(cause.object, sizeof cause.object, "%s", made.name);
  cm_audit_cause(&cause);
  cm_status status = cm_users_add(request->store->database, &made, &taken);
  cm_audit_cause(NULL);
  if (status != CM_OK && status != CM_CONFLICT) { /* another request of his has added him */
    *error = taken;
    return status;
  }
  return cm_users_identify(request->store->database, made.name, &request->who, error);
}

/* Somebody a trusted proxy has let in. His browser was let in by the proxy, whoever's page made it ask: what holds for cookies
 * holds here. False: the reply is set. */
static bool take_remote(cm_request *request)
{
  if (request->foreign || (!cm_request_is_safe(request) && cm_request_header(request, "Origin") == NULL))
    return cm_reply_problem(request, 403, "cross-origin", "Another site asked for this",
                            "without a token, requests that change something must send Origin, and come from the server's own pages");
  cm_status status = cm_users_identify(request->store->database, request->remote_user, &request->who, &request->error);
  if (status == CM_NOT_FOUND && request->server->options.auto_add)
    status = add_remote(request, &request->error);
  if (status == CM_NOT_FOUND || status == CM_CONFLICT)
    return cm_reply_problem(request, 403, "forbidden", "This user may not come in",
                            "%s; coremapd user add, or somebody who administers the server, lets one in", request->error.detail);
  return cm_reply_ok(request, status);
}

bool cm_access_take(cm_request *request)
{
  bool users = true;
  const char *header = cm_request_header(request, "Authorization"), *token = header != NULL ? bearer(header) : NULL;
  if (request->route->right == CM_RIGHT_PUBLIC)
    return true;
  char session[CM_TOKEN_ID_MAX];
  if (token != NULL)
    (void)cm_access_check(request, token);
  else if (cm_session_token(request, session) && (take_session(request, session) || request->status != 0))
    ;
  else if (request->remote_user != NULL)
    (void)take_remote(request);
  else if (cm_users_exist(request->store->database, &users, &request->error) != CM_OK)
    cm_reply_error(request, &request->error);
  else if (!users && !request->server->exposed) {
    request->who = (cm_identity){.role = CM_ROLE_ADMIN, .scopes = cm_scopes_whole(CM_SCOPE_ADMIN)};
    request->open = true;
  } else
    refuse(request, "", "A token is needed",
           "sign in, or send it as Authorization: Bearer; coremapd token add, or somebody who administers the server, makes one");
  request->viewer = (cm_viewer){request->who.user, request->who.group, request->who.role >= CM_ROLE_OPERATOR};
  return request->status == 0 && cm_access_has(request, request->route->right);
}

/* Who the caller of a request that has waited is now. */
static cm_status identify_again(cm_request *request, cm_error *error)
{
  cm_database *database = request->store->database;
  const cm_identity was = request->who;
  bool users = false;
  if (was.token[0] != '\0')
    return cm_tokens_again(database, was.token, &request->who, error);
  if (!request->open)
    return cm_users_identify(database, was.user, &request->who, error);
  CM_TRY(cm_users_exist(database, &users, error));
  return users ? cm_fail(error, CM_CONFLICT, "there are users now: sign in") : CM_OK;
}

bool cm_access_again(cm_request *request)
{
  cm_status status = identify_again(request, &request->error);
  request->viewer.all = request->who.role >= CM_ROLE_OPERATOR;
  if (status != CM_NOT_FOUND && status != CM_CONFLICT)
    return cm_reply_ok(request, status) && cm_access_has(request, request->route->right);
  refuse(request, ", error=\"invalid_token\"", "The token is not accepted", request->error.detail);
  return false;
}

/* ---- start, stop, now and then ---- */

cm_status cm_access_start(cm_access **access, cm_error *error)
{
  cm_access *made;
  CM_TRY(CM_HEAP(made, 1, "the server", error));
  pthread_mutex_init(&made->lock, NULL);
  *access = made;
  return CM_OK;
}

void cm_access_note_refused(cm_request *request)
{
  noted *n = &request->server->access->noted;
  if (request->route == NULL || request->who.user[0] == '\0' || request->status < 400 || request->status >= 500 || cm_request_is_safe(request))
    return;
  CM_HOLD(&request->server->access->lock);
  if (n->refused_count < REFUSED_MAX) {
    cm_audit_entry *e = &n->refused[n->refused_count++];
    cm_audit_of(request, e);
    (void)snprintf(e->effect, sizeof e->effect, "refused: %u %s", request->status, request->refusal);
  } else
    n->refused_more++;
}

cm_status cm_access_write_uses(cm_access *access, cm_store *store, cm_error *error)
{
  noted *n = malloc(sizeof *n);
  CM_TRY(cm_whole(n != NULL, "what is to be noted", error));
  pthread_mutex_lock(&access->lock);
  *n = access->noted;
  access->noted.use_count = access->noted.refused_count = access->noted.refused_more = 0;
  pthread_mutex_unlock(&access->lock);
  n->refused[n->refused_count] = (cm_audit_entry){.action = "refused"};
  (void)snprintf(n->refused[n->refused_count].effect, sizeof n->refused->effect, "refused: %zu more changes within a second", n->refused_more);
  cm_status status = cm_tokens_used(store->database, n->uses, n->use_count, error);
  CM_THEN_IF(status, n->refused_count > 0, cm_audit_note(store->database, n->refused, n->refused_count + (n->refused_more > 0), error));
  free(n);
  return status;
}

void cm_access_free(cm_access *access)
{
  address *a, *next;
  if (access == NULL)
    return;
  HASH_ITER(hh, access->addresses, a, next) {
    HASH_DEL(access->addresses, a);
    free(a);
  }
  pthread_mutex_destroy(&access->lock);
  free(access);
}
