/* grid_peer grow NET.snn NEURONS AXONS SYNAPSES TARGETS OUTBOUND: plain greedy growing, one part a line of a neuron.
 * grid_peer judge NET.snn PART NEURONS AXONS SYNAPSES TARGETS OUTBOUND: "connectivity parts over", counted anew.
 * The peer and the judge of bench/grid; shares no code with the library. A limit of 0 is none. TARGETS: the parts that one neuron
 * reaches at most; one that reaches more counts as as many neurons as it takes. OUTBOUND: the axons that leave a part, one for each
 * other part that each neuron of it reaches. Growing keeps neither of the last two. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t n, m, *pin, *source, *in_net;
static uint64_t *first, *in_first, limit[5]; /* neurons, inbound axons, synapses; parts that a neuron reaches; outbound axons */
static float *rate;

static void *room(size_t bytes)
{
  void *p = calloc(bytes + 1, 1);
  if (p == NULL) {
    fputs("grid_peer: out of memory\n", stderr);
    exit(2);
  }
  return p;
}

static void take_in(void *to, size_t count, FILE *f)
{
  if (fread(to, 4, count, f) != count) {
    fputs("grid_peer: the network ends early\n", stderr);
    exit(2);
  }
}

static void read_network(const char *path)
{
  FILE *f = fopen(path, "rb");
  uint32_t head[2];
  if (f == NULL) {
    perror(path);
    exit(2);
  }
  fseek(f, 0, SEEK_END);
  pin = room((size_t)ftell(f));
  rewind(f);
  take_in(head, 2, f);
  n = head[0];
  m = head[1];
  first = room(((size_t)m + 1) * 8);
  in_first = room(((size_t)n + 2) * 8);
  source = room((size_t)m * 4);
  rate = room((size_t)m * 4);
  for (uint32_t e = 0; e < m; e++) {
    take_in(head, 2, f);
    source[e] = head[1];
    take_in(pin + first[e], head[0], f);
    take_in(&rate[e], 1, f);
    first[e + 1] = first[e] + head[0];
    for (uint64_t i = first[e]; i < first[e + 1]; i++)
      in_first[pin[i] + 2]++;
  }
  fclose(f);
  in_net = room(first[m] * 4);
  for (uint32_t v = 1; v < n + 2; v++)
    in_first[v] += in_first[v - 1];
  for (uint32_t e = 0; e < m; e++)
    for (uint64_t i = first[e]; i < first[e + 1]; i++)
      in_net[in_first[pin[i] + 1]++] = e;
}

static uint64_t degree(uint32_t v)
{
  return in_first[v + 1] - in_first[v];
}

static int fits(const uint64_t use[3])
{
  for (int i = 0; i < 3; i++)
    if (limit[i] != 0 && use[i] > limit[i])
      return 0;
  return 1;
}

/* The next vertex is the one with the largest share of its inbound nets in the part; a part begins with the open one of
 * which most has been met. */
static uint32_t grow(uint32_t *part)
{
  uint32_t *shared = room((size_t)n * 4), *met = room((size_t)n * 4), *touched = room((size_t)n * 4), parts = 0, lonely = 0;
  uint32_t *mark = room((size_t)m * 4);
  uint8_t *done = room(n);
  for (uint32_t left = n; left > 0; parts++) {
    uint32_t count = 0, next = UINT32_MAX;
    uint64_t use[3] = {0};
    double most = -1;
    for (uint32_t v = 0; v < n; v++)
      if (!done[v] && (double)met[v] / (double)(degree(v) + 1) > most) {
        most = (double)met[v] / (double)(degree(v) + 1);
        next = v;
      }
    while (next != UINT32_MAX) {
      done[next] = 1;
      part[next] = parts;
      left--;
      use[0]++;
      use[2] += degree(next);
      for (uint64_t j = in_first[next]; j < in_first[next + 1]; j++) {
        uint32_t e = in_net[j], fresh = mark[e] == 0;
        if (mark[e] == parts + 1)
          continue;
        mark[e] = parts + 1;
        use[1]++;
        for (uint64_t i = first[e]; i < first[e + 1]; i++) {
          met[pin[i]] += fresh;
          if (!done[pin[i]] && shared[pin[i]]++ == 0)
            touched[count++] = pin[i];
        }
      }
      next = UINT32_MAX;
      most = 0;
      for (uint32_t i = 0; i < count; i++) {
        uint32_t v = touched[i];
        double share = (double)shared[v] / (double)(degree(v) + 1);
        uint64_t then[3] = {use[0] + 1, use[1] + degree(v) - shared[v], use[2] + degree(v)};
        if (!done[v] && share > most && fits(then)) {
          most = share;
          next = v;
        }
      }
      for (; next == UINT32_MAX && lonely < n && use[0] < limit[0]; lonely++) /* what nothing reaches fits anywhere */
        next = !done[lonely] && degree(lonely) == 0 ? lonely : UINT32_MAX;
    }
    for (uint32_t i = 0; i < count; i++)
      shared[touched[i]] = 0;
  }
  return parts;
}

static void judge(const char *path)
{
  FILE *f = fopen(path, "r");
  uint32_t *part = room((size_t)n * 4), parts = 0, over = 0;
  for (uint32_t v = 0; v < n; v++) {
    if (f == NULL || fscanf(f, "%u", &part[v]) != 1) {
      fprintf(stderr, "grid_peer: %s does not have a part for every neuron\n", path);
      exit(2);
    }
    parts = part[v] >= parts ? part[v] + 1 : parts;
  }
  fclose(f);
  uint64_t(*use)[3] = room((size_t)parts * sizeof *use);
  uint32_t *seen = room((size_t)parts * 4);
  uint64_t *reached = room((size_t)n * 8), *leaving = room((size_t)parts * 8);
  double connectivity = 0;
  for (uint32_t e = 0; e < m; e++)
    for (uint64_t i = first[e]; i < first[e + 1]; i++) {
      uint32_t p = part[pin[i]];
      if (seen[p] == e + 1)
        continue;
      seen[p] = e + 1;
      use[p][1]++;
      reached[source[e]]++;
      connectivity += p != part[source[e]] ? (double)rate[e] : 0;
      leaving[part[source[e]]] += p != part[source[e]];
    }
  for (uint32_t v = 0; v < n; v++) {
    use[part[v]][0] += limit[3] == 0 || reached[v] <= limit[3] ? 1 : (reached[v] + limit[3] - 1) / limit[3];
    use[part[v]][2] += degree(v);
  }
  uint32_t used = 0;
  for (uint32_t p = 0; p < parts; p++) {
    over += !fits(use[p]) || (limit[4] != 0 && leaving[p] > limit[4]);
    used += use[p][0] > 0;
  }
  printf("%.6g %u %u\n", connectivity, used, over);
}

int main(int count, char **word)
{
  int at = count > 1 && strcmp(word[1], "judge") == 0 ? 4 : 3;
  if (count != at + 5) {
    fputs("usage: grid_peer grow NET.snn NEURONS AXONS SYNAPSES TARGETS OUTBOUND\n"
          "       grid_peer judge NET.snn PART NEURONS AXONS SYNAPSES TARGETS OUTBOUND\n",
          stderr);
    return 2;
  }
  for (int i = 0; i < 5; i++)
    limit[i] = strtoull(word[at + i], NULL, 10);
  read_network(word[2]);
  if (at == 4) {
    judge(word[3]);
    return 0;
  }
  uint32_t *part = room((size_t)n * 4);
  (void)grow(part);
  for (uint32_t v = 0; v < n; v++)
    printf("%u\n", part[v]);
  return 0;
}
