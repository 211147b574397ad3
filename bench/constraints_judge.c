/* Enumerates the places of small placement problems, for bench/constraints: no propagation and nothing of the core, a node after the other on every tile,
 * each rule tried as soon as all that it is about has places. Reads problems as numbers, one after the other, until the end:
 *   WIDTH HEIGHT CHIP_X CHIP_Y, circuits of LINK INTO OUT_OF (-1: no limit), EDGES (so many nets have a source and a target), for each tile KIND (-1: none) and 4 limits (-1: none);
 *   NODES, for each KIND (-1: any) and 4 needs; RULES, for each KIND SAME FIRST HOPS, COUNT and its nodes, COUNT and its numbers (a box, offsets); NETS, for
 *   each WEIGHT, COUNT and its nodes; OPTIMUM (0: the first places do) TRIES
 * and prints a line for each: "none", "many" (it gave up), or the cost of what was found. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { TILES = 64, NODES = 16, RULES = 32, MEMBERS = 16, NUMBERS = 160, NETS = 64, LIMITS = 4 };
enum { PIN, NOT_HERE, TOGETHER, APART, ADJACENT, CONNECTED, ORDER };      /* kinds of rules */
enum { CORE, CHIP, COLUMN, ROW };                                         /* the same what */
enum { LEFT_OF, RIGHT_OF, ABOVE, BELOW, WITHIN };                         /* the same of an order */

typedef struct rule {
  long kind, same, first, hops, count, node[MEMBERS], numbers, number[NUMBERS]; /* first: nodes of one side, the rest are the other; 0: all with all */
} rule;

static long circuits[3], edges, load[TILES][6]; /* links to the right, left, down, up; into, out of */
static long width, height, chip_x, chip_y, kind_of_tile[TILES], limit[TILES][LIMITS];
static long nodes, kind_of_node[NODES], need[NODES][LIMITS], rules, nets, weight[NETS], net_count[NETS], net[NETS][NODES];
static rule rule_at[RULES];
static long at[NODES]; /* tile, -1: none yet */
static long used[TILES][LIMITS];
static long best, tries, tries_max;
static bool optimum;

static long number(void)
{
  long value;
  if (scanf("%ld", &value) != 1)
    exit(0);
  return value;
}

static void read_problem(void)
{
  width = number(), height = number(), chip_x = number(), chip_y = number();
  for (int i = 0; i < 3; i++)
    circuits[i] = number();
  edges = number();
  for (long t = 0; t < width * height; t++) {
    kind_of_tile[t] = number();
    for (int l = 0; l < LIMITS; l++)
      limit[t][l] = number();
  }
  nodes = number();
  for (long n = 0; n < nodes; n++) {
    kind_of_node[n] = number();
    for (int l = 0; l < LIMITS; l++)
      need[n][l] = number();
  }
  rules = number();
  for (long i = 0; i < rules; i++) {
    rule *r = &rule_at[i];
    r->kind = number(), r->same = number(), r->first = number(), r->hops = number();
    r->count = number();
    for (long k = 0; k < r->count; k++)
      r->node[k] = number();
    r->numbers = number();
    for (long k = 0; k < r->numbers; k++)
      r->number[k] = number();
  }
  nets = number();
  for (long i = 0; i < nets; i++) {
    weight[i] = number();
    net_count[i] = number();
    for (long k = 0; k < net_count[i]; k++)
      net[i][k] = number();
  }
  optimum = number() != 0;
  tries_max = number();
}

static long column(long n)
{
  return at[n] % width;
}

static long row(long n)
{
  return at[n] / width;
}

static bool same(long what, long a, long b)
{
  switch (what) {
    case CHIP: return column(a) / chip_x == column(b) / chip_x && row(a) / chip_y == row(b) / chip_y;
    case COLUMN: return column(a) == column(b);
    case ROW: return row(a) == row(b);
    default: return at[a] == at[b];
  }
}

static bool pair_holds(const rule *r, long a, long b)
{
  const long x = column(a) - column(b), y = row(a) - row(b);
  if (r->kind == TOGETHER || r->kind == APART)
    return same(r->same, a, b) == (r->kind == TOGETHER);
  if (r->kind == ADJACENT) {
    for (long k = 0; k < r->numbers; k += 2)
      if (r->number[k] == x && r->number[k + 1] == y)
        return true;
    return false;
  }
  switch (r->same) {
    case LEFT_OF: return x < 0;
    case RIGHT_OF: return x > 0;
    case ABOVE: return y < 0;
    case BELOW: return y > 0;
    default: return labs(x) + labs(y) <= r->hops;
  }
}

/* A pin's numbers are x0 y0 x1 y1. */
static bool inside(const rule *r, long n)
{
  return column(n) >= r->number[0] && row(n) >= r->number[1] && column(n) <= r->number[2] && row(n) <= r->number[3];
}

