/* From a program to files. */
#include "core/csource/csource.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/csource/text/writer.h"

const cm_c_target *cm_c_targets(void)
{
  static const cm_c_target rows[] = {
#define TARGET(name, lanes, rows, columns, ram, flash, exact, board, compiler, flags, what) \
  {name, CM_C_##lanes, rows, columns, ram, flash, exact, board, compiler, flags, what},
#include "core/csource/targets.def"
#undef TARGET
    {0}};
  return rows;
}

void cm_c_options_default(cm_c_options *options)
{
  *options = (cm_c_options){.target = "host", .name = "model", .seed = 1};
}

/* ---- what is asked ---- */

static cm_status find_target(const char *name, const cm_c_target **target, cm_error *error)
{
  char all[200] = "";
  for (const cm_c_target *t = cm_c_targets(); t->name != NULL; t++) {
    if (strcmp(t->name, name) == 0) {
      *target = t;
      return CM_OK;
    }
    cm_c_add(all, sizeof all, "%s%s", all[0] != '\0' ? ", " : "", t->name);
  }
  (void)cm_fail(error, CM_BAD_OPTION, "C is not emitted for a target '%.40s', it is for %s", name, all);
  return cm_fail_at(error, "target");
}

static cm_status check_name(const char *name, cm_error *error)
{
  bool right = isalpha((unsigned char)name[0]) != 0;
  for (const char *c = name; *c != '\0'; c++)
    right = right && (isalnum((unsigned char)*c) || *c == '_') && !isupper((unsigned char)*c);
  if (right && strlen(name) <= 20)
    return CM_OK;
  (void)cm_fail(error, CM_BAD_OPTION, "a name of files and functions is a small letter and up to 19 small letters, digits or '_', not '%.40s'", name);
  return cm_fail_at(error, "name");
}

static cm_status check_memory(const cm_c_writer *w, cm_error *error)
{
  const uint64_t rooms = cm_c_scratch_bytes(w), ram = w->space.bytes + rooms;
  if (ram > INT32_MAX)
    return cm_fail(error, CM_TOO_LARGE, "the code would need %llu bytes of memory, of which it can address 2147483647: compile for a chip with less",
                   (unsigned long long)ram);
  const uint64_t left = w->target->ram > w->space.bytes ? w->target->ram - w->space.bytes : 0, fewer = rooms > 0 ? left * w->flow.lanes / rooms : 0;
  if (left > 0 && ram > w->target->ram && w->flow.lanes > 1)
    return cm_fail(error, CM_TOO_LARGE, "the code needs %llu bytes of memory, %llu of them for its %u lanes, target %s has %llu: ask for fewer lanes, %llu may do",
                   (unsigned long long)ram, (unsigned long long)rooms, w->flow.lanes, w->target->name, (unsigned long long)w->target->ram,
                   (unsigned long long)(fewer > 0 ? fewer : 1));
  if (w->target->ram > 0 && ram > w->target->ram)
    return cm_fail(error, CM_TOO_LARGE, "the code needs %llu bytes of memory, target %s has %llu: compile for a chip with less memory, as with option memory",
                   (unsigned long long)ram, w->target->name, (unsigned long long)w->target->ram);
  if (w->target->flash > 0 && w->weight_bytes > w->target->flash)
    return cm_fail(error, CM_TOO_LARGE, "the weights need %llu bytes, target %s has %llu for them: quantize the model or take a smaller one",
                   (unsigned long long)w->weight_bytes, w->target->name, (unsigned long long)w->target->flash);
  return CM_OK;
}

/* ---- names of what comes and goes ---- */

/* A name in C: in or out, a number, and what is left of the tensor's; of outputs that share a tensor, or are inputs or constants, the place alone. */
static cm_status name_end(cm_c_writer *w, uint32_t tensor, bool in, uint32_t number, cm_error *error)
{
  const bool own = in || (w->program->tensors[tensor].role == CM_ROLE_OUTPUT && w->homes[tensor] == NULL);
  char made[80];
  (void)snprintf(made, sizeof made, own ? "%s%u_%.40s" : "%s%u", in ? "in" : "out", number, w->program->tensors[tensor].name);
  for (char *c = made; *c != '\0'; c++)
    *c = isalnum((unsigned char)*c) ? *c : '_';
  const char *name = cm_arena_text(&w->names, made, strlen(made), error);
  if (own)
    w->homes[tensor] = name;
  w->ends[w->end_count++] = (cm_c_end){tensor, in, name};
  return name != NULL ? CM_OK : error->status;
}

static cm_status name_ends(cm_c_writer *w, cm_error *error)
{
  const cm_program *p = w->program;
  for (uint32_t k = 0; k < p->input_count; k++)
    CM_TRY_IF(p->tensors[p->inputs[k]].role == CM_ROLE_INPUT, name_end(w, p->inputs[k], true, k, error));
  for (uint32_t k = 0; k < p->output_count; k++)
    CM_TRY(name_end(w, p->outputs[k], false, k, error));
  return CM_OK;
}

static cm_status name_outside(cm_c_writer *w, cm_error *error)
{
  const cm_program *p = w->program;
  char at[CM_C_AT_MAX];
  for (uint32_t t = 0; t < p->tensor_count; t++)
    if (p->tensors[t].role == CM_ROLE_SPILL && cm_c_type(p->tensors[t].type) != NULL) {
      (void)snprintf(at, sizeof at, "AT(%s, outside, %" PRIu64 ")", cm_c_type(p->tensors[t].type), w->outside_bytes);
      w->outside_bytes += cm_c_whole_lines(p->tensors[t].bytes / p->turns);
      if ((w->homes[t] = cm_arena_text(&w->names, at, strlen(at), error)) == NULL)
        return error->status;
    }
  return CM_OK;
}

/* Types that C has, before anything is written; constants that are loaded, not read in place, are arrays. */
static cm_status check_tensors(cm_c_writer *w, cm_error *error)
{
  const cm_program *p = w->program;
  char at[CM_C_AT_MAX];
  for (uint32_t t = 0; t < p->tensor_count; t++)
    if (p->tensors[t].role != CM_ROLE_CONSTANT && cm_c_type(p->tensors[t].type) == NULL)
      return cm_fail(error, CM_BAD_NETWORK, "'%.80s' is of type %s, which C does not have", p->tensors[t].name, cm_type_name(p->tensors[t].type));
  for (uint64_t i = 0; i < p->instruction_count; i++) {
    const uint32_t t = p->instructions[i].tensor;
    if (p->instructions[i].opcode != CM_CODE_LOAD || w->space.left_out[i] || p->tensors[t].role != CM_ROLE_CONSTANT || w->homes[t] != NULL)
      continue;
    if (cm_c_array(w, p->tensors[t].data, at, error) != CM_OK || (w->homes[t] = cm_arena_text(&w->names, at, strlen(at), error)) == NULL)
      return error->status;
  }
  return CM_OK;
}

/* ---- the whole ---- */

/* What a run takes when each lane does its instructions in turn and finds out of the end of another's so much later. */
static cm_status replay(const cm_c_writer *w, const cm_c_flow *flow, double wait_ns, double *ns, cm_error *error)
{
  const uint64_t count = w->program->instruction_count;
  double *end; /* [lane][its instructions], from 1 */
  CM_TRY(CM_NEW(w->memory, end, (count + 1) * flow->lanes, error));
  uint64_t wait = 0;
  *ns = 0;
  for (uint64_t i = 0; i < count; i++) {
    if (flow->lane[i] == CM_NONE)
      continue;
    double *own = end + flow->lane[i] * (count + 1) + flow->number[i];
    *own = own[-1];
    for (; wait < flow->wait_count && flow->waits[wait].instruction == i; wait++)
      *own = fmax(*own, end[flow->waits[wait].lane * (count + 1) + flow->waits[wait].count] + wait_ns);
    *own += cm_instruction_ns(w->program, &w->program->instructions[i]);
    *ns = fmax(*ns, *own);
  }
  cm_free(end);
  return CM_OK;
}

/* One lane takes the place of several that are not worth it: threads that sleep are woken, and what a core finds done lies with another. */
static cm_status compare_lanes(cm_c_writer *w, cm_error *error)
{
  enum { WAIT_NS = 1000, WAKE_NS = 30000 };
  cm_c_flow one = {0};
  double together, alone = 0;
  cm_status status = replay(w, &w->flow, WAIT_NS, &together, error);
  CM_THEN(status, cm_c_flow_make(w->program, w->space.left_out, 1, &one, error));
  CM_THEN(status, replay(w, &one, 0, &alone, error));
  const cm_c_flow several = w->flow;
  if (status == CM_OK && together + WAKE_NS >= alone) {
    w->flow = one;
    one = several;
  }
  cm_c_flow_end(&one);
  return status;
}

/* Lanes as asked; where nothing is asked, threads only where they are worth it. */
static cm_status make_flow(cm_c_writer *w, const cm_c_options *options, cm_error *error)
{
  const bool loop = w->target->lanes == CM_C_LOOP || w->timed;
  if (w->timed && options->lanes > 1)
    return cm_fail(error, CM_BAD_OPTION, "pieces are timed on one lane, not on %u: leave out lanes, or pieces", options->lanes);
  CM_TRY(cm_c_flow_make(w->program, w->space.left_out, loop ? 1 : options->lanes, &w->flow, error));
  return w->target->lanes != CM_C_THREADS || options->lanes > 0 || w->flow.lanes == 1 ? CM_OK : compare_lanes(w, error);
}

static cm_status begin(cm_c_writer *w, const cm_c_options *options, cm_error *error)
{
  const cm_program *p = w->program;
  cm_arena_init(&w->names, w->memory);
  CM_TRY(cm_c_space_make(p, &w->space, error));
  CM_TRY(make_flow(w, options, error));
  CM_TRY(cm_c_space_pack(p, &w->flow, &w->space, error));
  CM_TRY(CM_NEW_ALL(w->memory, error, CM_ARRAY(w->scratch, w->flow.lanes + 1), CM_ARRAY(w->body, w->flow.lanes + 1), CM_ARRAY(w->homes, p->tensor_count + 1),
                    CM_ARRAY(w->ends, p->input_count + p->output_count + 1)));
  bool opened = cm_text_open(&w->weights) && cm_text_open(&w->declared);
  for (uint32_t l = 0; l < w->flow.lanes; l++)
    opened = opened && cm_text_open(&w->body[l]);
  if (!opened)
    return cm_whole(false, "the text of the code", error);
  if (!w->binary)
    fputs("#include <math.h>\n#include <stdint.h>\n", w->weights.stream);
  CM_TRY(name_ends(w, error));
  CM_TRY(name_outside(w, error));
  return check_tensors(w, error);
}

static void close(cm_text *text)
{
  if (text->stream != NULL)
    free(cm_text_close(text, NULL));
}

static void end(cm_c_writer *w)
{
  close(&w->weights);
  close(&w->declared);
  for (uint32_t l = 0; w->body != NULL && l < w->flow.lanes; l++)
    close(&w->body[l]);
  for (uint64_t k = 0; k < w->arrays.count; k++)
    cm_tensor_free(w->arrays.held[k].tensor);
  CM_FREE(w->arrays.held, w->tables.held, w->boxes.held, w->functions.held, w->body, w->scratch, w->homes, w->ends);
  cm_c_flow_end(&w->flow);
  cm_c_space_end(&w->space);
  cm_arena_free(&w->names);
}

static json_t *report_of(const cm_c_writer *w, double expected_ns)
{
  return json_pack("{s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "target", w->target->name, "lanes", (int)w->flow.lanes, "pieces",
                   (json_int_t)w->pieces, "kernels", (json_int_t)w->functions.count, "chip_bytes", (json_int_t)w->space.bytes, "scratch_bytes",
                   (json_int_t)cm_c_scratch_bytes(w), "outside_bytes", (json_int_t)w->outside_bytes, "weight_bytes", (json_int_t)w->weight_bytes, "expected_ns",
                   expected_ns);
}

cm_status cm_c_make(const cm_program *program, const cm_c_options *options, cm_run *run, cm_c_file files[CM_C_FILES],
                         json_t **report, cm_error *error)
{
  cm_c_writer w = {.program = program, .name = options->name, .binary = options->binary, .timed = options->pieces, .memory = program->memory, .run = run};
  double expected_ns = 0;
  memset(files, 0, CM_C_FILES * sizeof *files);
  CM_TRY(find_target(options->target, &w.target, error));
  CM_TRY(check_name(options->name, error));
  cm_run_phase(run, "write");
  cm_status status = begin(&w, options, error);
  CM_THEN(status, cm_c_steps(&w, error));
  CM_THEN(status, check_memory(&w, error));
  CM_THEN(status, cm_c_files(&w, options->seed, files, &expected_ns, error));
  if (status == CM_OK && (*report = report_of(&w, expected_ns)) == NULL)
    status = cm_whole(false, "the report", error);
  end(&w);
  CM_END(status, (void)0, cm_c_files_free(files));
}
