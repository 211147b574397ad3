#include "storage/progress.h"

#include <math.h>

#include "base/json.h"

/* Between the first points. */
static const double gap_least = 0.05;

void cm_history_add(cm_history *h, const cm_history_point *point)
{
  if (h->count > 1 && h->point[h->count - 1].seconds < h->point[h->count - 2].seconds + h->gap)
    h->count--; /* the last one stands until it is clear that the next is near */
  if (h->count == CM_HISTORY_POINTS_MAX) {
    for (size_t i = 0; i < CM_HISTORY_POINTS_MAX / 2; i++)
      h->point[i] = h->point[2 * i];
    h->count = CM_HISTORY_POINTS_MAX / 2;
  }
  h->gap = fmax(gap_least, point->seconds / (CM_HISTORY_POINTS_MAX / 2));
  h->point[h->count++] = *point;
}

char *cm_history_text(const cm_history *h)
{
  json_t *list = json_array();
  for (size_t i = 0; i < h->count; i++) {
    const cm_history_point *p = &h->point[i];
    json_t *one = json_pack("{s:f, s:s, s:f, s:f}", "seconds", p->seconds, "phase", p->phase, "fraction", p->fraction, "remaining_seconds", p->remaining);
    if (isfinite(p->metric))
      (void)json_object_set_new(one, "metric", json_real(p->metric));
    if (p->bound > 0)
      (void)json_object_set_new(one, "bound", json_real(p->bound));
    (void)json_array_append_new(list, one);
  }
  char *text = list != NULL ? cm_json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
  json_decref(list);
  return text;
}
