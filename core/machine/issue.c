#include "core/machine/issue.h"

#include <math.h>
#include <stddef.h>

cm_issue cm_issue_start(const cm_target *target)
{
  return (cm_issue){.target = target};
}

static double *idle_of(cm_idle idle, uint32_t lane)
{
  return idle.first + (size_t)lane * idle.stride;
}

cm_issue_read cm_issue_next(const cm_issue *issue, cm_idle idle)
{
  const cm_target *t = issue->target;
  cm_issue_read next = {0};
  double first = HUGE_VAL;
  if (issue->count >= t->window && t->window > 0)
    next.from = issue->begun[issue->count % t->window];
  for (uint32_t d = 0; d < t->device_count && t->code_bytes > 0; d++)
    for (uint32_t l = t->device[d].first_lane; t->device[d].moves && l < t->device[d].first_lane + t->device[d].units * t->device[d].ports; l++)
      if (*idle_of(idle, l) < first) {
        first = *idle_of(idle, l);
        next.port = l;
        next.ns = t->code_bytes / t->device[d].bytes_per_ns;
      }
  if (next.ns > 0)
    next.from = fmax(next.from, first);
  return next;
}

void cm_issue_begin(cm_issue *issue, const cm_issue_read *read, double start, cm_idle idle)
{
  const uint32_t window = issue->target->window;
  if (window == 0)
    return;
  if (read->ns > 0)
    *idle_of(idle, read->port) = read->from + read->ns;
  const double before = issue->count > 0 ? issue->begun[(issue->count - 1) % window] : 0;
  issue->begun[issue->count++ % window] = fmax(before, start);
}
