/* A program of one's own with the library: rows of synapses in, parts and cores out.
 * cc embed.c $(pkg-config --cflags --libs coremap) && ./a.out */
#include <coremap/coremap.h>
#include <stdio.h>

enum { NEURONS = 600, FAN_OUT = 8 };

static int fail(coremap_error *error)
{
  fprintf(stderr, "%s: %s\n", coremap_error_code(error), coremap_error_detail(error));
  coremap_error_free(error);
  return 1;
}

int main(void)
{
  static uint64_t first[NEURONS + 1];
  static uint32_t target[NEURONS * FAN_OUT];
  for (uint32_t v = 0; v < NEURONS; v++) { /* a ring in which everyone talks to the next eight */
    first[v + 1] = first[v] + FAN_OUT;
    for (uint32_t k = 0; k < FAN_OUT; k++)
      target[first[v] + k] = (v + k + 1) % NEURONS;
  }
  coremap_error *error = NULL;
  coremap_network *network = NULL;
  coremap_chip *chip = NULL;
  coremap_mapping *mapping = NULL;
  if (coremap_network_from_csr(NEURONS, first, target, NULL, &network, &error) != 0 ||
      coremap_chip_open("loihi1", NULL, &chip, &error) != 0 ||
      coremap_map(network, chip, "{\"max_part_size\": 64}", NULL, NULL, &mapping, &error) != 0)
    return fail(error);
  uint64_t neurons, parts;
  const uint32_t *part = coremap_mapping_parts(mapping, &neurons);
  const int32_t *xy = coremap_mapping_places(mapping, &parts);
  printf("%llu neurons on %llu cores; neuron 0 is on core (%d, %d)\n", (unsigned long long)neurons, (unsigned long long)parts,
         xy[2 * part[0]], xy[2 * part[0] + 1]);
  coremap_mapping_free(mapping);
  coremap_network_free(network);
  coremap_chip_free(chip);
  return 0;
}
