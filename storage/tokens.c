#include "storage/tokens.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
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
  cm_identity identity;
  char found_hash[HASH_MAX];
  bool found, disabled;
  cm_token *tokens;
  size_t count;
} token_work;

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

static cm_status look_up(sqlite3 *handle, void *context, cm_error *error)
{
  token_work *work = context;
  cm_identity *who = &work->identity;
  sqlite3_stmt *statement;
  char role[16];
  work->found = false;
  cm_status status = cm_sql_prepare(handle, &statement, error,
                                    "SELECT t.hash, t.scopes, t.expires, t.used, u.name, u.role, u.team, u.disabled"
                                    " FROM tokens t JOIN users u ON u.name = t.user WHERE t.id = ?", "t", work->id);
  CM_THEN(status, cm_sql_step(statement, &work->found, error));
  if (status == CM_OK && work->found) {
    cm_sql_copy(statement, 0, work->found_hash, sizeof work->found_hash);
    who->scopes = cm_scopes_whole((unsigned)sqlite3_column_int(statement, 1));
    who->expires = sqlite3_column_double(statement, 2);
    who->used = sqlite3_column_double(statement, 3);
    cm_sql_copy(statement, 4, who->user, sizeof who->user);
    cm_sql_copy(statement, 5, role, sizeof role);
    who->role = cm_role_of(role);
    cm_sql_copy(statement, 6, who->group, sizeof who->group);
    work->disabled = sqlite3_column_int(statement, 7) != 0;
  }
  return cm_sql_end(statement, status, error);
}

/* What was found still stands. */
static cm_status check_standing(const token_work *work, cm_error *error)
{
  if (work->disabled)
    return cm_fail(error, CM_CONFLICT, "the token's user is disabled; ask an administrator");
  if (work->identity.expires > 0 && work->identity.expires <= cm_store_time())
    return cm_fail(error, CM_CONFLICT, "the token has expired; make another one");
  return CM_OK;
}

cm_status cm_tokens_check(cm_database *database, const char *text, const unsigned char digest[CM_TOKEN_DIGEST], cm_identity *identity,
                          cm_error *error)
{
  token_work work = {0};
  char hash[HASH_MAX];
  /* What is no token, and a token that nobody has, take the way of a wrong one. */
  bool shaped = read_id(text, work.identity.token);
  work.id = work.identity.token;
  memset(work.found_hash, '-', sizeof work.found_hash - 1);
  CM_TRY(cm_database_look(database, look_up, &work, error));
  sodium_bin2hex(hash, sizeof hash, digest, CM_TOKEN_DIGEST);
  bool same = sodium_memcmp(hash, work.found_hash, sizeof hash - 1) == 0;
  if (!shaped || !work.found || !same || work.identity.role == CM_ROLES)
    return cm_fail(error, CM_NOT_FOUND, "the token is wrong, or has been revoked");
  CM_TRY(check_standing(&work, error));
  *identity = work.identity;
  return CM_OK;
}

cm_status cm_tokens_again(cm_database *database, const char *id, cm_identity *identity, cm_error *error)
{
  token_work work = {.id = id};
  (void)snprintf(work.identity.token, sizeof work.identity.token, "%s", id);
  CM_TRY(cm_database_look(database, look_up, &work, error));
  if (!work.found || work.identity.role == CM_ROLES)
    return cm_fail(error, CM_NOT_FOUND, "the token has been revoked");
  CM_TRY(check_standing(&work, error));
  *identity = work.identity;
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

static cm_status list(sqlite3 *handle, void *context, cm_error *error)
{
  token_work *work = context;
  int64_t total;
  sqlite3_stmt *statement;
  bool row = true;
  CM_TRY(cm_sql_number(handle, 0, &total, error, "SELECT count(*) FROM tokens WHERE ?1 IS NULL OR user = ?1", "t", work->user));
  CM_TRY(CM_HEAP(work->tokens, (size_t)total + 1, "the list of tokens", error));
  cm_status status = cm_sql_prepare(handle, &statement, error,
                                    "SELECT id, user, name, scopes, created, expires, used FROM tokens"
                                    " WHERE ?1 IS NULL OR user = ?1 ORDER BY created DESC, id", "t", work->user);
  while (status == CM_OK && row && work->count < (size_t)total) {
    status = cm_sql_step(statement, &row, error);
    if (status != CM_OK || !row)
      break;
    cm_token *t = &work->tokens[work->count++];
    cm_sql_copy(statement, 0, t->id, sizeof t->id);
    cm_sql_copy(statement, 1, t->user, sizeof t->user);
    cm_sql_copy(statement, 2, t->name, sizeof t->name);
    t->scopes = (unsigned)sqlite3_column_int(statement, 3);
    t->created = sqlite3_column_double(statement, 4);
    t->expires = sqlite3_column_double(statement, 5);
    t->used = sqlite3_column_double(statement, 6);
  }
  return cm_sql_end(statement, status, error);
}

cm_status cm_tokens_list(cm_database *database, const char *user, cm_token **tokens, size_t *count, cm_error *error)
{
  token_work work = {.user = user};
  if (cm_database_read(database, list, &work, error) != CM_OK) {
    free(work.tokens);
    return error->status;
  }
  *tokens = work.tokens;
  *count = work.count;
  return CM_OK;
}

static cm_status revoke(sqlite3 *handle, void *context, cm_error *error)
{
  token_work *work = context;
  CM_TRY(look_up(handle, work, error));
  if (!work->found || (work->user != NULL && strcmp(work->user, work->identity.user) != 0))
    return cm_fail(error, CM_NOT_FOUND, "there is no token %.40s", work->id);
  tell(work->id, work->identity.user, work->identity.scopes, ", revoked");
  return cm_sql_run(handle, NULL, error, "DELETE FROM tokens WHERE id = ?", "t", work->id);
}

cm_status cm_tokens_revoke(cm_database *database, const char *id, const char *user, cm_error *error)
{
  return cm_database_write(database, revoke, &(token_work){.id = id, .user = user}, error);
}
