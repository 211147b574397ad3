#include "storage/tokens.h"

#include <sodium.h>

#include "storage/audit.h"
#include "storage/internal.h"

enum { SECRET_BYTES = 32, SECRET_LENGTH = 43, HASH_MAX = 2 * CM_TOKEN_DIGEST + 1 };

const double cm_token_seconds_default = 90.0 * 86400, cm_token_seconds_max = 3660.0 * 86400;

const char *const cm_scope_names[] = {"read", "submit", "reserve", "admin", NULL};

unsigned cm_scope_of(const char *name)
{
  for (unsigned i = 0; cm_scope_names[i] != NULL; i++)
    if (strcmp(cm_scope_names[i], name) == 0)
      return 1u << i;
  return 0;
}

unsigned cm_scopes_whole(unsigned scopes)
{
  if ((scopes & CM_SCOPE_ADMIN) != 0)
    scopes |= CM_SCOPE_SUBMIT | CM_SCOPE_RESERVE;
  return scopes != 0 ? scopes | CM_SCOPE_READ : 0;
}

void cm_token_digest(const char *text, unsigned char digest[CM_TOKEN_DIGEST])
{
  (void)crypto_generichash(digest, CM_TOKEN_DIGEST, (const unsigned char *)text, strlen(text), NULL, 0);
}

/* What a token may, for the audit trail: "token 0123456789ab of ann, read submit". */
static void tell(const char *id, const char *user, unsigned scopes, const char *what)
{
  char names[64] = "";
  for (unsigned i = 0; cm_scope_names[i] != NULL; i++)
    if ((scopes & 1u << i) != 0)
      (void)snprintf(names + strlen(names), sizeof names - strlen(names), " %s", cm_scope_names[i]);
  cm_audit_effect("token %s of %s,%s%s", id, user, names, what);
}

/* ---- making ---- */

typedef struct token_work {
  const char *id, *user, *hash;
  const cm_token *given;
  const cm_token_use *uses;
  size_t count;
} token_work;

/* A token's row and its user's. */
typedef struct standing {
  char hash[HASH_MAX];
  bool found, disabled;
} standing;

static cm_status add(sqlite3 *handle, void *context, cm_error *error)
{
  token_work *work = context;
  const cm_token *t = work->given;
  int64_t users, tokens;
  CM_TRY(cm_sql_number(handle, 0, &users, error, "SELECT count(*) FROM users WHERE name = ?", "t", t->user));
  CM_TRY(cm_sql_number(handle, 0, &tokens, error, "SELECT count(*) FROM tokens WHERE user = ?", "t", t->user));
  if (users == 0)
    return cm_fail(error, CM_NOT_FOUND, "there is no user \"%.60s\"", t->user);
  if (tokens >= CM_TOKENS_OF_USER_MAX)
    return cm_fail(error, CM_CONFLICT, "\"%s\" has %lld tokens; revoke some first", t->user, (long long)tokens);
  tell(t->id, t->user, t->scopes, "");
  return cm_sql_run(handle, NULL, error,
                    "INSERT INTO tokens(id, user, name, scopes, hash, created, expires) VALUES(?, ?, ?, ?, ?, ?, ?)",
                    "tttitdd", t->id, t->user, t->name, (int64_t)t->scopes, work->hash, t->created, t->expires);
}

