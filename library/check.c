/* The independent check of a mapping, and of what stands beside it. */
#include "base/json.h"
#include "core/machine/tiles/tiles.h"
#include "core/output/checking.h"
#include "core/output/views.h"
#include "library/check_again.h"
#include "core/output/pareto_files.h"
#include "library/internal.h"
#include "library/private/base.h"
#include "library/private/stored.h"

/* What is asked for; paths, "": not. */
typedef struct beside {
  char certificate[CM_PATH_MAX], routes[CM_PATH_MAX], units[CM_PATH_MAX], program[CM_PATH_MAX];
  bool again;
} beside;

typedef struct checking {
  const char *path;
  const beside *beside;
  coremap_network *measured; /* the network at the mapping's rates, or with its copies; NULL: it is that itself */
  cm_demand demand;       /* of the network, as the mapping's options and the chip make it */
  cm_check_context given; /* that and the rest */
  cm_check_result result;
  char difference[CM_ERROR_DETAIL_MAX]; /* from the program; "": none */
} checking;

static cm_status read_beside(json_t *object, beside *b, cm_error *error)
{
  const json_t *again = json_object_get(object, "again");
  if (again != NULL && !json_is_boolean(again))
    return cm_option_refuse(error, "again", "true or false");
  b->again = json_is_true(again);
  (void)json_object_del(object, "again");
  if (library_take_text(object, "certificate", b->certificate, error) != CM_OK || library_take_text(object, "routes", b->routes, error) != CM_OK ||
      library_take_text(object, "units", b->units, error) != CM_OK || library_take_text(object, "program", b->program, error) != CM_OK)
    return error->status;
  return library_nothing_left(object, "checking a mapping", error);
}

static cm_status check_again(checking *c, cm_error *error)
{
  char scratch[CM_PATH_MAX];
  cm_error ignored;
  CM_TRY(cm_folder_scratch(scratch, error));
  cm_status status = cm_check_again(c->path, &c->given, scratch, &c->result, error);
  (void)cm_folder_remove(scratch, &ignored);
  return status;
}

/* Whether the mapping is what a program does; a difference is a violation like others. */
static cm_status check_program(checking *c, cm_error *error)
{
  cm_program *program;
  cm_mapping_places places;
  CM_TRY(cm_program_read(c->beside->program, c->given.run, &program, error));
  cm_status status = cm_mapping_read_places(c->path, c->demand.network->vertex_count, c->given.chip, c->given.run, &places, error);
  if (status == CM_OK) {
    status = cm_tiles_agree(program, c->demand.network, places.part, places.core, c->given.run, error);
    cm_mapping_places_free(&places);
  }
  cm_program_free(program);
  if (status != CM_BAD_MAPPING)
    return status;
  (void)snprintf(c->difference, sizeof c->difference, "%s", error->detail);
  return CM_OK;
}

static cm_status check(checking *c, cm_error *error)
{
  const beside *b = c->beside;
  cm_status status = cm_mapping_file_set_inputs(c->path, c->given.chip, &c->demand, c->given.run, error);
  if (status == CM_OK)
    status = b->certificate[0] == '\0' ? cm_check_mapping(c->path, &c->given, &c->result, error)
                                       : cm_certificate_check(b->certificate, c->path, &c->given, &c->result, error);
  CM_THEN_IF(status, b->routes[0] != '\0' && c->result.violation_count == 0, cm_routes_check(b->routes, c->path, &c->given, &c->result, error));
  CM_THEN_IF(status, b->units[0] != '\0' && c->result.violation_count == 0, cm_units_check(b->units, c->path, &c->given, &c->result, error));
  CM_THEN_IF(status, b->again && c->result.violation_count == 0, check_again(c, error));
  CM_THEN_IF(status, b->program[0] != '\0' && c->result.violation_count == 0, check_program(c, error));
  return status;
}

/* What is found, and the demand, are checking_free's. */
static cm_status judge(checking *c, const coremap_network *network, const coremap_chip *chip, cm_run *run, cm_error *error)
{
  c->given = (cm_check_context){.demand = &c->demand,
                                .chip = chip->chip,
                                .occupancy = chip->occupancy,
                                .network_id = network->id[0] != '\0' ? network->id : NULL,
                                .run = run};
  CM_TRY(library_network_of_mapping(network, c->path, run, &c->measured, error));
  if (c->measured != NULL && c->measured->topology->vertex_count > network->topology->vertex_count)
    c->given.network = network->topology;
  c->demand = cm_demand_of(c->measured != NULL ? c->measured->topology : network->topology);
  return check(c, error);
}

static void checking_free(checking *c)
{
  cm_check_result_free(&c->result);
  cm_demand_clear(&c->demand);
  coremap_network_free(c->measured);
}

