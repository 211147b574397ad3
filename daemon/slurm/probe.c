#include "daemon/slurm/probe.h"

#include <unistd.h>

#include "daemon/job/work.h"
#include "daemon/slurm/command.h"
#include "storage/log.h"
#include "storage/store.h"

static const double PATIENCE_S = 20;
enum { PROBES_MAX = 64 };

typedef struct probe {
  char node[CM_SLURM_NODE_MAX];
  cm_slurm_ask ask;
  double ended; /* since when Slurm says so, or knows nothing of it; 0: it does not */
  bool over;
} probe;

struct cm_slurm_probes {
  probe all[PROBES_MAX];
  size_t count;
};

static cm_status file_of(const cm_slurm_site *site, const probe *p, char path[CM_PATH_MAX], cm_error *error)
{
  return cm_path(path, error, "%s/probes/%s", site->shared, p->node);
}

/* Of a node that stands in Slurm's list, if it is another than the one before. */
static void begin(cm_slurm_probes *probes, const cm_slurm_site *site, const char *node)
{
  char path[CM_PATH_MAX];
  cm_error error;
  probe *p = &probes->all[probes->count];
  if (probes->count == PROBES_MAX || strlen(node) >= sizeof p->node || strchr(node, '/') != NULL ||
      (probes->count > 0 && strcmp(p[-1].node, node) == 0))
    return;
  *p = (probe){.ask = {.threads = 1, .mebibytes = 64, .minutes = 2, .user = "probe"}};
  (void)snprintf(p->node, sizeof p->node, "%s", node);
  cm_store_id(p->ask.token);
  if (file_of(site, p, path, &error) != CM_OK)
    return;
  (void)unlink(path);
  const cm_slurm_ask *const run = &p->ask;
  if (cm_slurm_submit(site, &run, 1, node, &error) == CM_OK) /* else the node is none of the partition's */
    probes->count++;
}

cm_status cm_slurm_probes_begin(const cm_slurm_site *site, cm_slurm_probes **probes, cm_error *error)
{
  static const char *const sinfo[] = {"sinfo", "--Node", "--noheader", "--states=idle,mixed,allocated", "--format=%N", NULL};
  char path[CM_PATH_MAX], *nodes = NULL, *node;
  cm_slurm_probes *made;
  if (cm_path(path, error, "%s/probes", site->shared) != CM_OK || cm_folder_make(path, error) != CM_OK || CM_HEAP(made, 1, "probes of nodes", error) != CM_OK)
    return error->status;
  if (cm_command_run(sinfo, PATIENCE_S, &nodes, error) != CM_OK)
    cm_log("slurm-bridge: Slurm does not answer, jobs wait for it: %s", error->detail);
  for (char *at = nodes; (node = strsep(&at, "\n")) != NULL && node[0] != '\0';)
    begin(made, site, node);
  free(nodes);
  *probes = made;
  return CM_OK;
}

bool cm_slurm_probes_wait(const cm_slurm_probes *probes)
{
  size_t i = 0;
  while (i < probes->count && probes->all[i].over)
    i++;
  return i < probes->count;
}

static void exclude(cm_slurm_site *site, probe *p, const char *why)
{
  const size_t used = strlen(site->exclude);
  p->over = true;
  cm_log("slurm-bridge: node %s gets no jobs: it %s", p->node, why);
  if (used + strlen(p->node) + 2 < sizeof site->exclude)
    (void)snprintf(site->exclude + used, sizeof site->exclude - used, "%s%s", used > 0 ? "," : "", p->node);
}

/* Whether it has written, and what. */
static void look(probe *p, cm_slurm_site *site, cm_slurm_queue *queue, const char *ours)
{
  char path[CM_PATH_MAX], *text;
  cm_error ignored;
  size_t size;
  const double now = cm_now();
  if (file_of(site, p, path, &ignored) == CM_OK && cm_file_read(path, CM_PATH_MAX, &text, &size, &ignored) == CM_OK) {
    p->over = true;
    if (strcmp(text, ours) != 0)
      exclude(site, p, "has another build of coremapd: install the bridge's");
    free(text);
    return;
  }
  cm_slurm_told told = {0};
  memcpy(told.token, p->ask.token, sizeof told.token);
  cm_slurm_queue_look(queue, &told);
  if (told.state != CM_SLURM_ENDED && told.state != CM_SLURM_UNKNOWN)
    p->ended = 0;
  else if (p->ended == 0)
    p->ended = now;
  else if (now > p->ended + CM_SLURM_SEEN_S)
    exclude(site, p, "does not see the shared folder, or has no coremapd where the bridge has it");
}

void cm_slurm_probes_look(cm_slurm_probes *probes, cm_slurm_site *site, cm_slurm_queue *queue)
{
  char ours[65];
  cm_error ignored;
  if (!cm_slurm_probes_wait(probes) || cm_work_program(ours, &ignored) != CM_OK)
    return;
  for (size_t i = 0; i < probes->count; i++)
    if (!probes->all[i].over)
      look(&probes->all[i], site, queue, ours);
}
