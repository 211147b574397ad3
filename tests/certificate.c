/* Verifies a certificate without a line of the project's code: own reader of .snn and JSON numbers, own SHA-256, every
 * figure by the plainest method. For directed networks on meshes with one core behind a router (docs/reference/certificate.md).
 *   certificate NETWORK.snn CERTIFICATE.json MAPPING.part PLACEMENT.csv [USABLE: a text of 0 and 1 a core]
 * Prints what it has verified; exit 1 and one line when something does not hold. */
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noreturn, format(printf, 1, 2))) static void wrong(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

static void *need(size_t count, size_t size)
{
  void *block = calloc(count > 0 ? count : 1, size);
  if (block == NULL)
    wrong("out of memory");
  return block;
}

static char *whole(const char *path, size_t *size)
{
  FILE *f = fopen(path, "rb");
  if (f == NULL || fseek(f, 0, SEEK_END) != 0)
    wrong("cannot read %s", path);
  *size = (size_t)ftell(f);
  char *text = need(*size + 1, 1);
  rewind(f);
  if (fread(text, 1, *size, f) != *size)
    wrong("cannot read %s", path);
  fclose(f);
  return text;
}

/* ---- SHA-256 (FIPS 180-4) ---- */

static uint32_t turn(uint32_t x, int by)
{
  return x >> by | x << (32 - by);
}

/* The first 32 bits of the fractional parts of a root of the n-th prime. */
static uint32_t root_bits(int n, int cube)
{
  int prime = 1;
  for (int found = 0; found <= n;) {
    int divisor = 2;
    prime++;
    while (divisor * divisor <= prime && prime % divisor != 0)
      divisor++;
    found += divisor * divisor > prime;
  }
  long double root = cube ? cbrtl(prime) : sqrtl(prime);
  return (uint32_t)(uint64_t)((root - floorl(root)) * 4294967296.0L);
}

static void sha256(const unsigned char *bytes, size_t size, char hex[65])
{
  uint32_t h[8], k[64], w[64];
  size_t padded = (size + 9 + 63) / 64 * 64;
  unsigned char *text = need(padded, 1);
  memcpy(text, bytes, size);
  text[size] = 0x80;
  for (int i = 0; i < 8; i++)
    text[padded - 1 - (size_t)i] = (unsigned char)((uint64_t)size * 8 >> (8 * i));
  for (int i = 0; i < 64; i++)
    k[i] = root_bits(i, 1);
  for (int i = 0; i < 8; i++)
    h[i] = root_bits(i, 0);
  for (size_t at = 0; at < padded; at += 64) {
    for (int i = 0; i < 16; i++)
      w[i] = (uint32_t)text[at + 4 * (size_t)i] << 24 | (uint32_t)text[at + 4 * (size_t)i + 1] << 16 |
             (uint32_t)text[at + 4 * (size_t)i + 2] << 8 | text[at + 4 * (size_t)i + 3];
    for (int i = 16; i < 64; i++)
      w[i] = w[i - 16] + w[i - 7] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
             (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
    uint32_t v[8];
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
      uint32_t s =
          v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
      uint32_t t = (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
      memmove(v + 1, v, 7 * sizeof *v);
      v[4] += s;
      v[0] = s + t;
    }
    for (int i = 0; i < 8; i++)
      h[i] += v[i];
  }
  free(text);
  for (int i = 0; i < 8; i++)
    snprintf(hex + 8 * i, 9, "%08x", h[i]);
}

/* ---- the certificate: the value after a chain of names, "limits" and "bounds" by the name in their rows ---- */

static const char *json;

static const char *find(const char *from, const char *name)
{
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\"", name);
  for (const char *p = from; p != NULL && (p = strstr(p, quoted)) != NULL; p++) {
    const char *q = p + strlen(quoted);
    q += strspn(q, " \n\r\t");
    if (*q == ':')
      return q + 1 + strspn(q + 1, " \n\r\t");
  }
  wrong("the certificate has no \"%s\"", name);
}

static const char *row(const char *list, const char *key, const char *word)
{
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\"", word);
  for (const char *p = find(json, list); (p = strstr(p, key)) != NULL; p++) {
    const char *value = strchr(p, ':') + 1;
    value += strspn(value, " \n\r\t");
    if (strncmp(value, quoted, strlen(quoted)) == 0)
      return value;
  }
  wrong("\"%s\" of the certificate has no \"%s\"", list, word);
}

static double number(const char *from, const char *name)
{
  return strtod(find(from, name), NULL);
}

