/* What a request for a job asks for, read and checked whole before it is queued. */
#include <coremap/simulate.h>

#include "api/handlers.h"
#include "api/submit.h"
#include "base/json.h"
#include "base/option.h"
#include "library/private/base.h"
#include "library/private/stored.h"
#include "storage/uploads.h"

enum { PRIORITY_MAX = 100 };

/* Who is not to come before the others for nothing may only let them go first. */
static const int priority_max[CM_ROLES] = {[CM_ROLE_USER] = 0, [CM_ROLE_OPERATOR] = 50, [CM_ROLE_ADMIN] = PRIORITY_MAX};

/* Whether a call of the library succeeded; false: the reply is set. */
static bool accepted(cm_request *request, int result, coremap_error *why)
{
  return cm_reply_ok(request, library_status(result, &why, &request->error));
}

/* What lists say of a job's options: of those that map, also where it is not given. False: no memory. */
static bool note_options(cm_job *job, const char *all)
{
  json_t *stated = cm_json_loadb(all, strlen(all), 0, NULL);
  const char *preset = json_string_value(json_object_get(stated, "preset")), *objective = json_string_value(json_object_get(stated, "objective"));
  (void)snprintf(job->preset, sizeof job->preset, "%s", preset != NULL ? preset : "");
  (void)snprintf(job->objective, sizeof job->objective, "%s", objective != NULL ? objective : "");
  job->seed = json_integer_value(json_object_get(stated, "seed"));
  const bool whole = stated != NULL;
  json_decref(stated);
  return whole;
}

