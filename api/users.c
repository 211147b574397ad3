/* /v1/me, /v1/users and /v1/tokens (docs/how-to/users.md). */

#include "api/handlers.h"

static json_t *scopes_json(unsigned scopes)
{
  json_t *list = json_array();
  for (unsigned i = 0; cm_scope_names[i] != NULL; i++)
    if ((scopes & 1u << i) != 0)
      (void)json_array_append_new(list, json_string(cm_scope_names[i]));
  return list;
}

void cm_get_me(cm_request *request)
{
  const cm_identity *who = &request->who;
  json_t *body = json_pack("{s:s, s:s, s:s, s:o, s:b}", "user", who->user, "role", cm_role_name(who->role), "group",
                           who->group, "scopes", scopes_json(who->scopes), "open", request->open);
  if (who->token[0] != '\0')
    (void)json_object_set_new(body, "token", json_pack("{s:s, s:o}", "id", who->token, "expires",
                                                       cm_time_json(who->expires)));
  cm_reply_json(request, 200, body);
}

/* ---- users ---- */

static json_t *user_json(const cm_user *user)
{
  return json_pack("{s:s, s:s, s:s, s:b, s:i, s:o}", "name", user->name, "role", cm_role_name(user->role), "group", user->group,
                   "disabled", user->disabled, "share", user->share, "created", cm_time_json(user->created));
}

static void reply_user(cm_request *request, unsigned status, const char *name)
{
  cm_user user;
  if (cm_reply_ok(request, cm_users_get(request->store->database, name, &user, &request->error)))
    cm_reply_json(request, status, user_json(&user));
}

void cm_list_users(cm_request *request)
{
  cm_user *users;
  size_t count;
  if (!cm_reply_ok(request, cm_users_list(request->store->database, &users, &count, &request->error)))
    return;
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    (void)json_array_append_new(list, user_json(&users[i]));
  free(users);
  cm_reply_json(request, 200, json_pack("{s:o}", "users", list));
}

/* The role, the group and the share (0: none) of a body; *given says whether there is a role. */
static bool read_user(cm_request *request, const json_t *object, cm_user *user, bool *given)
{
  char role[16];
  if (!cm_request_word(request, object, "role", role, sizeof role) ||
      !cm_request_word(request, object, "group", user->group, sizeof user->group))
    return false;
  const json_t *share = json_object_get(object, "share");
  if (share != NULL &&
      (!json_is_integer(share) || json_integer_value(share) < 1 || json_integer_value(share) > CM_SHARE_MAX))
    return cm_reply_bad_member(request, CM_BAD_REQUEST, "/share", "expected a whole number from 1 to 1000");
  user->share = (int)json_integer_value(share);
  *given = role[0] != '\0';
  user->role = *given ? cm_role_of(role) : CM_ROLE_USER;
  return user->role != CM_ROLES || cm_reply_bad_member(request, CM_BAD_REQUEST, "/role", "expected user, operator or admin");
}

void cm_post_user(cm_request *request)
{
  static const char *const names[] = {"name", "role", "group", "share", NULL};
  cm_user user = {0};
  bool given;
  /* The first user closes the server to all who have no token; only who can read the data folder can make him one. */
  if (request->open) {
    cm_reply_problem(request, 409, "conflict", "The state of a thing forbids the change",
                     "the first user is made on the server's machine: coremapd user add NAME --role admin");
    return;
  }
  json_t *object = cm_request_json(request);
  if (object == NULL)
    return;
  if (cm_request_members(request, object, names) && cm_request_word(request, object, "name", user.name, sizeof user.name) &&
      read_user(request, object, &user, &given)) {
    if (cm_reply_ok(request, cm_users_add(request->store->database, &user, &request->error))) {
      reply_user(request, 201, user.name);
      cm_reply_location(request, "/v1/users/%s", user.name);
    }
  }
  json_decref(object);
}

void cm_get_user(cm_request *request)
{
  reply_user(request, 200, request->param[0]);
}

void cm_patch_user(cm_request *request)
{
  static const char *const names[] = {"role", "group", "disabled", "share", NULL};
  cm_user user = {0};
  bool role, disable;
  json_t *object = cm_request_json(request);
  if (object == NULL)
    return;
  const json_t *disabled = json_object_get(object, "disabled");
  disable = json_is_true(disabled);
  if (!cm_request_members(request, object, names) || !read_user(request, object, &user, &role))
    ;
  else if (disabled != NULL && !json_is_boolean(disabled))
    (void)cm_reply_bad_member(request, CM_BAD_REQUEST, "/disabled", "expected true or false");
  else {
    const cm_user_change change = {.role = role ? &user.role : NULL,
                                   .group = json_object_get(object, "group") != NULL ? user.group : NULL,
                                   .disabled = disabled != NULL ? &disable : NULL,
                                   .share = user.share > 0 ? &user.share : NULL};
    if (cm_reply_ok(request, cm_users_change(request->store->database, request->param[0], &change, &request->error)))
      reply_user(request, 200, request->param[0]);
  }
  json_decref(object);
}

