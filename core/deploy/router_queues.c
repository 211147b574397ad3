#include "core/deploy/router_queues.h"

#include <string.h>

enum { LOCAL, NORTH, SOUTH, EAST, WEST, PORTS };

cm_status cm_router_queues_make(uint32_t width, uint32_t height, uint32_t length, cm_memory *memory, cm_router_queues *queues, cm_error *error)
{
  cm_router_queues q = {.width = width, .height = height, .length = length};
  const size_t routers = (size_t)width * height, ports = routers * PORTS;
  if (CM_NEW(memory, q.queue, ports * length, error) != CM_OK || CM_NEW(memory, q.head, ports, error) != CM_OK || CM_NEW(memory, q.held, ports, error) != CM_OK ||
      CM_NEW(memory, q.out, ports, error) != CM_OK || CM_NEW(memory, q.used, routers, error) != CM_OK || CM_NEW(memory, q.pending, routers, error) != CM_OK ||
      CM_NEW(memory, q.is_used, routers, error) != CM_OK || CM_NEW(memory, q.is_pending, routers, error) != CM_OK) {
    cm_router_queues_free(&q);
    return error->status;
  }
  *queues = q;
  return CM_OK;
}

void cm_router_queues_free(cm_router_queues *q)
{
  void *const arrays[] = {q->queue, q->head, q->held, q->out, q->used, q->pending, q->is_used, q->is_pending};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    cm_free(arrays[i]);
  *q = (cm_router_queues){.width = 0};
}

void cm_router_queues_empty(cm_router_queues *q)
{
  for (uint32_t i = 0; i < q->uses; i++) {
    const size_t first = (size_t)q->used[i] * PORTS;
    memset(q->head + first, 0, PORTS * sizeof *q->head);
    memset(q->held + first, 0, PORTS * sizeof *q->held);
    memset(q->out + first, 0, PORTS * sizeof *q->out);
    q->is_used[q->used[i]] = false;
  }
  q->uses = 0;
}

static void touch(cm_router_queues *q, uint32_t router)
{
  if (!q->is_used[router]) {
    q->is_used[router] = true;
    q->used[q->uses++] = router;
  }
  if (!q->is_pending[router]) {
    q->is_pending[router] = true;
    q->pending[q->pendings++] = router;
  }
}

static unsigned way(const cm_router_queues *q, uint32_t router, uint32_t to)
{
  const uint32_t x = router % q->width, y = router / q->width, to_x = to % q->width, to_y = to / q->width;
  return to_x > x ? EAST : to_x < x ? WEST : to_y > y ? NORTH : to_y < y ? SOUTH : LOCAL;
}

/* The router behind an output, and its input there. */
static uint32_t behind(const cm_router_queues *q, uint32_t router, unsigned output, unsigned *input)
{
  static const unsigned inputs[PORTS] = {LOCAL, SOUTH, NORTH, WEST, EAST};
  *input = inputs[output];
  return output == EAST ? router + 1 : output == WEST ? router - 1 : output == NORTH ? router + q->width : router - q->width;
}

static bool push(cm_router_queues *q, uint32_t router, unsigned input, uint32_t to)
{
  const size_t at = (size_t)router * PORTS + input;
  if (q->held[at] == q->length)
    return false;
  q->queue[at * q->length + (q->head[at] + q->held[at]++) % q->length] = to;
  touch(q, router);
  return true;
}

/* A head whose output is free goes there; who waits to fill its place is looked at again. */
static bool take_heads(cm_router_queues *q, uint32_t router)
{
  bool moved = false;
  for (unsigned input = 0; input < PORTS; input++) {
    const size_t at = (size_t)router * PORTS + input;
    if (q->held[at] == 0)
      continue;
    const uint32_t to = q->queue[at * q->length + q->head[at]];
    uint32_t *out = &q->out[(size_t)router * PORTS + way(q, router, to)];
    if (*out != 0)
      continue;
    *out = to + 1;
    q->head[at] = (q->head[at] + 1) % q->length;
    q->held[at]--;
    moved = true;
    unsigned ignored;
    if (input != LOCAL)
      touch(q, behind(q, router, input, &ignored));
  }
  return moved;
}

/* What stands at outputs to neighbours goes on; what is for the core stays until the step ends. */
static bool send_on(cm_router_queues *q, uint32_t router)
{
  bool moved = false;
  for (unsigned output = NORTH; output < PORTS; output++) {
    uint32_t *out = &q->out[(size_t)router * PORTS + output];
    unsigned input;
    if (*out == 0)
      continue;
    const uint32_t next = behind(q, router, output, &input);
    if (push(q, next, input, *out - 1)) {
      *out = 0;
      moved = true;
    }
  }
  return moved;
}

bool cm_router_queues_send(cm_router_queues *q, uint32_t from, uint32_t to)
{
  if (!push(q, from, LOCAL, to))
    return false;
  while (q->pendings > 0) {
    const uint32_t router = q->pending[--q->pendings];
    q->is_pending[router] = false;
    while (take_heads(q, router) || send_on(q, router)) {}
  }
  return true;
}
