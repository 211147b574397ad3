/* The settings of a cluster: where the bridge listens, and the folder that all nodes see. What can fail: another server has the folder. */
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/slurm/cluster.h"

enum { NAME_MAX_BYTES = 64 << 10 };

static struct {
  char bridge[sizeof ((struct sockaddr_un *)NULL)->sun_path], shared[CM_PATH_MAX];
  bool foreign;
} settings;

/* Two servers would take each other's jobs for left ones. */
static cm_status take_folder(const char *shared, const char *data, cm_error *error)
{
  char path[CM_PATH_MAX], host[64] = "", ours[CM_PATH_MAX + 80], *theirs;
  size_t size;
  cm_file file;
  (void)gethostname(host, sizeof host - 1);
  (void)snprintf(ours, sizeof ours, "%s:%s\n", host, data);
  CM_TRY(cm_path(path, error, "%s/server", shared));
  if (cm_file_read(path, NAME_MAX_BYTES, &theirs, &size, error) == CM_OK) {
    theirs[strcspn(theirs, "\n")] = ours[strcspn(ours, "\n")] = '\0';
    const cm_status status = strcmp(ours, theirs) == 0 ? CM_OK
                               : cm_fail(error, CM_BAD_OPTION, "shared is the folder of the server on %.200s: give this one a folder of its own, or remove %s "
                                         "where that is gone", theirs, path);
    free(theirs);
    return status;
  }
  CM_TRY(cm_file_create(&file, path, error));
  (void)fputs(ours, file.stream);
  return cm_file_commit(&file, error);
}

cm_status cm_cluster_open(const char *bridge, const char *shared, const char *data, cm_error *error)
{
  struct stat about;
  if (bridge[0] == '\0' && shared[0] == '\0')
    return CM_OK;
  if (bridge[0] == '\0' || shared[0] == '\0')
    return cm_fail(error, CM_BAD_OPTION, "bridge and shared go together: the socket of coremapd slurm-bridge, and a folder that all nodes see");
  if (strlen(bridge) >= sizeof ((struct sockaddr_un *)NULL)->sun_path)
    return cm_fail(error, CM_BAD_OPTION, "bridge is \"%.60s...\"; the path of a socket has at most %zu bytes", bridge, sizeof ((struct sockaddr_un *)NULL)->sun_path - 1);
  if (stat(shared, &about) != 0 || !S_ISDIR(about.st_mode) || access(shared, R_OK | W_OK | X_OK) != 0)
    return cm_fail(error, CM_BAD_OPTION, "shared is \"%.200s\"; it must be a folder on a file system of all nodes that this user may write to", shared);
  (void)snprintf(settings.bridge, sizeof settings.bridge, "%s", bridge);
  (void)snprintf(settings.shared, sizeof settings.shared, "%s", shared);
  settings.foreign = (about.st_mode & S_IWGRP) != 0;
  return take_folder(shared, data, error);
}

const char *cm_cluster_shared(void)
{
  return settings.shared[0] != '\0' ? settings.shared : NULL;
}

bool cm_cluster_is_foreign(void)
{
  return settings.foreign;
}

const char *cm_cluster_bridge(void)
{
  return settings.bridge;
}