/* Options of a kind of job; false: the reply is set. */
static bool check_options(cm_request *request, const char *kind, const json_t *options, cm_job *job)
{
  coremap_error *why = NULL;
  char *all = NULL, *text = options != NULL ? cm_json_dumps(options, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
  if (options != NULL && text == NULL) {
    cm_reply_json(request, 200, NULL);
    return false;
  }
  int result = coremap_options_read(kind, text, &all, NULL, &why);
  free(text);
  const bool noted = result != 0 || note_options(job, all);
  coremap_text_free(all);
  if (!noted)
    cm_reply_json(request, 200, NULL);
  return noted && accepted(request, result, why);
}

static const char *word_of(const json_t *options, const char *name, const char *normal)
{
  const char *word = json_string_value(json_object_get(options, name));
  return word != NULL ? word : normal;
}

/* A mapping that an option names is there for the asker; false: the reply is set. */
static bool find_mapping(cm_request *request, const char *option, const char *id, cm_mapping_row *mapping)
{
  char where[40];
  (void)snprintf(where, sizeof where, "/options/%s", option);
  if (!cm_access_sees(request, CM_OBJECT_MAPPING, id, where))
    return false;
  return cm_reply_ok_at(request, cm_mappings_get(request->store, id, mapping, &request->error), where);
}

/* The network whose levels are carried over is there for the asker, and one; false: the reply is set. */
static bool check_levels_from(cm_request *request, const char *id)
{
  static const char where[] = "/options/levels_from";
  cm_network before;
  if (id[0] == '\0')
    return true;
  if (!cm_access_sees(request, CM_OBJECT_NETWORK, id, where))
    return false;
  cm_status status = cm_networks_get(request->store, id, &before, &request->error);
  CM_THEN_IF(status, before.operators > 0, cm_fail(&request->error, CM_BAD_OPTION, "%.64s is an ONNX model, which has no coarsened levels: name a network", id));
  return cm_reply_ok_at(request, status, where);
}

/* Options of a job on what was uploaded, and the mapping that it starts from; false: the reply is set. */
static bool check_upload_options(cm_request *request, const library_job_kind *kind, const json_t *options, cm_job *job)
{
  cm_mapping_row old;
  if (!check_options(request, kind->name, options, job) || !check_levels_from(request, word_of(options, "levels_from", "")))
    return false;
  const char *from = kind->mapping != NULL ? word_of(options, kind->mapping, "") : "";
  return from[0] == '\0' || find_mapping(request, kind->mapping, from, &old);
}

/* Given spikes are those of the network; false: the reply is set. */
static bool check_spikes(cm_request *request, const char *network, const json_t *options)
{
  cm_network known;
  coremap_error *why = NULL;
  if (cm_networks_get(request->store, network, &known, &request->error) != CM_OK)
    return true; /* creating the job finds that out */
  const bool by_name = known.named && strcmp(word_of(options, "spike_ids", ""), "position") != 0; /* the job knows the names */
  cm_status status =
    library_status(library_spikes_check(word_of(options, "spikes", ""), (uint32_t)known.neurons, by_name, &why), &why, &request->error);
  if (status == CM_BAD_OPTION)
    (void)cm_fail_at(&request->error, "/options/spikes");
  return cm_reply_ok(request, status);
}

/* The upload that an option names is there, and whole; the job reads it. False: the reply is set. */
static bool check_upload(cm_request *request, const char *option, const char *id)
{
  cm_upload upload;
  char where[40];
  (void)snprintf(where, sizeof where, "/options/%s/upload", option);
  if (!cm_access_sees(request, CM_OBJECT_UPLOAD, id, where))
    return false;
  cm_status status = cm_uploads_get(request->store, id, &upload, &request->error);
  if (status == CM_OK && upload.offset != upload.size)
    status = cm_fail(&request->error, CM_CONFLICT, "upload %s has %llu of its %llu bytes: send the rest first", id,
                     (unsigned long long)upload.offset, (unsigned long long)upload.size);
  return cm_reply_ok_at(request, status, where);
}

/* What options give, if anything: spikes as text, or an upload; false: the reply is set. */
static bool check_given(cm_request *request, const library_job_kind *kind, const char *network, const json_t *options)
{
  const json_t *given = kind->upload != NULL ? json_object_get(options, kind->upload) : NULL;
  if (json_is_object(given))
    return check_upload(request, kind->upload, word_of(given, "upload", ""));
  return given == NULL || check_spikes(request, network, options);
}

/* The scenario that a simulation names is one of those that the mapping states, which are its network's; false: the reply is set. */
static bool check_scenario(cm_request *request, const char *mapping, const char *scenario)
{
  int file;
  if (!cm_reply_ok(request, cm_mappings_open(request->store, mapping, "summary.json", &file, &request->error)))
    return false;
  char *summary = cm_file_text(file);
  coremap_error *why = NULL;
  int result = summary != NULL ? coremap_scenario_check(scenario, summary, &why) : 0;
  free(summary);
  if (library_status(result, &why, &request->error) != CM_BAD_OPTION)
    return true; /* what cannot be read now the job finds out */
  return cm_reply_error(request, &request->error);
}

/* Options of a job on a mapping, whose network it takes; false: the reply is set. */
static bool check_mapping_options(cm_request *request, const library_job_kind *kind, const json_t *options, cm_job *job)
{
  cm_mapping_row mapping;
  if (job->network[0] != '\0' || job->chip[0] != '\0')
    return cm_reply_bad_member(request, CM_BAD_OPTION, job->network[0] != '\0' ? "/network" : "/chip",
                      "a simulation takes both from its mapping: leave it out");
  if (!check_options(request, kind->name, options, job))
    return false;
  const char *id = word_of(options, kind->mapping, ""), *scenario = word_of(options, "scenario", "");
  if (id[0] == '\0') {
    (void)cm_option_refuse(&request->error, kind->mapping, "the id of a mapping, whose packets are to move");
    return cm_reply_error(request, &request->error);
  }
  if (!find_mapping(request, kind->mapping, id, &mapping))
    return false;
  (void)snprintf(job->network, sizeof job->network, "%s", mapping.network);
  if (scenario[0] != '\0' && !check_scenario(request, id, scenario))
    return false;
  return check_given(request, kind, mapping.network, options);
}

/* The word of an option that says how long a job takes. */
static void add_likeness(cm_job *job, const json_t *value, const char *option, const char *normal)
{
  char number[24];
  const char *word = json_is_true(value) ? option : json_is_string(value) ? json_string_value(value) : normal;
  if (json_is_integer(value)) {
    (void)snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
    word = number;
  }
  const size_t used = strlen(job->likeness);
  (void)snprintf(job->likeness + used, sizeof job->likeness - used, " %s", word);
}

void cm_submit_liken(cm_job *job, const library_job_kind *kind, const json_t *options, const cm_network *network)
{
  (void)snprintf(job->likeness, sizeof job->likeness, "%s", kind->name);
  for (size_t i = 0; kind->likeness[i].option != NULL; i++)
    add_likeness(job, json_object_get(options, kind->likeness[i].option), kind->likeness[i].option, kind->likeness[i].normal);
  job->size = network->operators > 0 ? (double)network->plain_bytes : (double)network->neurons + (double)network->synapses;
  job->time_limit = json_number_value(json_object_get(options, "time_limit"));
}

/* Models are compiled and topologies are mapped. */
static bool network_suits(cm_request *request, const library_job_kind *kind, cm_job *job, const json_t *options)
{
  const char *id = job->network;
  cm_network network = {0};
  if (kind->input != LIBRARY_INPUT_MAPPING && !cm_access_sees(request, CM_OBJECT_NETWORK, id, "/network"))
    return false; /* whoever sees a mapping may use it; the id of its network was not asked for */
  if (cm_networks_get(request->store, id, &network, &request->error) != CM_OK)
    return true; /* creating the job finds that out */
  cm_submit_liken(job, kind, options, &network);
  if ((strcmp(network.format, "onnx") == 0) == (kind->input == LIBRARY_INPUT_MODEL))
    return true;
  char words[80];
  (void)snprintf(words, sizeof words, "jobs of kind \"%s\" need an ONNX model", kind->name);
  return cm_reply_bad_member(request, CM_BAD_OPTION, "/network",
                    kind->input == LIBRARY_INPUT_MODEL ? words : "an ONNX model is compiled, not mapped: kind \"compile\"");
}

/* Of a job whose options say all: nothing else is named. */
static bool check_alone(cm_request *request, const library_job_kind *kind, const json_t *options, cm_job *job)
{
  if (job->network[0] != '\0' || job->chip[0] != '\0')
    return cm_reply_bad_member(request, CM_BAD_OPTION, job->network[0] != '\0' ? "/network" : "/chip", "a problem is solved without: leave it out");
  if (!check_options(request, kind->name, options, job))
    return false;
  const json_t *problem = json_object_get(options, "problem");
  if (problem != NULL) {
    const cm_network size = {.neurons = json_array_size(json_object_get(problem, "nodes"))};
    cm_submit_liken(job, kind, options, &size);
    return true;
  }
  (void)cm_option_refuse(&request->error, "problem", "the problem to solve: array, nodes, edges, nets and constraints");
  return cm_reply_error(request, &request->error);
}

/* The kind of a job; NULL: the reply is set. */
static const library_job_kind *read_kind(cm_request *request, const json_t *object, cm_job *job)
{
  char words[120] = "this server runs jobs of kind ";
  const size_t used = strlen(words);
  if (!cm_request_word(request, object, "kind", job->kind, sizeof job->kind))
    return NULL;
  if (job->kind[0] == '\0')
    (void)snprintf(job->kind, sizeof job->kind, "%s", library_job_kind_at(0)->name);
  const library_job_kind *kind = library_job_kind_of(job->kind);
  if (kind->name != NULL)
    return kind;
  (void)library_job_kind_names(words + used, sizeof words - used);
  (void)cm_reply_bad_member(request, CM_BAD_OPTION, "/kind", words);
  return NULL;
}

/* Whether it goes to a cluster; false: the reply is set. */
static bool read_cluster(cm_request *request, const json_t *object, cm_job *job)
{
  char word[16];
  if (!cm_request_word(request, object, "cluster", word, sizeof word))
    return false;
  for (int wish = 0; wish < CM_CLUSTER_WISHES; wish++)
    if (word[0] == '\0' || strcmp(word, cm_cluster_wish_name((cm_cluster_wish)wish)) == 0) {
      job->cluster = (cm_cluster_wish)wish;
      return true;
    }
  return cm_reply_bad_member(request, CM_BAD_OPTION, "/cluster", "expected auto, always or never");
}

/* What all jobs may be given; false: the reply is set. */
static bool read_terms(cm_request *request, const library_job_kind *kind, const json_t *object, cm_job *job)
{
  const json_t *reserve = json_object_get(object, "reserve"), *priority = json_object_get(object, "priority"), *ttl = json_object_get(object, "ttl");
  if (reserve != NULL && !json_is_boolean(reserve))
    return cm_reply_bad_member(request, CM_BAD_REQUEST, "/reserve", "expected true or false");
  if (priority != NULL && (!json_is_integer(priority) || json_integer_value(priority) < -PRIORITY_MAX ||
                           json_integer_value(priority) > PRIORITY_MAX))
    return cm_reply_bad_member(request, CM_BAD_REQUEST, "/priority", "expected a whole number from -100 to 100");
  if (json_integer_value(priority) > priority_max[request->who.role])
    return cm_reply_problem(request, 403, "forbidden", "The role does not suffice",
                     "priorities of role %s end at %d, yours; below it, others go first", cm_role_name(request->who.role),
                     priority_max[request->who.role]);
  if (ttl != NULL && (!json_is_number(ttl) || !(json_number_value(ttl) >= 1) ||
                      json_number_value(ttl) > cm_lease_ttl_max_s))
    return cm_reply_bad_member(request, CM_BAD_REQUEST, "/ttl", "expected seconds from 1 to 2592000");
  if (json_is_true(reserve) && !cm_access_has(request, CM_RIGHT_RESERVE))
    return false; /* who leases cores, by whatever route, may lease */
  if (json_is_true(reserve) && !kind->leases)
    return cm_reply_bad_member(request, CM_BAD_OPTION, "/reserve", "only a job that maps takes cores");
  job->shown = json_object_get(object, "visibility") != NULL;
  job->reserve = json_is_true(reserve);
  job->priority = (int)json_integer_value(priority);
  job->ttl = ttl != NULL ? json_number_value(ttl) : cm_lease_ttl_default_s;
  return true;
}

bool cm_submit_read(cm_request *request, const json_t *object, cm_job *job)
{
  static const char *const names[] = {"kind", "network", "chip", "options", "reserve", "name", "priority", "ttl", "visibility", "labels", "cluster", NULL};
  const json_t *options = json_object_get(object, "options");
  const library_job_kind *kind = cm_request_members(request, object, names) ? read_kind(request, object, job) : NULL;
  if (kind == NULL || !cm_request_word(request, object, "network", job->network, sizeof job->network) ||
      !cm_request_word(request, object, "chip", job->chip, sizeof job->chip) ||
      !cm_request_word(request, object, "name", job->name, sizeof job->name) || !cm_labels_of(request, object, job->labels))
    return false;
  if (options != NULL && !json_is_object(options))
    return cm_reply_bad_member(request, CM_BAD_OPTION, "/options", "expected an object");
  const bool of_mapping = kind->input == LIBRARY_INPUT_MAPPING, alone = kind->input == LIBRARY_INPUT_NONE;
  if (of_mapping && !check_mapping_options(request, kind, options, job))
    return false;
  if (alone && !check_alone(request, kind, options, job))
    return false;
  if (!alone && job->network[0] == '\0')
    return cm_reply_bad_member(request, CM_BAD_REQUEST, "/network", "the id of an uploaded network is needed");
  if (job->chip[0] == '\0' && kind->chip)
    return cm_reply_bad_member(request, CM_BAD_REQUEST, "/chip", "the name of a chip is needed");
  if (job->chip[0] != '\0' && kind->input == LIBRARY_INPUT_NETWORK && !kind->chip)
    return cm_reply_bad_member(request, CM_BAD_OPTION, "/chip", "a network runs without a chip: leave it out");
  const bool uploaded = !alone && !of_mapping;
  if (!read_terms(request, kind, object, job) || !read_cluster(request, object, job) || (uploaded && !check_upload_options(request, kind, options, job)) ||
      (!alone && !network_suits(request, kind, job, options)) || (uploaded && !check_given(request, kind, job->network, options)) ||
      (job->chip[0] != '\0' && !cm_access_sees(request, CM_OBJECT_CHIP, job->chip, "/chip")) ||
      !cm_access_owner_of(request, object, &job->owner))
    return false;
  (void)snprintf(job->request, sizeof job->request, "%s", request->id);
  job->options = options != NULL ? cm_json_dumps(options, JSON_COMPACT | JSON_REAL_PRECISION(15)) : strdup("{}");
  if (job->options == NULL) {
    cm_reply_text(request, 503, NULL, NULL, 0);
    return false;
  }
  return true;
}

void cm_submit_reply(cm_request *request, cm_job_created result, const char *id)
{
  switch (result) {
  case CM_JOB_NEW:
    request->server->options.on_queued(request->server->options.user);
    cm_reply_job(request, 202, id);
    break;
  case CM_JOB_SAME:
    cm_reply_job(request, 200, id);
    break;
  case CM_JOB_OTHER_BODY:
    cm_reply_problem(request, 422, "idempotency-key-reused", "The key belongs to another request",
                     "Idempotency-Key was used with another body before (job %s)", id);
    break;
  case CM_JOB_QUEUE_FULL:
    cm_reply_problem(request, 429, "too-many", "The queue is full", "at most %d jobs of one user may be queued",
                     CM_JOB_QUEUE_MAX);
    cm_reply_header(request, "Retry-After", "60");
    break;
  }
}