void cm_delete_user(cm_request *request)
{
  if (strcmp(request->param[0], request->who.user) == 0)
    cm_reply_problem(request, 409, "conflict", "The state of a thing forbids the change",
                     "nobody removes himself; another administrator can");
  else if (cm_reply_ok(request, cm_users_remove(request->store->database, request->param[0], &request->error)))
    cm_reply_empty(request, 204);
}

/* ---- tokens ---- */

static json_t *token_json(const cm_token *token)
{
  return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "id", token->id, "user", token->user, "name", token->name,
                   "scopes", scopes_json(token->scopes), "created", cm_time_json(token->created), "expires",
                   cm_time_json(token->expires), "last_used", cm_time_json(token->used));
}

static bool is_admin(const cm_request *request)
{
  return request->who.role == CM_ROLE_ADMIN && (request->who.scopes & CM_SCOPE_ADMIN) != 0;
}

/* One's own; an administrator's ?user= names another one's. */
void cm_list_tokens(cm_request *request)
{
  cm_token *tokens;
  size_t count;
  const char *user = cm_request_query(request, "user");
  if (user != NULL && strcmp(user, request->who.user) != 0 && !cm_access_has(request, CM_RIGHT_ADMIN))
    return;
  if (!cm_reply_ok(request, cm_tokens_list(request->store->database, user != NULL ? user : request->who.user, &tokens, &count, &request->error)))
    return;
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    (void)json_array_append_new(list, token_json(&tokens[i]));
  free(tokens);
  cm_reply_json(request, 200, json_pack("{s:o}", "tokens", list));
}

static bool read_scopes(cm_request *request, const json_t *object, unsigned *scopes)
{
  const json_t *list = json_object_get(object, "scopes"), *item;
  size_t i;
  *scopes = CM_SCOPE_SUBMIT | CM_SCOPE_RESERVE;
  if (list == NULL)
    return true;
  *scopes = 0;
  json_array_foreach((json_t *)(uintptr_t)list, i, item)
  {
    unsigned scope = json_is_string(item) ? cm_scope_of(json_string_value(item)) : 0;
    if (scope == 0)
      return cm_reply_bad_member(request, CM_BAD_REQUEST, "/scopes", "expected a list of read, submit, reserve and admin");
    *scopes |= scope;
  }
  return *scopes != 0 || cm_reply_bad_member(request, CM_BAD_REQUEST, "/scopes", "expected a list of read, submit, reserve and admin");
}

/* Seconds until it expires; a token makes none that outlives it, for otherwise a stolen one would last for ever. */
static bool read_expiry(cm_request *request, const json_t *object, double *expires)
{
  const json_t *member = json_object_get(object, "ttl");
  double ttl = member != NULL ? json_number_value(member) : cm_token_seconds_default, now = cm_store_time();
  if (member != NULL && (!json_is_number(member) || !(ttl >= 1) || ttl > cm_token_seconds_max))
    return cm_reply_bad_member(request, CM_BAD_REQUEST, "/ttl", "expected seconds from 1 to 316224000");
  *expires = now + ttl;
  double own = request->who.expires;
  if (own > 0 && *expires > own) {
    if (member != NULL)
      return cm_reply_bad_member(request, CM_BAD_REQUEST, "/ttl", "the new token would outlive the one that makes it");
    *expires = own;
  }
  return true;
}

void cm_post_token(cm_request *request)
{
  static const char *const names[] = {"user", "name", "scopes", "ttl", NULL};
  cm_token token = {0};
  char text[CM_TOKEN_TEXT_MAX];
  json_t *object = cm_request_json(request);
  if (object == NULL)
    return;
  bool good = cm_request_members(request, object, names) &&
              cm_request_word(request, object, "user", token.user, sizeof token.user) &&
              cm_request_word(request, object, "name", token.name, sizeof token.name) &&
              read_scopes(request, object, &token.scopes) && read_expiry(request, object, &token.expires);
  if (good && token.user[0] == '\0')
    (void)snprintf(token.user, sizeof token.user, "%s", request->who.user);
  good = good && (strcmp(token.user, request->who.user) == 0 || cm_access_has(request, CM_RIGHT_ADMIN));
  if (good && cm_reply_ok(request, cm_tokens_add(request->store->database, &token, text, &request->error))) {
    json_t *body = token_json(&token);
    (void)json_object_set_new(body, "token", json_string(text));
    sodium_memzero(text, sizeof text);
    cm_reply_json(request, 201, body);
    cm_reply_private(request);
    cm_reply_location(request, "/v1/tokens/%s", token.id);
  }
  json_decref(object);
}

/* Whatever its scopes, a token may end itself. */
void cm_delete_token(cm_request *request)
{
  bool itself = strcmp(request->param[0], request->who.token) == 0;
  if (!itself && !cm_access_has(request, CM_RIGHT_ACCOUNT))
    return;
  if (cm_reply_ok(request, cm_tokens_revoke(request->store->database, request->param[0], is_admin(request) ? NULL : request->who.user, &request->error)))
    cm_reply_empty(request, 204);
}
