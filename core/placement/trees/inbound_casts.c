#include "core/placement/trees/inbound_casts.h"

#include <string.h>

static void gather(const cm_casts *c, cm_inbound_casts *in)
{
  for (uint64_t i = 0; i < c->first[c->count]; i++)
    in->first[c->target[i] + 1]++;
  for (uint32_t p = 0; p < c->parts; p++)
    in->first[p + 1] += in->first[p];
  for (uint32_t e = c->count; e-- > 0;)
    for (uint64_t i = c->first[e]; i < c->first[e + 1]; i++)
      in->cast[--in->first[c->target[i] + 1]] = e;
  /* Filled from the back, each entry p + 1 has come down to where part p begins. */
  memmove(in->first, in->first + 1, c->parts * sizeof *in->first);
  in->first[c->parts] = c->first[c->count];
}

cm_status cm_inbound_casts_new(const cm_casts *casts, cm_memory *memory, cm_inbound_casts *inbound, cm_error *error)
{
  cm_inbound_casts made = {0};
  if (CM_NEW(memory, made.first, (size_t)casts->parts + 1, error) != CM_OK ||
      CM_NEW(memory, made.cast, casts->first[casts->count], error) != CM_OK ||
      CM_NEW(memory, made.sender, casts->count, error) != CM_OK) {
    cm_inbound_casts_free(&made);
    return error->status;
  }
  gather(casts, &made);
  for (uint32_t p = 0; p < casts->parts; p++)
    for (uint32_t e = casts->of_part[p]; e < casts->of_part[p + 1]; e++)
      made.sender[e] = p;
  *inbound = made;
  return CM_OK;
}

void cm_inbound_casts_free(cm_inbound_casts *inbound)
{
  cm_free(inbound->first);
  cm_free(inbound->cast);
  cm_free(inbound->sender);
  *inbound = (cm_inbound_casts){0};
}

uint32_t cm_relative_part(const cm_casts *casts, const cm_inbound_casts *inbound, cm_random *random, uint32_t u)
{
  uint64_t heard = inbound->first[u + 1] - inbound->first[u], begin = casts->first[casts->of_part[u]];
  uint64_t sent = casts->first[casts->of_part[u + 1]] - begin;
  if (heard + sent == 0)
    return u;
  uint64_t k = cm_random_below(random, heard + sent);
  return k < heard ? inbound->sender[inbound->cast[inbound->first[u] + k]] : casts->target[begin + k - heard];
}

cm_cast_walk cm_cast_walk_of(const cm_inbound_casts *inbound, uint32_t u, uint32_t v)
{
  cm_cast_walk walk = {.u = inbound->first[u], .u_end = inbound->first[u + 1]};
  if (v != CM_NO_PART) {
    walk.v = inbound->first[v];
    walk.v_end = inbound->first[v + 1];
  }
  return walk;
}

bool cm_cast_walk_next(const cm_inbound_casts *inbound, cm_cast_walk *w, uint32_t *cast, bool *is_u)
{
  const uint32_t *in = inbound->cast;
  for (; w->u < w->u_end && w->v < w->v_end && in[w->u] == in[w->v]; w->met++) {
    w->u++;
    w->v++;
  }
  if (w->u == w->u_end && w->v == w->v_end)
    return false;
  w->met++;
  *is_u = w->v == w->v_end || (w->u < w->u_end && in[w->u] < in[w->v]);
  *cast = in[*is_u ? w->u++ : w->v++];
  return true;
}
