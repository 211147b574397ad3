/* Options one by one, metrics as numbers: two presets compared on a ring with chords.
 * cc metrics.c $(pkg-config --cflags --libs coremap) && ./a.out */
#include <coremap/coremap.h>
#include <stdio.h>

enum { NEURONS = 120 };

int main(void)
{
  static uint32_t from[2 * NEURONS], to[2 * NEURONS];
  for (uint32_t v = 0; v < NEURONS; v++) {
    from[2 * v] = from[2 * v + 1] = v;
    to[2 * v] = (v + 2) % NEURONS;
    to[2 * v + 1] = v * 37 % NEURONS;
  }
  coremap_error *error = NULL;
  coremap_network *network = NULL;
  coremap_chip *chip = NULL;
  coremap_options *options = NULL;
  int bad = coremap_network_from_edges(NEURONS, 2 * NEURONS, from, to, NULL, 1, &network, &error) ||
            coremap_chip_open("loihi1", NULL, &chip, &error) || coremap_options_new("map", &options, &error) ||
            coremap_options_set_count(options, "max_part_size", 25, &error);
  for (int best = 0; !bad && best < 2; best++) {
    coremap_mapping *mapping = NULL;
    double energy, hops;
    bad = coremap_options_set_text(options, "preset", best ? "best" : "fast", &error) ||
          coremap_map(network, chip, coremap_options_text(options), NULL, NULL, &mapping, &error) ||
          coremap_mapping_metric(mapping, "energy_pj", &energy, &error) || coremap_mapping_metric(mapping, "hop_traffic", &hops, &error);
    if (!bad)
      printf("%s: %.0f pJ, %.0f packets * hops\n", best ? "best" : "fast", energy, hops);
    coremap_mapping_free(mapping);
  }
  if (bad)
    fprintf(stderr, "%s\n", coremap_error_detail(error));
  coremap_options_free(options);
  coremap_network_free(network);
  coremap_chip_free(chip);
  return bad != 0;
}