static void same(const char *what, double stated, double truth)
{
  if (!(fabs(stated - truth) <= 1e-6 * fmax(fabs(stated), fabs(truth))))
    wrong("%s is certified as %.12g, but is %.12g", what, stated, truth);
  printf("verified %-24s %.12g\n", what, truth);
}

static void same_hash(const char *what, const char *from, const char *name, const void *bytes, size_t size)
{
  char hex[65];
  sha256(bytes, size, hex);
  const char *stated = find(from, name);
  if (strncmp(stated + 1, hex, 64) != 0)
    wrong("the SHA-256 of %s is certified as %.64s, but is %s", what, stated + 1, hex);
  printf("verified %-24s %s\n", what, hex);
}

/* ---- network, mapping ---- */

static uint32_t neurons, nets, parts, width, height;
static uint32_t *source, *pin;
static uint64_t *first;
static double *rate;
static uint32_t *part, *x, *y;
static char *usable;

static void read_network(const char *text, size_t size)
{
  const uint32_t *word = (const uint32_t *)(const void *)text, *end = word + size / 4;
  neurons = *word++;
  nets = *word++;
  source = need(nets, 4);
  rate = need(nets, 8);
  first = need((size_t)nets + 1, 8);
  pin = need(size / 4, 4);
  for (uint32_t e = 0; e < nets; e++) {
    if (end - word < 3 || (uint64_t)(end - word) < 3 + (uint64_t)word[0])
      wrong("the network is cut short");
    uint32_t count = *word++;
    float weight;
    source[e] = *word++;
    memcpy(pin + first[e], word, 4 * (size_t)count);
    word += count;
    memcpy(&weight, word++, 4);
    rate[e] = weight;
    first[e + 1] = first[e] + count;
  }
}

static void read_mapping(const char *part_text, const char *placement)
{
  part = need(neurons, 4);
  char *at = (char *)(uintptr_t)part_text;
  for (uint32_t v = 0; v < neurons; v++) {
    part[v] = (uint32_t)strtoul(at, &at, 10);
    parts = part[v] + 1 > parts ? part[v] + 1 : parts;
  }
  x = need(parts, 4);
  y = need(parts, 4);
  char *taken = need((size_t)width * height, 1), *placed = need(parts, 1);
  for (const char *line = strchr(placement, '\n') + 1; *line != '\0'; line = strchr(line, '\n') + 1) {
    unsigned p, px, py;
    if (sscanf(line, "%u,%u,%u", &p, &px, &py) != 3 || p >= parts || px >= width || py >= height)
      wrong("the placement has a line that is none: %.20s", line);
    if (taken[py * width + px]++ || placed[p]++)
      wrong("core (%u, %u) or part %u stands twice", px, py, p);
    if (usable[py * width + px] == 0)
      wrong("part %u is on core (%u, %u), which is not usable", p, px, py);
    x[p] = px;
    y[p] = py;
  }
  for (uint32_t p = 0; p < parts; p++)
    if (!placed[p])
      wrong("part %u has no core", p);
  free(taken);
  free(placed);
}

static uint32_t distance(uint32_t p, uint32_t q)
{
  return (uint32_t)(abs((int)x[p] - (int)x[q]) + abs((int)y[p] - (int)y[q]));
}

/* ---- figures ---- */

static double *flow; /* [parts * parts] packets from one to another */

