/* coremap show: networks. */
#include <jansson.h>

#include "cli/show.h"

enum { POPULATIONS_SHOWN = 40 };

static void show_degrees(const char *name, const json_t *degrees)
{
  if (degrees != NULL)
    cli_printf(stdout, "  %-16s median %.0f, largest %.0f\n", name, cli_number(degrees, "median"), cli_number(degrees, "largest"));
}

static void show_populations(const json_t *populations)
{
  const json_t *p;
  size_t i, count = json_array_size(populations);
  json_array_foreach(populations, i, p)
    if (i < POPULATIONS_SHOWN)
      cli_printf(stdout, "  %-16s %s, %.0f neurons%s%s\n", i == 0 ? "populations" : "", cli_text(p, "name"), cli_number(p, "neurons"),
             cli_text(p, "kind")[0] != '\0' ? ", " : "", cli_text(p, "kind"));
  if (count > POPULATIONS_SHOWN)
    cli_printf(stdout, "  %-16s and %zu more\n", "", count - POPULATIONS_SHOWN);
}

/* Models and parameters: of each one number, or its mean and range. */
static void show_dynamics(const json_t *dynamics)
{
  const json_t *m, *value;
  const char *name;
  size_t i, count = json_array_size(json_object_get(dynamics, "models"));
  json_array_foreach(json_object_get(dynamics, "models"), i, m) {
    const char *separator = ": ";
    if (i >= POPULATIONS_SHOWN)
      break;
    cli_printf(stdout, "  %-16s %s%s%s, %.0f neurons", i == 0 ? "models" : "", cli_text(m, "population"),
               cli_text(m, "population")[0] != '\0' ? ", " : "", cli_text(m, "model"), cli_number(m, "neurons"));
    json_object_foreach((json_t *)json_object_get(m, "parameters"), name, value) {
      const double least = cli_number(value, "least"), most = cli_number(value, "most");
      if (least == most)
        cli_printf(stdout, "%s%s %g", separator, name, least);
      else
        cli_printf(stdout, "%s%s %g (%g to %g)", separator, name, cli_number(value, "mean"), least, most);
      separator = ", ";
    }
    cli_printf(stdout, "\n");
  }
  if (count > POPULATIONS_SHOWN)
    cli_printf(stdout, "  %-16s and %zu more\n", "", count - POPULATIONS_SHOWN);
  if (cli_number(dynamics, "parallel") > 0)
    cli_printf(stdout, "  %-16s %s of another delay beside the first of two neurons\n", "parallel",
               cli_count(cli_number(dynamics, "parallel"), "synapse").text);
}

/* Texts of an array behind each other. */
static void show_texts(const char *name, const json_t *texts, const char *more)
{
  const json_t *text;
  size_t i;
  if (json_array_size(texts) == 0)
    return;
  cli_printf(stdout, "  %-16s ", name);
  json_array_foreach(texts, i, text)
    cli_printf(stdout, "%s%s", i > 0 ? ", " : "", json_string_value(text));
  cli_printf(stdout, "%s\n", more);
}

/* What was understood of the file, so that a wrong reading shows before a job. */
static void show_reading(const json_t *n)
{
  const json_t *reading = json_object_get(n, "reading"), *row;
  size_t i;
  if (cli_text(reading, "why")[0] != '\0')
    cli_printf(stdout, "  %-16s %s, by %s; %s, ids are %s\n", "read as", cli_text(n, "format"), cli_text(reading, "why"),
               json_is_true(json_object_get(n, "directed")) ? "directed" : "undirected", cli_text(reading, "ids"));
  show_texts("columns", json_object_get(reading, "columns"), json_is_true(json_object_get(reading, "header")) ? ", by a header" : ", by their order");
  show_texts("ignored", json_object_get(reading, "ignored"), "");
  json_array_foreach(json_object_get(reading, "rows"), i, row) {
    cli_printf(stdout, "  %-16s %s %s %s, weight %g", i == 0 ? "first rows" : "", cli_text(row, "source"),
               json_is_true(json_object_get(n, "directed")) ? "->" : "--", cli_text(row, "target"), cli_number(row, "weight"));
    if (json_object_get(row, "delay") != NULL)
      cli_printf(stdout, ", delay %g ms", cli_number(row, "delay"));
    cli_printf(stdout, "\n");
  }
}

static void show_topology(const json_t *n)
{
  const json_t *read = json_object_get(n, "report");
  const bool directed = json_is_true(json_object_get(n, "directed"));
  cli_printf(stdout, "network, %s%s, %s\n", cli_text(n, "format"), json_is_true(json_object_get(n, "gzipped")) ? " gzipped" : "",
         cli_count(cli_number(n, "bytes"), "byte").text);
  cli_printf(stdout, "  %-16s %.0f (total size %.0f)%s\n", "neurons", cli_number(n, "neurons"), cli_number(n, "size"),
         json_is_true(json_object_get(n, "labels")) ? ", named" : "");
  cli_printf(stdout, "  %-16s %.0f\n", directed ? "synapses" : "edges", cli_number(n, "synapses"));
  if (directed)
    cli_printf(stdout, "  %-16s %.0f\n", "hyperedges", cli_number(n, "hyperedges"));
  show_degrees(directed ? "fan-out" : "degree", json_object_get(n, "fan_out"));
  if (directed)
    show_degrees("fan-in", json_object_get(n, "fan_in"));
  if (cli_number(n, "inputs") > 0)
    cli_printf(stdout, "  %-16s %.0f\n", "inputs", cli_number(n, "inputs"));
  if (json_is_true(json_object_get(n, "signs")) || cli_number(read, "zeros") > 0)
    cli_printf(stdout, "  %-16s %s, %.0f of weight 0\n", "inhibitory", cli_count(cli_number(n, "inhibitory"), "synapse").text, cli_number(read, "zeros"));
  show_populations(json_object_get(n, "populations"));
  show_dynamics(json_object_get(n, "dynamics"));
  show_reading(n);
  if (cli_number(read, "duplicates") + cli_number(read, "self_loops") + cli_number(read, "empty_nets") > 0)
    cli_printf(stdout, "  %-16s %s merged, %s %s, %s dropped\n", "cleaned", cli_count(cli_number(read, "duplicates"), "duplicate").text,
           cli_count(cli_number(read, "self_loops"), "self loop").text, directed ? "kept" : "dropped",
           cli_count(cli_number(read, "empty_nets"), "empty hyperedge").text);
}

/* The same for programs. */
static void print_topology(json_t *network)
{
  (void)json_object_del(network, "plain_bytes");
  (void)json_object_del(network, "signs");
  cli_print_json(network);
}

int cli_show_network(const char *path, const char *format, bool json, const cm_error *as_model, cm_error *error)
{
  cli_run cli;
  coremap_network *network;
  char *text;
  cli_run_begin_silent(&cli);
  cm_status status = cli_network(path, format, false, &cli.run, &network, error);
  cli_run_end(&cli);
  if (status != CM_OK)
    return cli_fail(as_model != NULL ? as_model : error);
  status = library_status(coremap_network_about(network, !json, &text, &cli_why), &cli_why, error);
  coremap_network_free(network);
  if (status != CM_OK)
    return cli_fail(error);
  json_t *about = library_json(text);
  if (json)
    print_topology(about);
  else
    show_topology(about);
  json_decref(about);
  return EXIT_DONE;
}