static bool connected(const rule *r)
{
  bool reached[MEMBERS] = {true};
  for (long round = 0; round < r->count; round++)
    for (long i = 0; i < r->count; i++)
      for (long k = 0; k < r->count; k++)
        if (reached[i] && labs(column(r->node[i]) - column(r->node[k])) + labs(row(r->node[i]) - row(r->node[k])) <= 1)
          reached[k] = true;
  for (long i = 0; i < r->count; i++)
    if (!reached[i])
      return false;
  return true;
}

/* The first ones with all others, or any two. */
static bool is_pair(const rule *r, long i, long k)
{
  return r->first > 0 ? i < r->first && k >= r->first : i < k;
}

static bool rule_holds(const rule *r, long newest)
{
  bool all = true, about = false;
  for (long i = 0; i < r->count; i++) {
    all = all && at[r->node[i]] >= 0;
    about = about || r->node[i] == newest;
  }
  if (!about)
    return true;
  if (r->kind == PIN || r->kind == NOT_HERE)
    return inside(r, newest) == (r->kind == PIN);
  if (r->kind == CONNECTED)
    return !all || connected(r);
  for (long i = 0; i < r->count; i++)
    for (long k = 0; k < r->count; k++) {
      const long a = r->node[i], b = r->node[k];
      if (is_pair(r, i, k) && (a == newest || b == newest) && at[a] >= 0 && at[b] >= 0 && !pair_holds(r, a, b))
        return false;
    }
  return true;
}

static long cost(void)
{
  long sum = 0;
  for (long i = 0; i < nets; i++) {
    long x0 = TILES, x1 = -1, y0 = TILES, y1 = -1;
    for (long k = 0; k < net_count[i]; k++) {
      const long n = net[i][k];
      if (at[n] < 0)
        continue;
      x0 = column(n) < x0 ? column(n) : x0;
      x1 = column(n) > x1 ? column(n) : x1;
      y0 = row(n) < y0 ? row(n) : y0;
      y1 = row(n) > y1 ? row(n) : y1;
    }
    sum += x1 >= 0 ? weight[i] * (x1 - x0 + y1 - y0) : 0;
  }
  return sum;
}

static void walk(long from, long to)
{
  long t = at[from];
  if (t != at[to]) {
    load[t][5]++;
    load[at[to]][4]++;
  }
  while (t != at[to]) {
    const long x = column(to) - t % width, way = x > 0 ? 0 : x < 0 ? 1 : at[to] > t ? 2 : 3;
    load[t][way]++;
    t += way == 0 ? 1 : way == 1 ? -1 : way == 2 ? width : -width;
  }
}

/* Whether circuits between nodes that have places are few enough. */
static bool carries(void)
{
  for (long t = 0; t < width * height; t++)
    for (int i = 0; i < 6; i++)
      load[t][i] = 0;
  for (long i = 0; i < edges; i++)
    if (net_count[i] == 2 && at[net[i][0]] >= 0 && at[net[i][1]] >= 0)
      walk(net[i][0], net[i][1]);
  for (long t = 0; t < width * height; t++)
    for (int i = 0; i < 6; i++) {
      const long most = circuits[i < 4 ? 0 : i - 3];
      if (most >= 0 && load[t][i] > most)
        return false;
    }
  return true;
}

static bool fits(long n)
{
  const long t = at[n];
  if (kind_of_tile[t] < 0 || (kind_of_node[n] >= 0 && kind_of_node[n] != kind_of_tile[t]))
    return false;
  for (int l = 0; l < LIMITS; l++)
    if (limit[t][l] >= 0 && used[t][l] > limit[t][l])
      return false;
  for (long i = 0; i < rules; i++)
    if (!rule_holds(&rule_at[i], n))
      return false;
  return true;
}

/* True: stop. */
static bool place_from(long n)
{
  if (n == nodes) {
    best = cost();
    return !optimum;
  }
  for (long t = 0; t < width * height; t++) {
    if (++tries > tries_max)
      return true;
    at[n] = t;
    for (int l = 0; l < LIMITS; l++)
      used[t][l] += need[n][l];
    const bool stop = fits(n) && carries() && (best < 0 || !optimum || cost() < best) && place_from(n + 1);
    at[n] = -1;
    for (int l = 0; l < LIMITS; l++)
      used[t][l] -= need[n][l];
    if (stop)
      return true;
  }
  return false;
}

int main(void)
{
  for (;;) {
    read_problem();
    for (long n = 0; n < nodes; n++)
      at[n] = -1;
    best = -1;
    tries = 0;
    (void)place_from(0);
    if (tries > tries_max)
      puts("many");
    else if (best < 0)
      puts("none");
    else
      printf("%ld\n", best);
    (void)fflush(stdout);
  }
}
