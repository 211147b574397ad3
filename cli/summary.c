/* What matters of a mapping, in five lines for people, and the choice between few cores and short steps. */

#include "cli/job.h"

cm_phrase cli_quantity(double value, const char *unit)
{
  static const char *const of_ns[] = {"ns", "us", "ms", "s"}, *const of_pj[] = {"pJ", "nJ", "uJ", "mJ"};
  int step = 0;
  for (; step < 3 && value >= 999.5; step++)
    value /= 1000;
  return cm_say("%.3g %s", value, (unit[0] == 'n' ? of_ns : of_pj)[step]);
}

/* How far above a bound, in words: never above it by rounding alone, in times where per cent say nothing, and above 0 by no number of times. */
static cm_phrase above(double value, double bound)
{
  static const double same = 1e-9, times = 2;
  if (value <= bound * (1 + same))
    return cm_say("as proved least");
  if (value < bound * times)
    return cm_say("%.2g %% above the bound", 100 * (value / bound - 1));
  return bound > 0 ? cm_say("%.3g times the bound", value / bound) : cm_say("above the bound");
}

void cli_print_steps(const json_t *report)
{
  const json_t *bound = json_object_get(report, "step_bound"), *pareto = json_object_get(report, "pareto"), *p;
  size_t i;
  if (bound != NULL)
    cli_printf(stdout, "step bound  no partition on these cores has a busiest core below %.10g ns; this one's is %s\n", cli_number(bound, "ns"),
           above(1 + cli_number(bound, "gap_percent") / 100, 1).text);
  if (json_object_get(bound, "fixed_ns") != NULL)
    cli_printf(stdout, "            %.10g ns of a step no partition changes: the barrier, and all spikes one after another\n", cli_number(bound, "fixed_ns"));
  if (pareto == NULL)
    return;
  cli_printf(stdout, "%8s %14s %14s %18s %18s %6s\n", "pareto", "core ns", "step ns", "network energy pJ", "energy of step pJ", "cores");
  json_array_foreach(json_object_get(pareto, "points"), i, p)
    cli_printf(stdout, "%7.0f%c %14.6g %14.6g %18.6g %18.6g %6.0f\n", cli_number(p, "number"),
           cli_number(p, "number") == cli_number(pareto, "chosen") ? '*' : ' ', cli_number(p, "core_ns_max"),
           cli_number(p, "step_ns"), cli_number(p, "energy_network_pj"), cli_number(p, "energy_step_pj"), cli_number(p, "parts"));
  bound = json_object_get(pareto, "bound");
  cli_printf(stdout, "%7s  %14.6g %14s %18.6g %18.6g\n", "bound", cli_number(bound, "core_ns"), "", cli_number(bound, "energy_network_pj"),
         cli_number(bound, "energy_step_pj"));
}

void cli_print_rates(const json_t *report)
{
  static const char *const names[] = {"spikes", "packets_in", "packets_out"};
  const json_t *rates = json_object_get(report, "rates"), *one = json_object_get(rates, "for_one"), *ours = json_object_get(rates, "for_measured"),
               *steps = json_object_get(report, "steps"), *at;
  char words[40];
  if (rates != NULL) {
    cli_printf(stdout, "rates       measured; %s silent; a mapping for rates of 1 has", cli_count(cli_number(rates, "silent"), "axon").text);
    cli_printf(stdout, " a step of %s and %.4g packets between cores, one for these", cli_quantity(cli_number(one, "step_ns"), "ns").text,
               cli_number(one, "connectivity"));
    cli_printf(stdout, " %s and %.4g: this is the %s\n", cli_quantity(cli_number(ours, "step_ns"), "ns").text, cli_number(ours, "connectivity"),
               strcmp(cli_text(rates, "kept"), "for_one") == 0 ? "former" : "latter");
  }
  if (steps == NULL)
    return;
  cli_printf(stdout, "steps       %s in the mean,", cli_quantity(cli_number(steps, "mean_ns"), "ns").text);
  cli_printf(stdout, " 99 %% within %s,", cli_quantity(cli_number(steps, "p99_ns"), "ns").text);
  cli_printf(stdout, " the longest %s, step %.0f\npeaks      ", cli_quantity(cli_number(steps, "worst_ns"), "ns").text, cli_number(steps, "worst_step"));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    at = json_object_get(json_object_get(steps, "peaks"), names[i]);
    cli_printf(stdout, "%s %.0f %s of core (%.0f, %.0f) in step %.0f", i > 0 ? "," : "", cli_number(at, "most"), cli_job_words(names[i], words),
               cli_number(at, "x"), cli_number(at, "y"), cli_number(at, "step"));
  }
  cli_printf(stdout, "\n");
}

static const json_t *choice_of(const json_t *choices, double cores)
{
  const json_t *row;
  size_t i;
  json_array_foreach(json_object_get(choices, "points"), i, row)
    if (cli_number(row, "cores") == cores)
      return row;
  return NULL;
}

/* The point with at most half of the mapping's cores, and most of those. */
static const json_t *fewer(const json_t *choices, double cores)
{
  const json_t *row, *found = NULL;
  size_t i;
  json_array_foreach(json_object_get(choices, "points"), i, row)
    found = 2 * cli_number(row, "cores") <= cores ? row : found;
  return found;
}

