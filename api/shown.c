/* Jobs that have ended, as they were shown last: who watches many asks for them again and again, and nothing about them changes but
 * whose they are, who sees them and that they go (cm_database_version tells). Copies are also given up after a second, for changes that
 * are made around the server. */

#include "api/internal.h"

#include "base/hold.h"

enum { SHOWN_MAX = 256, TEXT_MAX = 64 << 10 };

static const double kept_seconds = 1;

typedef struct shown {
  char id[CM_ID_MAX], tag[64];
  cm_owner owner;
  uint64_t version;
  double until;
  uint64_t copy; /* its number, which no other text has */
  char *text; /* NULL: nothing is here */
  size_t size;
} shown;

struct cm_shown {
  pthread_mutex_t lock;
  uint64_t copies;
  shown jobs[SHOWN_MAX]; /* each has one place */
};

cm_status cm_shown_start(cm_shown **all, cm_error *error)
{
  cm_shown *made;
  CM_TRY(CM_HEAP(made, 1, "the server", error));
  pthread_mutex_init(&made->lock, NULL);
  *all = made;
  return CM_OK;
}

void cm_shown_free(cm_shown *all)
{
  if (all == NULL)
    return;
  for (size_t i = 0; i < SHOWN_MAX; i++)
    free(all->jobs[i].text);
  pthread_mutex_destroy(&all->lock);
  free(all);
}

static shown *place_of(cm_shown *all, const char *id)
{
  size_t place = 0;
  for (const char *p = id; *p != '\0'; p++)
    place = place * 31 + (unsigned char)*p;
  return &all->jobs[place % SHOWN_MAX];
}

/* With the lock held: the copy that is still good; NULL. */
static const shown *find(const cm_request *request, const char *id)
{
  const shown *s = place_of(request->server->shown, id);
  return s->text != NULL && strcmp(s->id, id) == 0 && cm_now() < s->until &&
                 s->version == cm_database_version(request->store->database, CM_WATCHED_ENDED)
             ? s
             : NULL;
}

bool cm_shown_owner(cm_request *request, const char *id, cm_owner *owner)
{
  cm_shown *all = request->server->shown;
  CM_HOLD(&all->lock);
  const shown *s = find(request, id);
  if (s != NULL)
    *owner = s->owner;
  return s != NULL;
}

bool cm_shown_copy(cm_request *request, const char *id, cm_same *same)
{
  cm_shown *all = request->server->shown;
  CM_HOLD(&all->lock);
  const shown *s = find(request, id);
  bool found = s != NULL;
  if (found) {
    *same = (cm_same){.type = "application/json", .size = s->size, .copy = s->copy};
    memcpy(same->tag, s->tag, sizeof s->tag);
    if (!cm_kept_has(request, s->copy)) {
      char *text = malloc(s->size);
      found = text != NULL;
      if (found)
        memcpy(text, s->text, s->size);
      same->body = text;
    }
  }
  return found;
}

void cm_shown_keep(cm_request *request, const cm_job *job, uint64_t version, const char *tag, const char *text, size_t size)
{
  cm_shown *all = request->server->shown;
  char *copy = size <= TEXT_MAX ? malloc(size) : NULL;
  if (copy == NULL)
    return;
  memcpy(copy, text, size);
  CM_HOLD(&all->lock);
  shown *s = place_of(all, job->id);
  free(s->text);
  *s = (shown){.owner = job->owner, .version = version, .until = cm_now() + kept_seconds, .copy = ++all->copies, .text = copy, .size = size};
  (void)snprintf(s->id, sizeof s->id, "%s", job->id);
  (void)snprintf(s->tag, sizeof s->tag, "%s", tag);
}
