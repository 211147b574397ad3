/* What the library knows, as tables. */
#include "base/json.h"
#include "core/csource/csource.h"
#include "core/network/formats/table.h"
#include "core/output/layouts.h"
#include "core/output/picture/picture.h"
#include "library/internal.h"
#include "library/private/base.h"

static json_t *formats(void)
{
  json_t *rows = json_array();
  for (size_t i = 0; i < CM_FORMATS; i++) {
    const cm_network_format *f = &cm_network_formats[i];
    json_t *endings = json_array();
    for (size_t k = 0; k < CM_FORMAT_ENDINGS_MAX && f->ending[k] != NULL; k++)
      (void)json_array_append_new(endings, json_string(f->ending[k]));
    (void)json_array_append_new(rows, json_pack("{s:s, s:s, s:o}", "name", f->name, "about", f->about, "endings", endings));
  }
  return rows;
}

static json_t *reading(void)
{
  json_t *rows = json_array();
  for (int i = 0; i < CM_READ_OPTIONS; i++) {
    const cm_read_option *o = &cm_read_options[i];
    (void)json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:b}", "name", o->name, "form", o->form, "about", o->about, "file", o->file));
  }
  return rows;
}

static json_t *parameters(void)
{
  json_t *rows = json_array();
  for (int i = 0; i < CM_NEURON_PARAMETERS; i++) {
    const cm_neuron_parameter_row *p = &cm_neuron_parameters[i];
    (void)json_array_append_new(rows, json_pack("{s:s, s:s, s:s}", "name", p->name, "unit", p->unit, "about", p->about));
  }
  return rows;
}

static json_t *exports(void)
{
  json_t *rows = json_array();
  for (const cm_export_format *f = cm_export_formats; f->name != NULL; f++)
    (void)json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s}", "name", f->name, "what", f->what, "file", f->file, "media", f->media));
  return rows;
}

static json_t *layers(void)
{
  json_t *rows = json_array();
  for (size_t i = 0; cm_picture_layers[i] != NULL; i++)
    (void)json_array_append_new(rows, json_string(cm_picture_layers[i]));
  return rows;
}

static json_t *targets(void)
{
  json_t *rows = json_array();
  for (const cm_c_target *t = cm_c_targets(); t->name != NULL; t++)
    (void)json_array_append_new(rows, json_pack("{s:s, s:s, s:s}", "name", t->name, "about", t->what, "compiler", t->compiler));
  return rows;
}

static const struct table {
  const char *name;
  json_t *(*make)(void); /* NULL: options of this kind */
} tables[] = {{"formats", formats}, {"reading", reading}, {"parameters", parameters}, {"exports", exports}, {"layers", layers}, {"layouts", cm_layouts_json}, {"metrics", cm_metrics_schema},
              {"operators", library_operators}, {"targets", targets}, {"rewrites", library_rewrites}, {"partition", NULL}, {"place", NULL},
#define JOB_KIND(kind, ...) {#kind, NULL},
#include "library/private/job_kinds.def"
#undef JOB_KIND
              {"schedule", NULL}, {"train", library_train_table}};

static cm_status no_table(const char *name, cm_error *error)
{
  cm_fail(error, CM_NOT_FOUND, "there is no table \"%.40s\": there are ", name);
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    cm_fail_more(error, "%s%s", i > 0 ? ", " : "", tables[i].name);
  return error->status;
}

int coremap_table(const char *name, char **json, coremap_error **error)
{
  cm_error e;
  const uint64_t refusals = cm_json_refusals();
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (strcmp(tables[i].name, name) == 0) {
      json_t *made = tables[i].make != NULL ? tables[i].make() : library_options_table(name);
      return library_tell(library_whole_text(made, refusals, json, &e), &e, error);
    }
  return library_tell(no_table(name, &e), &e, error);
}

json_t *library_table(const char *name)
{
  char *text;
  return coremap_table(name, &text, NULL) == 0 ? library_json(text) : NULL;
}

json_t *library_schema(const char *kind)
{
  char *text;
  return coremap_options_schema(kind, &text, NULL) == 0 ? library_json(text) : NULL;
}

/* What a row is called; rows may be names alone. */
static const char *name_of(const json_t *row)
{
  return json_string_value(json_is_object(row) ? json_object_get(row, "name") : row);
}

json_t *library_row(const char *table, const char *name)
{
  json_t *rows = library_table(table), *row, *found = NULL;
  size_t i;
  json_array_foreach(rows, i, row)
    if (found == NULL && strcmp(name_of(row), name) == 0)
      found = json_incref(row);
  json_decref(rows);
  return found;
}

const char *library_names(const char *table, const char *between, char *names, size_t size)
{
  json_t *rows = library_table(table), *row;
  size_t used = 0, i;
  names[0] = '\0';
  json_array_foreach(rows, i, row)
    if (used < size)
      used += (size_t)snprintf(names + used, size - used, "%s%s", i > 0 ? between : "", name_of(row));
  json_decref(rows);
  return names;
}