/* From where on packets that wait for each other, not cores, make a step what it is. */
static const double waits = 1.25;

/* Copies made in routers, where a step waits for links that would pass less than half then. */
static bool print_trees(const cli_job *job, const json_t *metrics)
{
  const double one_by_one = cli_number(metrics, "link_load_max"), trees = cli_number(metrics, "multicast_link_load_max");
  if (cli_number(metrics, "step_ns") < waits * cli_number(metrics, "step_ideal_ns") || 2 * trees > one_by_one ||
      strcmp(cli_text(job->line.options, "traffic_model"), "multicast") == 0)
    return false;
  cli_printf(stdout, "next        --traffic-model multicast: the fullest link passes %.0f packets a step, %.0f now\n", trees, one_by_one);
  return true;
}

static void print_next(const cli_job *job, const json_t *made, const json_t *choices)
{
  const json_t *metrics = json_object_get(made, "metrics"), *knee = choice_of(choices, cli_number(choices, "knee"));
  double cores = cli_number(made, "parts"), step = cli_number(metrics, "step_ns");
  bool shorter = knee != NULL && cli_number(knee, "cores") > cores && cli_number(knee, "step_ns") < 0.9 * step &&
                 strcmp(cli_text(job->line.options, "objective"), "knee") != 0;
  const json_t *row = shorter ? knee : fewer(choices, cores);
  if (row == NULL) {
    cli_printf(stdout, "next        --preset best: longer search, fewer packets\n");
    return;
  }
  cli_printf(stdout, "next        ");
  if (shorter)
    cli_printf(stdout, "--objective knee");
  else
    cli_printf(stdout, "--objective time --cores %.0f", cli_number(row, "cores"));
  cli_printf(stdout, ": about %.0f cores, a step of %s and %s\n", cli_number(row, "cores"), cli_quantity(cli_number(row, "step_ns"), "ns").text,
             cli_quantity(cli_number(row, "energy_step_pj"), "pJ").text);
}

void cli_print_choices(const json_t *choices)
{
  const json_t *row;
  size_t i;
  json_array_foreach(json_object_get(choices, "points"), i, row) {
    cli_printf(stdout, "%s%12s: a step of about %s, proved %s at least", i == 0 ? "choices  " : "         ", cli_count(cli_number(row, "cores"), "core").text,
               cli_quantity(cli_number(row, "step_ns"), "ns").text, cli_quantity(cli_number(row, "bound_step_ns"), "ns").text);
    cli_printf(stdout, ", and %s, proved %s\n", cli_quantity(cli_number(row, "energy_step_pj"), "pJ").text,
               cli_quantity(cli_number(row, "bound_energy_step_pj"), "pJ").text);
  }
}

static void print_fullest(const json_t *limits)
{
  const char *name, *fullest = NULL;
  const json_t *row;
  double most = 0, filled;
  char words[40];
  json_object_foreach((json_t *)(uintptr_t)limits, name, row)
    if (strcmp(name, "cores") != 0 && (filled = cli_number(row, "most") / cli_number(row, "limit")) > most) {
      most = filled;
      fullest = name;
    }
  if (fullest == NULL) {
    cli_printf(stdout, "limit       the chip states none\n");
    return;
  }
  row = json_object_get(limits, fullest);
  cli_printf(stdout, "limit       %s: %.0f of %.0f in the fullest core\n", cli_job_words(fullest, words), cli_number(row, "most"), cli_number(row, "limit"));
}

void cli_print_summary(const cli_job *job, const json_t *made)
{
  const json_t *metrics = json_object_get(made, "metrics"), *report = json_object_get(made, "report"), *choices = json_object_get(report, "choices"),
               *bound = json_object_get(made, "bound");
  const json_t *proved = json_object_get(report, "step_bound");
  double step = cli_number(metrics, "step_ns"), least = cli_number(proved, "ns") + cli_number(proved, "fixed_ns"),
         energy = cli_number(metrics, "energy_step_pj"), hops = cli_number(metrics, "energy_pj"),
         least_pj = cli_number(json_array_get(json_object_get(choices, "points"), 0), "bound_energy_step_pj");
  if (choices == NULL) /* costs of steps are units here, and say nothing to people */
    return;
  cli_printf(stdout, "cores       %.0f, at least %.0f: %s\n", cli_number(made, "parts"), cli_number(bound, "parts"), cli_text(bound, "reason"));
  cli_printf(stdout, "step        %s", cli_quantity(step, "ns").text);
  if (least > 0)
    cli_printf(stdout, ", %s of %s", above(step, least).text, cli_quantity(least, "ns").text);
  if (step >= waits * cli_number(metrics, "step_ideal_ns"))
    cli_printf(stdout, "; %s if no packet waited for another", cli_quantity(cli_number(metrics, "step_ideal_ns"), "ns").text);
  cli_printf(stdout, "\nenergy      %s a step, %s of %s", cli_quantity(energy, "pJ").text, above(energy, least_pj).text, cli_quantity(least_pj, "pJ").text);
  cli_printf(stdout, "; hops are %s of it\n", cli_quantity(hops, "pJ").text);
  print_fullest(json_object_get(made, "limits"));
  if (!print_trees(job, metrics))
    print_next(job, made, choices);
}
