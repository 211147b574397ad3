#include "core/simulate/frames.h"

#include <string.h>

enum { FRAMES_LEAST = 4 };

cm_status cm_frames_new(uint32_t routers, uint32_t wanted, cm_memory *memory, cm_frames *frames, cm_error *error)
{
  uint32_t most = routers > 0 ? CM_FRAME_CELLS_MAX / routers : 0;
  cm_frames f = {.routers = routers, .ps = 1000};
  most = most < wanted ? most : wanted;
  if (most >= FRAMES_LEAST) {
    f.most = most & ~1u; /* they are joined in pairs */
    CM_TRY(CM_NEW(memory, f.passed, (size_t)f.most * routers, error));
  }
  *frames = f;
  return CM_OK;
}

void cm_frames_free(cm_frames *f)
{
  cm_free(f->passed);
  *f = (cm_frames){0};
}

static void join_pairs(cm_frames *f)
{
  size_t routers = f->routers;
  for (uint32_t i = 0; i < f->most / 2; i++)
    for (size_t r = 0; r < routers; r++)
      f->passed[i * routers + r] = f->passed[2 * i * routers + r] + f->passed[(2 * i + 1) * routers + r];
  memset(f->passed + f->most / 2 * routers, 0, f->most / 2 * routers * sizeof *f->passed);
  f->used = (f->used + 1) / 2;
  f->ps *= 2;
}

void cm_frames_count(cm_frames *f, uint64_t ps, uint32_t router)
{
  if (f->most == 0)
    return;
  while (ps / f->ps >= f->most)
    join_pairs(f);
  uint32_t frame = (uint32_t)(ps / f->ps);
  f->passed[(size_t)frame * f->routers + router]++;
  f->used = frame + 1 > f->used ? frame + 1 : f->used;
}

json_t *cm_frames_json(const cm_frames *f, uint32_t columns)
{
  json_t *list = json_array();
  for (uint32_t i = 0; i < f->used; i++) {
    json_t *row = json_array();
    for (uint32_t r = 0; r < f->routers; r++)
      (void)json_array_append_new(row, json_integer(f->passed[(size_t)i * f->routers + r]));
    (void)json_array_append_new(list, row);
  }
  return json_pack("{s:f, s:i, s:o}", "ns", (double)f->ps / 1000, "columns", (int)columns, "packets", list);
}
