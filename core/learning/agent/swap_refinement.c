#include "core/learning/agent/swap_refinement.h"

#include "core/learning/agent/trade.h"

cm_status cm_swap_refinement_new(const cm_environment *environment, cm_memory *memory, cm_swap_refinement *exchange, cm_error *error)
{
  cm_swap_refinement made = {.environment = environment};
  cm_status status = CM_NEW_ALL(memory, error, CM_ARRAY(made.occupant, environment->sites), CM_ARRAY(made.left, environment->nodes),
                                CM_ARRAY(made.done, environment->nodes), CM_ARRAY(made.entered, environment->sites));
  CM_END(status, *exchange = made, cm_swap_refinement_free(&made));
}

void cm_swap_refinement_free(cm_swap_refinement *exchange)
{
  CM_FREE(exchange->occupant, exchange->left, exchange->done, exchange->entered);
  *exchange = (cm_swap_refinement){0};
}

/* What node v saves when it goes to a site with everybody else where `at` says. */
static int64_t saves(const cm_environment *environment, const uint32_t *at, uint32_t v, uint32_t to)
{
  return -cm_move_change(environment, at, v, to, CM_NOBODY);
}

/* Follows the nodes from `head` on, each to the site of the next, until a site was empty or the first node's; takes all
 * back unless it saved something. Moved one after the other, what each saves adds up to what all do. */
static uint64_t carry_out_chain(cm_swap_refinement *e, const uint32_t *to, uint32_t head, uint32_t *at)
{
  int64_t saved = 0;
  uint32_t v = head;
  do {
    e->left[v] = at[v];
    saved += saves(e->environment, at, v, to[v]);
    at[v] = to[v];
    e->done[v] = 1;
    v = e->occupant[to[v]];
  } while (v != UINT32_MAX && v != head);
  if (saved > 0)
    return (uint64_t)saved;
  v = head;
  do {
    at[v] = e->left[v];
    v = e->occupant[to[v]];
  } while (v != UINT32_MAX && v != head);
  return 0;
}

uint64_t cm_swap_refinement_carry_out(cm_swap_refinement *exchange, const uint32_t *to, uint32_t *at)
{
  const cm_environment *environment = exchange->environment;
  uint64_t saved = 0;
  memset(exchange->occupant, 0xff, environment->sites * sizeof *exchange->occupant);
  memset(exchange->entered, 0, environment->sites);
  for (uint32_t v = 0; v < environment->nodes; v++) {
    exchange->occupant[at[v]] = v;
    exchange->done[v] = to[v] == at[v];
    exchange->entered[to[v]] = 1;
  }
  for (int rings = 0; rings < 2; rings++) /* first the chains, which begin where nobody comes after */
    for (uint32_t v = 0; v < environment->nodes; v++)
      if (!exchange->done[v] && (rings || !exchange->entered[at[v]]))
        saved += carry_out_chain(exchange, to, v, at);
  return saved;
}

void cm_swap_refinement_begin(cm_swap_refinement *exchange, const uint32_t *at)
{
  const cm_environment *environment = exchange->environment;
  memset(exchange->occupant, 0xff, environment->sites * sizeof *exchange->occupant);
  for (uint32_t v = 0; v < environment->nodes; v++)
    exchange->occupant[at[v]] = v;
}

int64_t cm_swap_refinement_trade(cm_swap_refinement *exchange, uint32_t v, uint32_t site, double most, uint32_t *at)
{
  uint32_t from = at[v], other = exchange->occupant[site];
  int64_t saved = saves(exchange->environment, at, v, site);
  at[v] = site;
  if (other != UINT32_MAX) {
    saved += saves(exchange->environment, at, other, from);
    at[other] = from;
  }
  if (-(double)saved < most) {
    exchange->occupant[site] = v;
    exchange->occupant[from] = other;
    return saved;
  }
  at[v] = from;
  if (other != UINT32_MAX)
    at[other] = site;
  return 0;
}