static json_t *verdict(const checking *c)
{
  const cm_check_result *result = &c->result;
  const bool agrees = c->difference[0] == '\0';
  json_t *list = json_array();
  for (uint32_t i = 0; i < result->listed; i++)
    (void)json_array_append_new(list, json_string(result->violations[i]));
  if (!agrees)
    (void)json_array_append_new(list, json_string(c->difference));
  json_t *told = json_pack("{s:b, s:I, s:o}", "legal", result->violation_count == 0 && agrees, "violations",
                           (json_int_t)(result->violation_count + !agrees), "listed", list);
  if (!agrees)
    (void)json_object_set_new(told, "program_agrees", json_false());
  return told;
}

static cm_status check_all(checking c, const coremap_network *network, const coremap_chip *chip, cm_run *run, char **report, cm_error *error)
{
  cm_status status = judge(&c, network, chip, run, error);
  cm_run_finish(run);
  const uint64_t refusals = cm_json_refusals();
  CM_THEN(status, library_whole_text(verdict(&c), refusals, report, error));
  checking_free(&c);
  return status;
}

int coremap_check(const char *path, const char *certificate, const coremap_network *network, const coremap_chip *chip,
                  coremap_progress progress, void *user, char **report, coremap_error **error)
{
  cm_error e;
  library_run r;
  beside b = {0};
  cm_status status = certificate != NULL ? cm_path(b.certificate, &e, "%s", certificate) : CM_OK;
  library_begin(&r, progress, user);
  CM_THEN(status, check_all((checking){.path = path, .beside = &b}, network, chip, r.run, report, &e));
  return library_tell(status, &e, error);
}

int coremap_check_beside(const char *path, const char *text, const coremap_network *network, const coremap_chip *chip,
                         coremap_progress progress, void *user, char **report, coremap_error **error)
{
  cm_error e;
  library_run r;
  json_t *object = NULL;
  beside b;
  library_begin(&r, progress, user);
  cm_status status = library_options(text, &object, &e);
  CM_THEN(status, read_beside(object, &b, &e));
  json_decref(object);
  CM_THEN(status, check_all((checking){.path = path, .beside = &b}, network, chip, r.run, report, &e));
  return library_tell(status, &e, error);
}

/* ---- what was just made ---- */

static cm_status refuse_made(const checking *c, const char *name, cm_error *error)
{
  const cm_check_result *result = &c->result;
  return cm_fail(error, CM_INTERNAL,
                 "%s as it was made breaks a rule, and is not kept: %s (%llu in all). This is a defect of coremapd, not of the input: please "
                 "report it with the network, the chip, its occupancy and the options of this job",
                 name, result->listed > 0 ? result->violations[0] : c->difference, (unsigned long long)(result->violation_count + (c->difference[0] != '\0')));
}

static cm_status check_made(const char *path, const beside *b, const coremap_network *network, const coremap_chip *chip, cm_run *run,
                            cm_error *error)
{
  const char *slash = strrchr(path, '/');
  checking c = {.path = path, .beside = b};
  cm_status status = judge(&c, network, chip, run, error);
  if (status == CM_OK && (c.result.violation_count > 0 || c.difference[0] != '\0'))
    status = refuse_made(&c, slash != NULL ? slash + 1 : path, error);
  checking_free(&c);
  return status;
}

static cm_status check_in(const coremap_mapping *m, const char *folder, const char *name, cm_run *run, cm_error *error)
{
  static const beside nothing;
  char path[CM_PATH_MAX];
  cm_status status = cm_path(path, error, "%s/%s", folder, name);
  return status == CM_OK ? check_made(path, &nothing, m->network, m->chip, run, error) : status;
}

int library_mapping_check(const coremap_mapping *mapping, const char *folder, coremap_progress progress, void *user, coremap_error **error)
{
  cm_error e;
  library_run r;
  const cm_chip *chip = mapping->chip->chip;
  char name[CM_PARETO_NAME_MAX];
  if (chip->class_count == 0 && !cm_checking_is_cheap(mapping->mapping, mapping->demand.network, chip))
    return 0;
  library_begin(&r, progress, user);
  cm_run_phase(r.run, "verify");
  cm_status status = check_in(mapping, folder, cm_mapping_view_name(CM_VIEW_FULL_JSON), r.run, &e);
  for (uint32_t k = 1; status == CM_OK && k <= mapping->mapping->point_count; k++) {
    cm_pareto_name(k, name);
    status = check_in(mapping, folder, name, r.run, &e);
  }
  cm_run_finish(r.run);
  return library_tell(status, &e, error);
}

int library_tiles_check(const char *mapping, const char *program, const coremap_network *tiles, const coremap_chip *chip,
                        cm_run *run, coremap_error **error)
{
  cm_error e;
  library_run r;
  beside b = {0};
  cm_status status = program != NULL ? cm_path(b.program, &e, "%s", program) : CM_OK;
  library_begin(&r, library_on_run, run);
  cm_run_phase(r.run, "verify");
  CM_THEN(status, check_made(mapping, &b, tiles, chip, r.run, &e));
  cm_run_finish(r.run);
  return library_tell(status, &e, error);
}
