/* coremap show: networks. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/show.h"
#include "base/order.h"

enum { POPULATIONS_SHOWN = 40 };

static void show_degrees(const char *name, uint32_t *degree, uint32_t count)
{
  qsort(degree, count, sizeof *degree, cm_ascending);
  printf("  %-16s median %u, largest %u\n", name, degree[count / 2], degree[count - 1]);
}

static cm_status show_topology(const cm_topology *t, const cm_import_report *report, cm_error *error)
{
  uint32_t *in = NULL, *out = NULL;
  if (CM_NEW(NULL, in, t->vertex_count, error) != CM_OK || CM_NEW(NULL, out, t->vertex_count, error) != CM_OK) {
    cm_free(in);
    return error->status;
  }
  for (uint32_t e = 0; e < t->net_count; e++) {
    out[cm_topology_source(t, e)] += (uint32_t)(t->net_first[e + 1] - t->net_first[e]);
    for (uint64_t i = t->net_first[e]; i < t->net_first[e + 1]; i++)
      in[t->pin[i]]++;
  }
  printf("network, %s%s, %llu bytes\n", report->format, report->gzipped ? " gzipped" : "",
         (unsigned long long)report->bytes);
  printf("  %-16s %u (total size %llu)%s\n", "neurons", t->vertex_count, (unsigned long long)t->size_total,
         t->label_text != NULL ? ", named" : "");
  printf("  %-16s %llu\n", t->directed ? "synapses" : "edges", (unsigned long long)cm_topology_synapses(t));
  if (t->directed)
    printf("  %-16s %llu\n", "hyperedges", (unsigned long long)cm_topology_hyperedges(t));
  if (t->vertex_count > 0) {
    show_degrees(t->directed ? "fan-out" : "degree", out, t->vertex_count);
    if (t->directed)
      show_degrees("fan-in", in, t->vertex_count);
  }
  if (cm_topology_inputs(t) > 0)
    printf("  %-16s %u\n", "inputs", cm_topology_inputs(t));
  if (t->pin_negative != NULL || t->zero_count > 0)
    printf("  %-16s %llu synapses, %llu of weight 0\n", "inhibitory", (unsigned long long)cm_topology_negatives(t),
           (unsigned long long)t->zero_count);
  for (uint32_t p = 0; p < t->population_count && p < POPULATIONS_SHOWN; p++) {
    uint32_t neurons = 0;
    for (uint32_t v = 0; v < t->vertex_count; v++)
      neurons += t->population_of[v] == p;
    printf("  %-16s %s, %u neurons%s%s\n", p == 0 ? "populations" : "", t->population[p].name, neurons,
           t->population[p].kind[0] != '\0' ? ", " : "", t->population[p].kind);
  }
  if (t->population_count > POPULATIONS_SHOWN)
    printf("  %-16s and %u more\n", "", t->population_count - POPULATIONS_SHOWN);
  if (t->duplicate_count + t->self_loop_count + t->empty_net_count > 0)
    printf("  %-16s %llu duplicates merged, %llu self loops %s, %u empty hyperedges dropped\n", "cleaned",
           (unsigned long long)t->duplicate_count, (unsigned long long)t->self_loop_count,
           t->directed ? "kept" : "dropped", t->empty_net_count);
  cm_free(in);
  cm_free(out);
  return CM_OK;
}

/* The same for programs. */
static void print_topology(const cm_topology *t, const cm_import_report *report)
{
  json_t *populations = json_array(), *made;
  uint64_t *neurons = calloc(t->population_count + 1, sizeof *neurons);
  for (uint32_t v = 0; neurons != NULL && t->population_of != NULL && v < t->vertex_count; v++)
    neurons[t->population_of[v]]++;
  for (uint32_t p = 0; neurons != NULL && p < t->population_count; p++)
    (void)json_array_append_new(populations, json_pack("{s:s, s:s, s:I}", "name", t->population[p].name, "kind",
                                                       t->population[p].kind, "neurons", (json_int_t)neurons[p]));
  free(neurons);
  made = json_pack(
      "{s:s, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:o, s:{s:I, s:I, s:I, s:I}}", "format", report->format, "gzipped",
      report->gzipped, "directed", t->directed, "bytes", (json_int_t)report->bytes, "neurons", (json_int_t)t->vertex_count,
      "inputs", (json_int_t)cm_topology_inputs(t), "synapses", (json_int_t)cm_topology_synapses(t), "hyperedges",
      (json_int_t)cm_topology_hyperedges(t), "labels", t->label_text != NULL, "delays", t->pin_delay != NULL, "populations",
      populations, "report", "duplicates", (json_int_t)t->duplicate_count, "self_loops", (json_int_t)t->self_loop_count,
      "empty_nets", (json_int_t)t->empty_net_count, "zeros", (json_int_t)t->zero_count);
  (void)json_object_set_new(made, "inhibitory", json_integer((json_int_t)cm_topology_negatives(t)));
  cli_print_json(made);
  json_decref(made);
}

int cli_show_network(const char *path, const char *format, bool json, const cm_error *as_model, cm_error *error)
{
  cli_run cli;
  cm_topology *topology;
  cm_import_report report;
  cli_run_begin(&cli, true);
  cm_status status = cli_import(path, format, &cli.run, &topology, &report, error);
  if (status != CM_OK)
    return cli_fail(as_model != NULL ? as_model : error);
  if (json)
    print_topology(topology, &report);
  else
    status = show_topology(topology, &report, error);
  cm_topology_free(topology);
  return status == CM_OK ? EXIT_DONE : cli_fail(error);
}
