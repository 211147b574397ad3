/* Tokens, by which users and their programs sign in.
 *
 * A token is "coremap_" ID "_" SECRET: a prefix by which leaked ones are found, the 12 hex digits that name it, and 32
 * random bytes in base64. It is shown once, when it is made; stored is a BLAKE2b hash of it (a slow hash would add nothing
 * to 256 random bits), compared in constant time. */
#pragma once

#include "storage/users.h"

enum {
  CM_SCOPE_READ = 1,    /* look */
  CM_SCOPE_SUBMIT = 2,  /* networks, chips, jobs and what comes of them; with read */
  CM_SCOPE_RESERVE = 4, /* occupancy and leases; with read */
  CM_SCOPE_ADMIN = 8,   /* tokens, users, the server, as far as the role goes; with all others */
  CM_TOKEN_ID_MAX = 13,
  CM_TOKEN_TEXT_MAX = 72,
  CM_TOKENS_OF_USER_MAX = 1000,
};
#define CM_TOKEN_PREFIX "coremap_"

extern const double cm_token_seconds_default, cm_token_seconds_max;

/* The scope of a name, 0 when there is none; and the names of the scopes in order, NULL at the end. */
unsigned cm_scope_of(const char *name);
extern const char *const cm_scope_names[];

/* With the scopes that the given ones bring along. */
unsigned cm_scopes_whole(unsigned scopes);

typedef struct cm_token {
  char id[CM_TOKEN_ID_MAX];
  char user[CM_USER_MAX];
  char name[CM_NAME_MAX];         /* what its user calls it */
  unsigned scopes;
  double created, expires, used;  /* wall time; 0: never */
} cm_token;

/* Makes a token; of `token` user, name, scopes and expires are read, id and created filled. `text` [CM_TOKEN_TEXT_MAX] is
 * the token itself, which nothing can tell again. CM_NOT_FOUND: no such user; CM_CONFLICT: it has too many. */
cm_status cm_tokens_add(cm_database *database, cm_token *token, char *text, cm_error *error);

/* Who a token is. */
typedef struct cm_identity {
  char user[CM_USER_MAX], group[CM_USER_MAX];
  cm_role role;
  unsigned scopes;             /* whole */
  char token[CM_TOKEN_ID_MAX];
  double expires, used;
} cm_identity;

/* The digest of a token's text, by which it is stored; O(bytes). */
enum { CM_TOKEN_DIGEST = 32 };
void cm_token_digest(const char *text, unsigned char digest[CM_TOKEN_DIGEST]);

/* Checks a token, whose digest is `digest`. CM_NOT_FOUND: there is no such token, for whatever reason; CM_CONFLICT: it is right, but has expired or
 * its user is disabled. Costs the same for unknown and for wrong ones. */
cm_status cm_tokens_check(cm_database *database, const char *text, const unsigned char digest[CM_TOKEN_DIGEST], cm_identity *identity,
                          cm_error *error);

/* The same for a token that has been checked before, by its id: whether it still stands, and what it may now. */
cm_status cm_tokens_again(cm_database *database, const char *id, cm_identity *identity, cm_error *error);

/* Who a user is that somebody else has checked, with all scopes and no token. CM_NOT_FOUND; CM_CONFLICT: is disabled. */
cm_status cm_users_identify(cm_database *database, const char *name, cm_identity *identity, cm_error *error);

/* Whether there are users at all. */
cm_status cm_users_exist(cm_database *database, bool *exist, cm_error *error);

/* Notes when tokens were used last. */
typedef struct cm_token_use {
  char id[CM_TOKEN_ID_MAX];
  double when;
} cm_token_use;
cm_status cm_tokens_used(cm_database *database, const cm_token_use *uses, size_t count, cm_error *error);

/* Those of a user (NULL: of all), newest first; the caller frees with free(). */
cm_status cm_tokens_list(cm_database *database, const char *user, cm_token **tokens, size_t *count, cm_error *error);

/* Revokes a token, of this user when one is named. CM_NOT_FOUND. */
cm_status cm_tokens_revoke(cm_database *database, const char *id, const char *user, cm_error *error);
