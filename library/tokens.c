#include "library/private/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"

enum { FILE_BYTES_MAX = 1 << 20 };

static cm_status file_path(const char *name, char *path, char *folder, cm_error *error)
{
  const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
  bool given = config != NULL && config[0] == '/';
  if (!given && (home == NULL || home[0] != '/'))
    return cm_fail(error, CM_NOT_FOUND, "there is no home folder to keep tokens in; use $COREMAP_TOKEN");
  CM_TRY(cm_path(folder, error, "%s%s/coremap", given ? config : home, given ? "" : "/.config"));
  return cm_path(path, error, "%s/%s", folder, name);
}

cm_status library_kept_read(const char *name, json_t **all, cm_error *error)
{
  struct stat about;
  char path[CM_PATH_MAX], folder[CM_PATH_MAX];
  CM_TRY(file_path(name, path, folder, error));
  char *text;
  size_t size;
  if (stat(path, &about) != 0) {
    *all = json_object();
    return errno != ENOENT ? cm_fail_errno(error, errno, "cannot look at", path) : cm_whole(*all != NULL, "tokens", error);
  }
  if ((about.st_mode & 077) != 0)
    return cm_fail(error, CM_CONFLICT, "others can read the tokens in %s: chmod 600 it, and revoke what is in it", path);
  CM_TRY(cm_file_read(path, FILE_BYTES_MAX, &text, &size, error));
  uint64_t refusals = cm_json_refusals();
  *all = cm_json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
  memset(text, 0, size);
  free(text);
  if (*all == NULL && cm_json_whole(refusals, path, error) != CM_OK)
    return error->status;
  if (json_is_object(*all))
    return CM_OK;
  json_decref(*all);
  return cm_fail(error, CM_DAMAGED, "%s is no JSON object; remove it and sign in again", path);
}

cm_status library_kept_write(const char *name, const json_t *all, cm_error *error)
{
  char made[CM_PATH_MAX], path[CM_PATH_MAX], folder[CM_PATH_MAX];
  if (file_path(name, path, folder, error) != CM_OK || cm_folder_make(folder, error) != CM_OK || cm_path(made, error, "%s.new", path) != CM_OK)
    return error->status;
  (void)unlink(made);
  int file = open(made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot create", made);
  bool written = cm_json_dumpf(all, stream, JSON_INDENT(1)) == 0;
  written = fclose(stream) == 0 && written;
  if (written && rename(made, path) == 0)
    return CM_OK;
  int cause = errno;
  (void)unlink(made);
  return cm_fail_errno(error, cause != 0 ? cause : EIO, "cannot write", path);
}

cm_status library_token_safe(const char *url, cm_error *error)
{
  static const char *const near[] = {"http://127.", "http://localhost", "http://[::1]"};
  if (strncasecmp(url, "https://", 8) == 0)
    return CM_OK;
  for (size_t i = 0; strchr(url, '@') == NULL && i < sizeof near / sizeof *near; i++) { /* before an @ stands no host */
    const char *rest = url + strlen(near[i]);
    if (strncasecmp(url, near[i], strlen(near[i])) != 0)
      continue;
    if (i == 0)
      rest += strspn(rest, "0123456789.");
    if (rest[0] == '\0' || rest[0] == ':' || rest[0] == '/')
      return CM_OK;
  }
  return cm_fail(error, CM_CONFLICT, "the token would go to %s unencrypted; use https://", url);
}

cm_status library_token_find(const char *url, char token[LIBRARY_TOKEN_MAX], cm_error *error)
{
  const char *given = getenv("COREMAP_TOKEN"), *found = given;
  json_t *all = NULL;
  token[0] = '\0';
  if (found == NULL || found[0] == '\0') {
    if (library_kept_read("tokens", &all, error) != CM_OK)
      return error->status == CM_NOT_FOUND ? CM_OK : error->status;
    found = json_string_value(json_object_get(all, url));
  }
  cm_status status = found != NULL ? library_token_safe(url, error) : CM_OK;
  if (found != NULL && status == CM_OK) {
    if (strlen(found) >= LIBRARY_TOKEN_MAX || strcspn(found, "\r\n") != strlen(found))
      status = cm_fail(error, CM_BAD_REQUEST, "the token kept for %s is damaged: coremap login --server %s keeps another one", url, url);
    else
      (void)snprintf(token, LIBRARY_TOKEN_MAX, "%s", found);
  }
  json_decref(all);
  return status;
}

cm_status library_token_keep(const char *url, const char *token, bool *known, cm_error *error)
{
  json_t *all;
  CM_TRY(library_kept_read("tokens", &all, error));
  bool there = json_object_get(all, url) != NULL;
  cm_status status = CM_OK;
  if (token != NULL)
    status = cm_json_set(all, url, json_string(token), "a token", error);
  if (token == NULL)
    (void)json_object_del(all, url);
  CM_THEN_IF(status, token != NULL || there, library_kept_write("tokens", all, error));
  json_decref(all);
  if (status == CM_OK && known != NULL)
    *known = there;
  return status;
}
