/* Sessions: how a browser signs in with a token and sends it no more (docs/how-to/users.md).
 *
 * POST /v1/session takes a token and answers with a cookie that scripts cannot read and that other sites' requests do not carry. */
#include "api/handlers.h"

static void set_cookie(cm_request *request, const char *secret, long seconds)
{
  cm_reply_header(request, "Set-Cookie", CM_SESSION_COOKIE "=%s; Path=%s/; HttpOnly; SameSite=Strict%s; Max-Age=%ld", secret,
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
    CM_REPLY_BAD(request, "/token: expected a token");
  return token;
}

void cm_post_session(cm_request *request)
{
  char secret[CM_SESSION_SECRET_MAX];
  bool users = true;
  json_t *object = cm_request_json(request);
  if (object == NULL)
    return;
  const char *token = read_token(request, object);
  if (token == NULL)
    ;
  else if (cm_users_exist(request->store->database, &users, &request->error) != CM_OK)
    cm_reply_error(request, &request->error);
  else if (!users)
    cm_reply_problem(request, 409, "conflict", "The state of a thing forbids the change",
                     "there are no users: nobody needs to sign in");
  else if (!cm_access_check(request, token))
    ; /* the reply is set */
  else if (!cm_session_begin(request->server->sessions, &request->who, secret))
    cm_reply_text(request, 503, NULL, NULL, 0);
  else {
    cm_get_me(request);
    if (request->status == 200)
      set_cookie(request, secret, CM_SESSION_SECONDS);
    sodium_memzero(secret, sizeof secret);
  }
  json_decref(object);
}

void cm_delete_session(cm_request *request)
{
  cm_session_end(request);
  cm_reply_empty(request, 204);
  set_cookie(request, "", 0);
}