cm_status cm_tokens_add(cm_database *database, cm_token *token, char *text, cm_error *error)
{
  unsigned char id[(CM_TOKEN_ID_MAX - 1) / 2], secret[SECRET_BYTES], digest[CM_TOKEN_DIGEST];
  char made[CM_TOKEN_TEXT_MAX], encoded[SECRET_LENGTH + 1], hash[HASH_MAX];
  randombytes_buf(id, sizeof id);
  randombytes_buf(secret, sizeof secret);
  cm_token t = *token;
  t.created = cm_store_time();
  t.scopes = cm_scopes_whole(t.scopes);
  sodium_bin2hex(t.id, sizeof t.id, id, sizeof id);
  sodium_bin2base64(encoded, sizeof encoded, secret, sizeof secret, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
  (void)snprintf(made, sizeof made, CM_TOKEN_PREFIX "%s_%s", t.id, encoded);
  cm_token_digest(made, digest);
  sodium_bin2hex(hash, sizeof hash, digest, sizeof digest);
  cm_status status = cm_database_write(database, add, &(token_work){.given = &t, .hash = hash}, error);
  if (status == CM_OK) {
    *token = t;
    memcpy(text, made, sizeof made);
  }
  sodium_memzero(secret, sizeof secret);
  sodium_memzero(encoded, sizeof encoded);
  sodium_memzero(made, sizeof made);
  return status;
}

/* ---- checking ---- */

/* The id in a token; false when it has not the shape of one. */
static bool read_id(const char *text, char *id)
{
  const size_t prefix = strlen(CM_TOKEN_PREFIX), digits = CM_TOKEN_ID_MAX - 1;
  if (strlen(text) != prefix + digits + 1 + SECRET_LENGTH || strncmp(text, CM_TOKEN_PREFIX, prefix) != 0 ||
      strspn(text + prefix, "0123456789abcdef") < digits || text[prefix + digits] != '_')
    return false;
  (void)snprintf(id, CM_TOKEN_ID_MAX, "%.*s", (int)digits, text + prefix);
  return true;
}

/* Finds who a token is by who->token. */
static cm_status look_up(sqlite3 *handle, cm_identity *who, standing *s, cm_error *error)
{
  char role[16] = "";
  int scopes = 0;
  CM_TRY(cm_sql_find(handle, &s->found, error,
                     "SELECT t.hash, t.scopes, t.expires, t.used, u.name, u.role, u.team, u.disabled"
                     " FROM tokens t JOIN users u ON u.name = t.user WHERE t.id = ?", "t>tnddtttb", who->token, CM_INTO(s->hash), &scopes, &who->expires,
                     &who->used, CM_INTO(who->user), CM_INTO(role), CM_INTO(who->group), &s->disabled));
  who->scopes = cm_scopes_whole((unsigned)scopes);
  who->role = cm_role_of(role);
  return CM_OK;
}

static cm_status look_up_alone(cm_database *database, cm_identity *who, standing *s, cm_error *error)
{
  cm_reading r;
  cm_status status = cm_reading_begin(database, true, &r, error);
  CM_THEN(status, look_up(r.handle, who, s, error));
  return cm_reading_end(&r, status);
}

/* What was found still stands. */
static cm_status check_standing(const cm_identity *who, const standing *s, cm_error *error)
{
  if (s->disabled)
    return cm_fail(error, CM_CONFLICT, "the token's user is disabled; ask an administrator");
  if (who->expires > 0 && who->expires <= cm_store_time())
    return cm_fail(error, CM_CONFLICT, "the token has expired; make another one");
  return CM_OK;
}

cm_status cm_tokens_check(cm_database *database, const char *text, const unsigned char digest[CM_TOKEN_DIGEST], cm_identity *identity,
                          cm_error *error)
{
  cm_identity who = {0};
  standing s = {0};
  char hash[HASH_MAX];
  /* What is no token, and a token that nobody has, take the way of a wrong one. */
  bool shaped = read_id(text, who.token);
  memset(s.hash, '-', sizeof s.hash - 1);
  CM_TRY(look_up_alone(database, &who, &s, error));
  sodium_bin2hex(hash, sizeof hash, digest, CM_TOKEN_DIGEST);
  bool same = sodium_memcmp(hash, s.hash, sizeof hash - 1) == 0;
  if (!shaped || !s.found || !same || who.role == CM_ROLES)
    return cm_fail(error, CM_NOT_FOUND, "the token is wrong, or has been revoked");
  CM_TRY(check_standing(&who, &s, error));
  *identity = who;
  return CM_OK;
}

cm_status cm_tokens_again(cm_database *database, const char *id, cm_identity *identity, cm_error *error)
{
  cm_identity who = {0};
  standing s = {0};
  (void)snprintf(who.token, sizeof who.token, "%s", id);
  CM_TRY(look_up_alone(database, &who, &s, error));
  if (!s.found || who.role == CM_ROLES)
    return cm_fail(error, CM_NOT_FOUND, "the token has been revoked");
  CM_TRY(check_standing(&who, &s, error));
  *identity = who;
  return CM_OK;
}

cm_status cm_users_identify(cm_database *database, const char *name, cm_identity *identity, cm_error *error)
{
  cm_user user;
  CM_TRY(cm_users_get(database, name, &user, error));
  if (user.disabled)
    return cm_fail(error, CM_CONFLICT, "user %s is disabled", user.name);
  *identity = (cm_identity){.role = user.role, .scopes = cm_scopes_whole(CM_SCOPE_ADMIN)};
  memcpy(identity->user, user.name, sizeof identity->user);
  memcpy(identity->group, user.group, sizeof identity->group);
  return CM_OK;
}

static cm_status note_uses(sqlite3 *handle, void *context, cm_error *error)
{
  const token_work *work = context;
  for (size_t i = 0; i < work->count; i++)
    CM_TRY(cm_sql_run(handle, NULL, error, "UPDATE tokens SET used = ?1 WHERE id = ?2 AND coalesce(used, 0) < ?1", "dt",
                      work->uses[i].when, work->uses[i].id));
  return CM_OK;
}

cm_status cm_tokens_used(cm_database *database, const cm_token_use *uses, size_t count, cm_error *error)
{
  return count == 0 ? CM_OK
                    : cm_database_write(database, note_uses, &(token_work){.uses = uses, .count = count}, error);
}

/* ---- listing and revoking ---- */

static cm_status from_row(sqlite3_stmt *row, void *element, cm_error *error)
{
  cm_token *t = element;
  int scopes;
  CM_TRY(cm_sql_columns(row, error, "tttnddd", CM_INTO(t->id), CM_INTO(t->user), CM_INTO(t->name), &scopes, &t->created, &t->expires, &t->used));
  t->scopes = (unsigned)scopes;
  return CM_OK;
}

cm_status cm_tokens_list(cm_database *database, const char *user, cm_token **tokens, size_t *count, cm_error *error)
{
  static const cm_row_kind kind = {
      "t", "SELECT id, user, name, scopes, created, expires, used FROM tokens WHERE ?1 IS NULL OR user = ?1 ORDER BY created DESC, id", "the list of tokens",
      sizeof(cm_token), from_row, NULL};
  return cm_database_list(database, &kind, tokens, count, error, user);
}

static cm_status revoke(sqlite3 *handle, void *context, cm_error *error)
{
  const token_work *work = context;
  cm_identity who = {0};
  standing s = {0};
  (void)snprintf(who.token, sizeof who.token, "%s", work->id);
  CM_TRY(look_up(handle, &who, &s, error));
  if (!s.found || (work->user != NULL && strcmp(work->user, who.user) != 0))
    return cm_fail(error, CM_NOT_FOUND, "there is no token %.40s", work->id);
  tell(work->id, who.user, who.scopes, ", revoked");
  return cm_sql_run(handle, NULL, error, "DELETE FROM tokens WHERE id = ?", "t", work->id);
}

cm_status cm_tokens_revoke(cm_database *database, const char *id, const char *user, cm_error *error)
{
  return cm_database_write(database, revoke, &(token_work){.id = id, .user = user}, error);
}
