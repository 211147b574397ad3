/* Happy path: `squeue` gives a line a run, with the name of its submission and its place in that; the submission's list says whose it is.
 * What can fail: Slurm does not answer (all is unreachable, with its own words); a list has gone (its runs are nobody's). */
#include "daemon/slurm/queue.h"

#include "base/file.h"
#include "base/run.h"
#include "daemon/slurm/command.h"

static const double FRESH_S = 2, PATIENCE_S = 20;
enum { LIST_MAX_BYTES = 1 << 20 };

typedef struct run {
  char token[CM_SLURM_TOKEN_MAX];
  char id[32]; /* Slurm's */
  cm_slurm_state state;
  char text[CM_SLURM_TEXT_MAX];
} run;

struct cm_slurm_queue {
  char shared[CM_PATH_MAX];
  double asked;     /* when; 0: never, or it is to be asked anew */
  char fault[CM_SLURM_TEXT_MAX]; /* why nothing is known; "": it is */
  run *runs;        /* by token */
  size_t count, room;
  char *nodes;      /* lines NODE|STATE|REASON of those that take nothing */
  char list_name[CM_SLURM_TOKEN_MAX], *list; /* the list read last */
};

cm_status cm_slurm_queue_new(const char *shared, cm_slurm_queue **queue, cm_error *error)
{
  cm_slurm_queue *q;
  CM_TRY(CM_HEAP(q, 1, "the cluster's queue", error));
  (void)snprintf(q->shared, sizeof q->shared, "%s", shared);
  *queue = q;
  return CM_OK;
}

/* Whose run has this place in a submission; false: nobody's. */
static bool find_token(cm_slurm_queue *q, const char *name, long place, char token[CM_SLURM_TOKEN_MAX])
{
  char path[CM_PATH_MAX];
  cm_error ignored;
  size_t size;
  if (strlen(name) + 1 > sizeof q->list_name)
    return false;
  if (strcmp(q->list_name, name) != 0) {
    free(q->list);
    q->list = NULL;
    (void)snprintf(q->list_name, sizeof q->list_name, "%s", name);
    if (cm_path(path, &ignored, "%s/lists/%s", q->shared, name) != CM_OK || cm_file_read(path, LIST_MAX_BYTES, &q->list, &size, &ignored) != CM_OK)
      q->list = NULL;
  }
  const char *line = q->list;
  for (; place > 0 && line != NULL; place--)
    line = (line = strchr(line, '\n')) != NULL ? line + 1 : NULL;
  return line != NULL && sscanf(line, "%20[0-9a-f]", token) == 1;
}

static cm_slurm_state state_of(const char *word)
{
  static const char *const running[] = {"RUNNING", "COMPLETING", "CONFIGURING", "STAGE_OUT", "SUSPENDED", "STOPPED", "SIGNALING", NULL};
  if (strncmp(word, "PENDING", 7) == 0 || strncmp(word, "REQUEUE", 7) == 0)
    return CM_SLURM_PENDING;
  for (size_t i = 0; running[i] != NULL; i++)
    if (strcmp(word, running[i]) == 0)
      return CM_SLURM_RUNNING;
  return CM_SLURM_ENDED;
}

/* A node that takes nothing until somebody acts is what a run waits for most of all. */
static void explain_wait(const cm_slurm_queue *q, const char *reason, char text[CM_SLURM_TEXT_MAX])
{
  char node[64], state[32], why[80] = "";
  if (q->nodes != NULL && sscanf(q->nodes, "%63[^|]|%31[^|]|%79[^\n]", node, state, why) >= 2)
    (void)snprintf(text, CM_SLURM_TEXT_MAX, "in the cluster's queue: %.40s; node %.40s is %.20s (%.40s): an administrator must resume it", reason, node, state, why);
  else
    (void)snprintf(text, CM_SLURM_TEXT_MAX, "in the cluster's queue: %.100s", reason);
}