/* Follows every axon; XY trees as sets of links, each marked with the last axon that used it. */
static void verify_figures(const char *metrics, double er, double ew, double ns)
{
  uint32_t *seen = need(parts, 4), *mark = need((size_t)width * height * 4, 4), *last = need((size_t)parts, 4);
  uint64_t *use[3] = {need(parts, 8), need(parts, 8), need(parts, 8)};
  static const char *const names[3] = {"neurons", "synapses", "inbound axons"};
  double energy = 0, hops = 0, packets = 0, cut = 0, links = 0, tree_energy = 0;
  for (uint32_t v = 0; v < neurons; v++)
    use[0][part[v]]++;
  for (uint32_t e = 0; e < nets; e++) {
    uint32_t s = part[source[e]], other = 0;
    for (uint64_t i = first[e]; i < first[e + 1]; i++) {
      uint32_t t = part[pin[i]];
      use[1][t]++;
      if (last[t] != source[e] + 1) {
        last[t] = source[e] + 1;
        use[2][t]++;
      }
      if (t == s || seen[t] == e + 1)
        continue;
      seen[t] = e + 1;
      other++;
      flow[(size_t)s * parts + t] += rate[e];
      uint32_t d = distance(s, t), dx = (uint32_t)abs((int)x[s] - (int)x[t]);
      hops += rate[e] * d;
      packets += rate[e];
      energy += rate[e] * ((d + 1) * er + dx * ew + (d - dx) * ns);
      for (uint32_t ax = x[s], ay = y[s]; ax != x[t] || ay != y[t];) {
        int direction = ax != x[t] ? (x[t] > ax ? 0 : 1) : y[t] > ay ? 2 : 3;
        uint32_t *link = &mark[((size_t)ay * width + ax) * 4 + (size_t)direction];
        if (*link != e + 1) {
          *link = e + 1;
          links += rate[e];
          tree_energy += rate[e] * (er + (direction < 2 ? ew : ns));
        }
        ax += direction == 0 ? 1 : direction == 1 ? UINT32_MAX : 0;
        ay += direction == 2 ? 1 : direction == 3 ? UINT32_MAX : 0;
      }
    }
    cut += other > 0 ? rate[e] : 0;
  }
  for (int r = 0; r < 3; r++) {
    uint64_t most = 0;
    for (uint32_t p = 0; p < parts; p++)
      most = use[r][p] > most ? use[r][p] : most;
    const char *limit = row("limits", "\"resource\"", names[r]);
    same(names[r], number(limit, "most"), (double)most);
    const char *stated = find(limit, "limit");
    if (*stated != 'n' && (double)most > strtod(stated, NULL))
      wrong("%s: %llu exceed the limit", names[r], (unsigned long long)most);
    free(use[r]);
  }
  same("hop_traffic", number(metrics, "hop_traffic"), hops);
  same("energy_pj", number(metrics, "energy_pj"), energy);
  same("connectivity", number(metrics, "connectivity"), packets);
  same("cut_net", number(metrics, "cut_net"), cut);
  same("multicast_hops", number(metrics, "multicast_hops"), links);
  same("multicast_energy_pj", number(metrics, "multicast_energy_pj"), tree_energy + cut * er);
  same("congestion_mean", number(metrics, "congestion_mean"), (hops + packets) / ((double)width * height));
  free(seen);
  free(mark);
  free(last);
}

static int descending(const void *a, const void *b)
{
  double p = *(const double *)a, q = *(const double *)b;
  return p < q ? 1 : p > q ? -1 : 0;
}

/* Least hops to the i-th nearest other usable core, by looking from every usable core at all others. */
static double *nearness(void)
{
  uint32_t reach = width + height;
  uint64_t *within = need(reach, 8);
  double *hops = need(parts, 8);
  for (uint32_t a = 0; a < width * height; a++) {
    uint64_t *count = need(reach, 8), sum = 0;
    for (uint32_t b = 0; usable[a] && b < width * height; b++)
      if (usable[b])
        count[(uint32_t)abs((int)(a % width) - (int)(b % width)) +
              (uint32_t)abs((int)(a / width) - (int)(b / width))]++;
    for (uint32_t r = 0; r < reach; r++) {
      sum += count[r];
      within[r] = sum > within[r] ? sum : within[r];
    }
    free(count);
  }
  for (uint32_t i = 0, r = 0; i < parts; i++) {
    while (r + 1 < reach && within[r] < i + 2)
      r++;
    hops[i] = r;
  }
  free(within);
  return hops;
}

/* The i-th smallest cost of an offset, by sorting far more of them than are needed. */
static double *costs(const double *hops, double ex, double ey)
{
  double *all = need((size_t)(2 * parts + 1) * (2 * parts + 1), 8), least = ex < ey ? ex : ey, *cost = need(parts, 8);
  size_t count = 0;
  int reach = (int)parts < 60 ? (int)parts : 60;
  for (int i = -reach; i <= reach; i++)
    for (int j = -reach; j <= reach; j++)
      if (i != 0 || j != 0)
        all[count++] = -(abs(i) * ex + abs(j) * ey);
  qsort(all, count, sizeof *all, descending);
  for (uint32_t i = 0; i < parts; i++)
    cost[i] = fmax(i < count ? -all[i] : 0, hops[i] * least);
  free(all);
  return cost;
}

