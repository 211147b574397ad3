/* What a policy is trained on: networks of a folder cut into parts, and graphs drawn at random, on every chip. */
#include "library/training_set.h"

#include <dirent.h>
#include <errno.h>

#include "base/file.h"
#include "core/network/import.h"

enum { NAMES_MAX = 1000 };

/* How a chip is filled for example number k of it: wholly, or with a part of its cores taken. */
static uint32_t nodes_for(const cm_chip *chip, uint32_t k, double *taken)
{
  static const double fill[] = {1, 0.8, 0.9, 0.7};
  *taken = k % 2 == 0 ? 0 : 0.15;
  double nodes = fill[k / 2 % 4] * (1 - *taken) * cm_chip_cores(chip);
  return nodes < 4 ? 4 : (uint32_t)nodes;
}

/* Takes over the traffic, on failure too. */
static cm_status add(library_training_set *s, const char *name, const cm_example_site *site, cm_example_traffic *traffic,
                     cm_error *error)
{
  char full[128];
  (void)snprintf(full, sizeof full, "%.40s %u %s", name, (unsigned)(site->seed - s->seed), site->chip->name);
  cm_status status = s->examples == LIBRARY_EXAMPLES_MAX
                       ? cm_fail(error, CM_TOO_LARGE, "more than %d graphs to train on", LIBRARY_EXAMPLES_MAX)
                       : cm_example_new(full, traffic, site, s->run, &s->example[s->examples], error);
  s->examples += status == CM_OK;
  if (status != CM_OK) {
    cm_flows_free(traffic->flows);
    cm_multicast_free(&traffic->multicast);
  }
  return status;
}

static cm_status draw(library_training_set *s, const cm_chip *chip, cm_error *error)
{
  for (uint32_t k = 0; k < s->generated; k++) {
    cm_example_site site = {.chip = chip, .seed = s->seed + k};
    cm_example_traffic traffic = {0};
    uint32_t nodes = nodes_for(chip, k / CM_FAMILIES, &site.taken);
    CM_TRY(cm_example_draw((cm_family)(k % CM_FAMILIES), nodes, s->seed + 7919 * (uint64_t)k, s->run, &traffic.flows, error));
    /* the letter's reward counts trees */
    if (s->trees && cm_example_cast(traffic.flows, s->seed + k, s->run, &traffic.multicast, error) != CM_OK) {
      cm_flows_free(traffic.flows);
      return error->status;
    }
    CM_TRY(add(s, "generated", &site, &traffic, error));
  }
  return CM_OK;
}

static cm_status read_network(library_training_set *s, const char *name, uint32_t number, cm_error *error)
{
  char path[CM_PATH_MAX];
  cm_import_limits limits = cm_import_limits_default();
  cm_import_report report;
  cm_topology *topology;
  CM_TRY(cm_path(path, error, "%s/%s", s->graphs, name));
  CM_TRY(cm_import(path, &limits, s->run, &topology, &report, error));
  const cm_demand demand = cm_demand_of(topology);
  cm_status status = CM_OK;
  for (uint32_t c = 0; c < s->chips && status == CM_OK; c++) {
    cm_example_site site = {.chip = s->chip[c], .seed = s->seed + number};
    cm_example_traffic traffic;
    uint32_t parts = nodes_for(s->chip[c], number + c, &site.taken);
    status = cm_example_partition(&demand, parts, s->seed, s->run, &traffic, error);
    CM_THEN(status, add(s, name, &site, &traffic, error));
  }
  cm_topology_free(topology);
  return status;
}

static int by_name(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The networks of the folder, in the order of their names. */
static cm_status read_folder(library_training_set *s, cm_error *error)
{
  DIR *folder = opendir(s->graphs);
  char *name[NAMES_MAX];
  uint32_t names = 0;
  if (folder == NULL)
    return cm_fail_errno(error, errno, "cannot read the folder", s->graphs);
  cm_status status = CM_OK;
  for (struct dirent *entry; status == CM_OK && (entry = readdir(folder)) != NULL;) {
    if (entry->d_name[0] == '.')
      continue;
    if (names == NAMES_MAX)
      status = cm_fail(error, CM_TOO_LARGE, "more than %d files in %s", NAMES_MAX, s->graphs);
    else if ((status = cm_whole((name[names] = strdup(entry->d_name)) != NULL, "names", error)) == CM_OK)
      names++;
  }
  closedir(folder);
  qsort(name, names, sizeof *name, by_name);
  for (uint32_t i = 0; i < names; i++) {
    CM_THEN(status, read_network(s, name[i], i, error));
    free(name[i]);
  }
  return status;
}

/* A grid WxH, or a chip by name or path. */
static cm_status open_chip(const char *word, cm_chip **chip, cm_error *error)
{
  unsigned width, height;
  int used = 0;
  if (sscanf(word, "%5ux%5u%n", &width, &height, &used) != 2)
    return cm_chip_open(word, chip, error);
  if (word[used] != '\0')
    return cm_fail(error, CM_BAD_CHIP, "grid \"%s\" is not of the form WIDTHxHEIGHT, like 16x16", word);
  return cm_chip_mesh(width, height, chip, error);
}

static cm_status open_chips(library_training_set *s, cm_error *error)
{
  char list[CM_PATH_MAX], *rest = list, *word;
  CM_TRY(cm_path(list, error, "%s", s->chip_names));
  while ((word = strsep(&rest, ",")) != NULL) {
    if (s->chips == LIBRARY_TRAINING_CHIPS_MAX)
      return cm_fail(error, CM_TOO_LARGE, "more than %d chips", LIBRARY_TRAINING_CHIPS_MAX);
    CM_TRY(open_chip(word, &s->chip[s->chips], error));
    s->chips++;
  }
  return CM_OK;
}

cm_status library_training_set_make(library_training_set *s, cm_error *error)
{
  cm_run_phase(s->run, "graphs");
  CM_TRY(CM_NEW(s->run->memory, s->example, LIBRARY_EXAMPLES_MAX, error));
  CM_TRY(open_chips(s, error));
  for (uint32_t c = 0; c < s->chips; c++)
    CM_TRY(draw(s, s->chip[c], error));
  return s->graphs != NULL ? read_folder(s, error) : CM_OK;
}

void library_training_set_free(library_training_set *s)
{
  for (uint32_t i = 0; i < s->examples; i++)
    cm_example_free(s->example[i]);
  cm_free(s->example);
  for (uint32_t c = 0; c < s->chips; c++)
    cm_chip_free(s->chip[c]);
}