static void add(cm_slurm_queue *q, char *line)
{
  char *at = line;
  const char *name = strsep(&at, "|"), *place = strsep(&at, "|"), *state = strsep(&at, "|"), *reason = strsep(&at, "|"), *node = strsep(&at, "|"),
             *since = strsep(&at, "|"), *id = at;
  if (id == NULL)
    return;
  if (q->count == q->room) {
    run *grown = realloc(q->runs, (2 * q->room + 64) * sizeof *grown);
    if (grown == NULL)
      return;
    q->runs = grown;
    q->room = 2 * q->room + 64;
  }
  run *r = &q->runs[q->count];
  *r = (run){.state = state_of(state)};
  if (!find_token(q, name, strtol(place, NULL, 10), r->token))
    return;
  (void)snprintf(r->id, sizeof r->id, "%s", id);
  if (r->state == CM_SLURM_PENDING)
    explain_wait(q, reason, r->text);
  else if (r->state == CM_SLURM_RUNNING)
    (void)snprintf(r->text, sizeof r->text, "running on %.60s since %.40s", node, since);
  else
    (void)snprintf(r->text, sizeof r->text, "%.40s on %.60s", state, node[0] != '\0' ? node : "no node");
  q->count++;
}

static int by_token(const void *a, const void *b)
{
  const run *x = a, *y = b;
  const int order = strcmp(x->token, y->token);
  static const int rank[] = {[CM_SLURM_ENDED] = 0, [CM_SLURM_PENDING] = 1, [CM_SLURM_RUNNING] = 2};
  return order != 0 ? order : rank[y->state] - rank[x->state];
}

static void refresh(cm_slurm_queue *q)
{
  static const char *const squeue[] = {"squeue", "--me", "--array", "--states=all", "--noheader", "--format=%j|%K|%T|%r|%N|%S|%i", NULL};
  static const char *const sinfo[] = {"sinfo", "--Node", "--noheader", "--states=drain,down,fail", "--format=%N|%T|%E", NULL};
  cm_error error = {0};
  char *text = NULL, *line;
  if (q->asked > 0 && cm_now() < q->asked + FRESH_S)
    return;
  free(q->nodes);
  q->nodes = NULL;
  q->count = 0;
  q->fault[0] = q->list_name[0] = '\0';
  if (cm_command_run(sinfo, PATIENCE_S, &q->nodes, &error) != CM_OK || cm_command_run(squeue, PATIENCE_S, &text, &error) != CM_OK)
    (void)snprintf(q->fault, sizeof q->fault, "Slurm does not answer: %.200s", error.detail);
  else if (q->nodes[0] == '\0') {
    free(q->nodes);
    q->nodes = NULL;
  }
  for (char *at = text; (line = strsep(&at, "\n")) != NULL && at != NULL;)
    add(q, line);
  free(text);
  if (q->count > 0)
    qsort(q->runs, q->count, sizeof *q->runs, by_token);
  q->asked = cm_now();
}

/* The first of a token's; NULL: there is none. */
static const run *first_of(const cm_slurm_queue *q, const char *token)
{
  size_t low = 0, high = q->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (strcmp(q->runs[middle].token, token) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < q->count && strcmp(q->runs[low].token, token) == 0 ? &q->runs[low] : NULL;
}

void cm_slurm_queue_look(cm_slurm_queue *q, cm_slurm_told *told)
{
  refresh(q);
  const run *r = q->fault[0] == '\0' ? first_of(q, told->token) : NULL;
  told->state = q->fault[0] != '\0' ? CM_SLURM_UNREACHABLE : r != NULL ? (int32_t)r->state : CM_SLURM_UNKNOWN;
  (void)snprintf(told->text, sizeof told->text, "%s", q->fault[0] != '\0' ? q->fault : r != NULL ? r->text : "Slurm does not know it");
}

void cm_slurm_queue_age(cm_slurm_queue *q)
{
  q->asked = 0;
}

void cm_slurm_queue_cancel(cm_slurm_queue *q, const char *token)
{
  cm_error ignored;
  refresh(q);
  for (const run *r = first_of(q, token); r != NULL && r < q->runs + q->count && strcmp(r->token, token) == 0; r++) {
    const char *const words[] = {"scancel", r->id, NULL};
    char *text = NULL;
    if (r->state != CM_SLURM_ENDED)
      (void)cm_command_run(words, PATIENCE_S, &text, &ignored);
    free(text);
  }
}