static void verify_bounds(double er, double ew, double ns)
{
  enum { SOURCE, TARGET, BOTH, BUSIER };
  double *hops = nearness(), *cost = costs(hops, er + ew, er + ns), *share = need(parts, 8), best_hops = 0,
         best_energy = 0;
  double packets = 0, tree = 0, axons = 0;
  uint32_t *partners = need(parts, 4), *seen = need(parts, 4);
  for (uint32_t p = 0; p < parts; p++)
    for (uint32_t q = 0; q < parts; q++) {
      double out = flow[(size_t)p * parts + q], in = flow[(size_t)q * parts + p];
      partners[p] += out > 0 || in > 0;
      packets += out;
    }
  for (int way = SOURCE; way <= BUSIER; way++) {
    double sum_hops = 0, sum_energy = 0;
    for (uint32_t p = 0; p < parts; p++) {
      for (uint32_t q = 0; q < parts; q++) {
        double out = flow[(size_t)p * parts + q], in = flow[(size_t)q * parts + p];
        int mine = partners[p] > partners[q] || (partners[p] == partners[q] && p < q);
        share[q] = way == SOURCE ? out : way == TARGET ? in : way == BOTH ? (out + in) / 2 : mine ? out + in : 0;
      }
      qsort(share, parts, sizeof *share, descending);
      for (uint32_t i = 0; i < parts && share[i] > 0; i++) {
        sum_hops += share[i] * hops[i];
        sum_energy += share[i] * cost[i];
      }
    }
    best_hops = fmax(best_hops, sum_hops);
    best_energy = fmax(best_energy, sum_energy);
  }
  for (uint32_t e = 0; e < nets; e++) {
    uint32_t others = 0;
    for (uint64_t i = first[e]; i < first[e + 1]; i++)
      if (part[pin[i]] != part[source[e]] && seen[part[pin[i]]] != e + 1) {
        seen[part[pin[i]]] = e + 1;
        others++;
      }
    tree += rate[e] * others;
    axons += others > 0 ? rate[e] : 0;
  }
  static const char *const names[] = {"hop_traffic", "energy_pj", "multicast_hops", "multicast_energy_pj"};
  const double truth[] = {best_hops, best_energy + packets * er, tree, axons * er + tree * fmin(er + ew, er + ns)};
  for (int i = 0; i < 4; i++) {
    const char *bound = row("bounds", "\"metric\"", names[i]);
    char what[40];
    snprintf(what, sizeof what, "bound of %s", names[i]);
    same(what, number(bound, "bound"), truth[i]);
    if (number(bound, "value") < truth[i] * (1 - 1e-9))
      wrong("%s lies below its bound", names[i]);
  }
  free(hops);
  free(cost);
  free(share);
  free(partners);
  free(seen);
}

/* ---- a time step ---- */

enum { SENT, RECEIVED, SYNAPSE, NEURON, SPIKE, CHARGES };

static double core_ns(int side_by_side, double receive, double send)
{
  return side_by_side ? fmax(receive, send) : receive + send;
}

/* The busiest core, ports and energy of a step by counting events part by part; then the bounds, by the formulas of
 * docs/explanation/step-time.md. */
