/* hMETIS's arrays in, cores out, beside others on the chip: nets over a ring, every third of which fires ten times as often.
 * cc hypergraph.c $(pkg-config --cflags --libs coremap) && ./a.out */
#include <coremap/coremap.h>
#include <stdio.h>

enum { VERTICES = 300, PINS = 6 };

int main(void)
{
  static uint64_t first[VERTICES + 1];
  static uint32_t pin[VERTICES * PINS];
  static double rate[VERTICES];
  static uint8_t state[64]; /* of an 8 x 8 chip */
  for (uint32_t e = 0; e < VERTICES; e++) {
    rate[e] = e % 3 == 0 ? 10 : 1;
    for (uint32_t k = 0; k < PINS; k++)
      pin[e * PINS + k] = (e + k) % VERTICES; /* its source first */
    first[e + 1] = (e + 1) * PINS;
  }
  for (uint32_t core = 0; core < 32; core++)
    state[core] = COREMAP_CORE_TAKEN; /* the upper half */
  coremap_error *error = NULL;
  coremap_network *network = NULL;
  coremap_chip *chip = NULL;
  coremap_mapping *mapping = NULL;
  if (coremap_network_from_nets(VERTICES, VERTICES, first, pin, rate, &network, &error) != 0 ||
      coremap_chip_mesh(8, 8, NULL, &chip, &error) != 0 || coremap_chip_set_cores(chip, state, &error) != 0 ||
      coremap_map(network, chip, "{\"max_part_size\": 16}", NULL, NULL, &mapping, &error) != 0) {
    fprintf(stderr, "%s\n", coremap_error_detail(error));
    return 1;
  }
  uint64_t parts;
  const int32_t *xy = coremap_mapping_places(mapping, &parts);
  printf("%llu parts; the first is on core (%d, %d)\n", (unsigned long long)parts, xy[0], xy[1]);
  coremap_mapping_free(mapping);
  coremap_network_free(network);
  coremap_chip_free(chip);
  return 0;
}
