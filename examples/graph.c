/* METIS's arrays in, parts out: a grid of 20 x 20 vertices, of which those of the first row are twice as large.
 * cc graph.c $(pkg-config --cflags --libs coremap) && ./a.out */
#include <coremap/coremap.h>
#include <stdio.h>

enum { SIDE = 20, VERTICES = SIDE * SIDE };

int main(void)
{
  static uint64_t first[VERTICES + 1];
  static uint32_t neighbour[4 * VERTICES], size[VERTICES];
  uint64_t edges = 0, count;
  for (uint32_t v = 0; v < VERTICES; v++) {
    if (v >= SIDE) neighbour[edges++] = v - SIDE;
    if (v % SIDE > 0) neighbour[edges++] = v - 1;
    if (v % SIDE < SIDE - 1) neighbour[edges++] = v + 1;
    if (v < VERTICES - SIDE) neighbour[edges++] = v + SIDE;
    first[v + 1] = edges;
    size[v] = v < SIDE ? 2 : 1;
  }
  coremap_error *error = NULL;
  coremap_network *graph = NULL;
  coremap_partition *partition = NULL;
  double cut;
  if (coremap_network_from_graph(VERTICES, first, neighbour, NULL, &graph, &error) != 0 ||
      coremap_network_set_sizes(graph, size, &error) != 0 ||
      coremap_partition_make(graph, NULL, "{\"parts\": 4, \"max_part_size\": 108}", NULL, NULL, &partition, &error) != 0 ||
      coremap_partition_metric(partition, "edge_cut", &cut, &error) != 0) {
    fprintf(stderr, "%s\n", coremap_error_detail(error));
    return 1;
  }
  const uint32_t *part = coremap_partition_parts(partition, &count);
  printf("%llu vertices, %g edges cut; vertex 0 is in part %u\n", (unsigned long long)count, cut, part[0]);
  coremap_partition_free(partition);
  coremap_network_free(graph);
  return 0;
}