static void verify_step(const char *metrics, const char *chip)
{
  static const char *const fields[CHARGES] = {"packet_sent", "packet_received", "synapse", "neuron", "spike"};
  const char *charged = find(chip, "costs");
  int beside = strncmp(find(charged, "side_by_side"), "true", 4) == 0;
  double ns[CHARGES], pj[CHARGES], *count = need((size_t)parts * CHARGES, 8), *in = need(parts, 8), *out = need(parts, 8),
         *input = need(neurons, 8), *send = need(neurons, 8);
  uint32_t *seen = need(parts, 4), usable_cores = 0;
  double total = 0, busiest = 0, port = 0, energy[3] = {0}, least_pj = 0, alone = 0, sends = 0;
  for (int c = 0; c < CHARGES; c++) {
    ns[c] = number(find(charged, fields[c]), "ns");
    pj[c] = number(find(charged, fields[c]), "pj");
  }
  for (uint32_t v = 0; v < neurons; v++) {
    count[(size_t)part[v] * CHARGES + NEURON] += 1;
    send[v] = ns[NEURON];
    least_pj += pj[NEURON];
  }
  for (uint32_t e = 0; e < nets; e++) {
    uint32_t home = part[source[e]];
    count[(size_t)home * CHARGES + SPIKE] += rate[e];
    for (uint64_t i = first[e]; i < first[e + 1]; i++) {
      uint32_t t = part[pin[i]];
      count[(size_t)t * CHARGES + SYNAPSE] += rate[e];
      input[pin[i]] += rate[e];
      total += rate[e];
      if (seen[t] == e + 1)
        continue;
      seen[t] = e + 1;
      count[(size_t)t * CHARGES + RECEIVED] += rate[e];
      count[(size_t)home * CHARGES + SENT] += rate[e];
      in[t] += t != home ? rate[e] : 0;
      out[home] += t != home ? rate[e] : 0;
    }
    double packets = first[e + 1] > first[e] ? rate[e] : 0, targets = (double)(first[e + 1] - first[e]);
    send[source[e]] += ns[SPIKE] * rate[e] + ns[SENT] * packets;
    least_pj += pj[SPIKE] * rate[e] + (pj[SENT] + pj[RECEIVED]) * packets + pj[SYNAPSE] * rate[e] * targets;
  }
  for (uint32_t p = 0; p < parts; p++) {
    const double *n = count + (size_t)p * CHARGES;
    busiest = fmax(busiest, core_ns(beside, ns[RECEIVED] * n[RECEIVED] + ns[SYNAPSE] * n[SYNAPSE],
                                    ns[NEURON] * n[NEURON] + ns[SPIKE] * n[SPIKE] + ns[SENT] * n[SENT]));
    energy[0] += pj[SENT] * n[SENT] + pj[RECEIVED] * n[RECEIVED];
    energy[1] += pj[SYNAPSE] * n[SYNAPSE];
    energy[2] += pj[NEURON] * n[NEURON] + pj[SPIKE] * n[SPIKE];
    port = fmax(port, fmax(in[p], out[p]));
  }
  same("core_ns_max", number(metrics, "core_ns_max"), busiest);
  same("energy_packets_pj", number(metrics, "energy_packets_pj"), energy[0]);
  same("energy_synapses_pj", number(metrics, "energy_synapses_pj"), energy[1]);
  same("energy_neurons_pj", number(metrics, "energy_neurons_pj"), energy[2]);
  same("energy_step_pj", number(metrics, "energy_step_pj"), number(metrics, "energy_pj") + energy[0] + energy[1] + energy[2]);
  same("port_load_max", number(metrics, "port_load_max"), port);
  for (uint32_t v = 0; v < neurons; v++) {
    alone = fmax(alone, core_ns(beside, (ns[RECEIVED] + ns[SYNAPSE]) * input[v], send[v]));
    sends += send[v];
  }
  for (uint32_t c = 0; c < width * height; c++)
    usable_cores += usable[c] != 0;
  double shared = core_ns(beside, ns[RECEIVED] * total / neurons + ns[SYNAPSE] * total / usable_cores, sends / usable_cores);
  same("bound of core_ns_max", number(row("bounds", "\"metric\"", "core_ns_max"), "bound"), fmax(alone, shared));
  same("bound of energy_step_pj", number(row("bounds", "\"metric\"", "energy_step_pj"), "bound"), least_pj);
  free(count);
  free(in);
  free(out);
  free(input);
  free(send);
  free(seen);
}

int main(int argc, char **argv)
{
  size_t size, part_size, placement_size, json_size;
  if (argc < 5)
    wrong("usage: certificate NETWORK.snn CERTIFICATE.json MAPPING.part PLACEMENT.csv [USABLE]");
  char *network = whole(argv[1], &size), *certificate = whole(argv[2], &json_size);
  char *part_text = whole(argv[3], &part_size), *placement = whole(argv[4], &placement_size);
  json = certificate;
  const char *chip = find(json, "chip"), *mapping = find(json, "mapping"), *energy = find(chip, "energy_pj");
  if (sscanf(find(chip, "cores"), "[ %u, %u", &width, &height) != 2 ||
      strtol(find(chip, "cores_per_router") + 1, NULL, 10) != 1 ||
      strncmp(find(chip, "torus") + 1 + strspn(find(chip, "torus") + 1, " \n"), "false", 5) != 0)
    wrong("this program knows meshes with one core behind a router");
  usable = need((size_t)width * height, 1);
  for (uint32_t c = 0; c < width * height; c++)
    usable[c] = argc < 6 || argv[5][c] == '1';
  same_hash("network", find(json, "network"), "sha256", network, size);
  same_hash("usable cores", find(json, "usable"), "sha256", usable, (size_t)width * height);
  same_hash("parts", mapping, "part_sha256", part_text, part_size);
  same_hash("placement", mapping, "placement_sha256", placement, placement_size);
  read_network(network, size);
  read_mapping(part_text, placement);
  same("parts used", number(mapping, "parts"), parts);
  flow = need((size_t)parts * parts, sizeof *flow);
  double er = number(energy, "router"), ew = number(energy, "east_west"), ns = number(energy, "north_south");
  verify_figures(find(json, "metrics"), er, ew, ns);
  verify_bounds(er, ew, ns);
  verify_step(find(json, "metrics"), chip);
  free(flow);
  free(usable);
  free(network);
  free(certificate);
  free(part_text);
  free(placement);
  return 0;
}
