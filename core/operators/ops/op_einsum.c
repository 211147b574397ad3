/* Einsum: sums of products over labelled dimensions. */
#include <ctype.h>
#include <string.h>

#include "core/operators/operator.h"

enum { LABELS = CM_EINSUM_LABELS, LETTERS = LABELS - CM_RANK_MAX, OPERANDS_MAX = CM_EINSUM_INPUTS };

/* Labels of each operand's dimensions: letters, then one for each dimension of the ellipsis. */
typedef struct einsum {
  uint32_t operand_count, rank[OPERANDS_MAX + 1]; /* the last one is the output */
  uint32_t label[OPERANDS_MAX + 1][CM_RANK_MAX];
  uint32_t broadcast; /* dimensions that the ellipsis stands for */
  int64_t extent[LABELS];
  bool used[LABELS];
} einsum;

static uint32_t letter(char c)
{
  return (uint32_t)(islower((unsigned char)c) ? c - 'a' : c - 'A' + 26);
}

/* One term of the equation up to a comma, an arrow or the end; `dots`: dimensions of its ellipsis. */
static cm_status read_term(const cm_call *call, const char **at, uint32_t dots, uint32_t *label, uint32_t *rank, cm_error *error)
{
  *rank = 0;
  for (; **at != '\0' && **at != ',' && **at != '-'; ++*at) {
    uint32_t more = **at == '.' ? dots : 1;
    if (**at == ' ')
      continue;
    if (!(isalpha((unsigned char)**at) || strncmp(*at, "...", 3) == 0) || *rank + more > CM_RANK_MAX)
      return cm_call_fail(call, error, "has an equation that is not understood: %.60s", cm_node_text(call->node, "equation", ""));
    for (uint32_t i = 0; i < more; i++)
      label[(*rank)++] = **at == '.' ? LETTERS + i : letter(**at);
    if (**at == '.')
      *at += 2;
  }
  return CM_OK;
}

/* Letters of a term, without its ellipsis. */
static uint32_t letters_of(const char *at, bool *dots)
{
  uint32_t count = 0;
  *dots = false;
  for (; *at != '\0' && *at != ',' && *at != '-'; at++) {
    count += isalpha((unsigned char)*at) != 0;
    *dots = *dots || *at == '.';
  }
  return count;
}

/* Without an arrow: the ellipsis, then the labels that stand once, in the order of the alphabet. */
static void implicit_output(einsum *e)
{
  uint32_t times[LABELS] = {0}, *out = e->label[e->operand_count], *rank = &e->rank[e->operand_count];
  for (uint32_t i = 0; i < e->operand_count; i++)
    for (uint32_t k = 0; k < e->rank[i]; k++)
      times[e->label[i][k]]++;
  *rank = 0;
  for (uint32_t i = 0; i < e->broadcast; i++)
    out[(*rank)++] = LETTERS + i;
  for (uint32_t i = 0; i < LETTERS && *rank < CM_RANK_MAX; i++) {
    uint32_t l = (i + 26) % LETTERS; /* capitals come first */
    if (times[l] == 1)
      out[(*rank)++] = l;
  }
}

/* How often a label stands in a term. */
static uint32_t times(const einsum *e, uint32_t term, uint32_t label)
{
  uint32_t found = 0;
  for (uint32_t k = 0; k < e->rank[term]; k++)
    found += e->label[term][k] == label;
  return found;
}

static cm_status read_equation(const cm_call *call, const cm_shape *input, einsum *e, cm_error *error)
{
  const char *at = cm_node_text(call->node, "equation", "");
  *e = (einsum){.operand_count = call->input_count};
  if (call->input_count > OPERANDS_MAX)
    return cm_call_fail(call, error, "has more than %d inputs", OPERANDS_MAX);
  for (uint32_t i = 0; i < call->input_count; i++) {
    bool dots;
    uint32_t letters = letters_of(at, &dots), rank;
    if (letters > input[i].rank || (!dots && letters != input[i].rank))
      return cm_call_fail(call, error, "input %u has %u dimensions, but its term %u labels", i, input[i].rank, letters);
    uint32_t own = dots ? input[i].rank - letters : 0;
    e->broadcast = own > e->broadcast ? own : e->broadcast;
    CM_TRY(read_term(call, &at, own, e->label[i], &rank, error));
    e->rank[i] = rank;
    if (*at == ',')
      at++;
  }
  /* An ellipsis of fewer dimensions is aligned at its end, as in broadcasting. */
  for (uint32_t i = 0; i < e->operand_count; i++) {
    uint32_t own = 0;
    for (uint32_t k = 0; k < e->rank[i]; k++)
      own += e->label[i][k] >= LETTERS;
    for (uint32_t k = 0; k < e->rank[i]; k++) {
      uint32_t *l = &e->label[i][k];
      *l += *l >= LETTERS ? e->broadcast - own : 0;
      int64_t dim = input[i].dims[k];
      if (e->used[*l] && e->extent[*l] != 1 && dim != 1 && dim != e->extent[*l])
        return cm_call_fail(call, error, "has %lld and %lld elements under one label", (long long)dim, (long long)e->extent[*l]);
      e->extent[*l] = !e->used[*l] || e->extent[*l] == 1 ? dim : e->extent[*l];
      e->used[*l] = true;
    }
  }
  if (*at != '-') {
    implicit_output(e);
    return CM_OK;
  }
  at += at[1] == '>' ? 2 : 1;
  CM_TRY(read_term(call, &at, e->broadcast, e->label[e->operand_count], &e->rank[e->operand_count], error));
  for (uint32_t k = 0; k < e->rank[e->operand_count]; k++) {
    const uint32_t label = e->label[e->operand_count][k];
    if (!e->used[label] || times(e, e->operand_count, label) > 1)
      return cm_call_fail(call, error, "has a label in its output %s", e->used[label] ? "twice" : "that no input has");
  }
  return CM_OK;
}

cm_status cm_shape_einsum(cm_call *call, cm_error *error)
{
  einsum e;
  cm_shape *out = &call->output[0];
  out->type = call->input[0].type;
  for (uint32_t i = 0; i < call->input_count; i++)
    if (!cm_shape_known(&call->input[i]))
      return CM_OK;
  CM_TRY(read_equation(call, call->input, &e, error));
  out->rank = e.rank[e.operand_count];
  for (uint32_t k = 0; k < out->rank; k++)
    out->dims[k] = e.extent[e.label[e.operand_count][k]];
  return CM_OK;
}

bool cm_einsum_axes(const cm_call *call, uint32_t input, uint32_t axes[CM_RANK_MAX])
{
  einsum e;
  cm_error ignored;
  if (read_equation(call, call->input, &e, &ignored) != CM_OK || input >= e.operand_count)
    return false;
  const uint32_t *out = e.label[e.operand_count], rank = e.rank[e.operand_count];
  for (uint32_t d = 0; d < e.rank[input]; d++) {
    axes[d] = CM_NONE;
    for (uint32_t k = 0; k < rank && call->input[input].dims[d] != 1; k++)
      axes[d] = out[k] == e.label[input][d] ? k : axes[d];
  }
  return true;
}

bool cm_einsum_is_product(const cm_call *call)
{
  einsum e;
  cm_error ignored;
  const cm_type type = call->input_count > 0 ? call->input[0].type : CM_TYPE_NONE;
  bool summed = false;
  if (call->input_count != 2 || (type != CM_FLOAT && type != CM_FLOAT16 && type != CM_BFLOAT16) ||
      read_equation(call, call->input, &e, &ignored) != CM_OK)
    return false;
  for (uint32_t l = 0; l < LABELS; l++) {
    const uint32_t left = times(&e, 0, l), right = times(&e, 1, l), made = times(&e, 2, l);
    if (left > 1 || right > 1 || made > 1 || (made == 0 && left != right))
      return false;
    summed = summed || (left == 1 && right == 1 && made == 0);
  }
  return summed;
}

uint64_t cm_einsum_sums(const cm_call *call)
{
  einsum e;
  cm_error ignored;
  uint64_t sums = 1;
  if (read_equation(call, call->input, &e, &ignored) != CM_OK)
    return 1;
  for (uint32_t l = 0; l < LABELS; l++) {
    bool kept = false;
    for (uint32_t k = 0; k < e.rank[e.operand_count]; k++)
      kept = kept || e.label[e.operand_count][k] == l;
    sums *= e.used[l] && !kept ? (uint64_t)e.extent[l] : 1;
  }
  return sums;
}

cm_status cm_einsum_walk_of(const cm_call *call, cm_einsum_walk *w, cm_error *error)
{
  uint32_t order[LABELS];
  bool taken[LABELS] = {false};
  einsum e;
  CM_TRY(read_equation(call, call->input, &e, error));
  *w = (cm_einsum_walk){.count = 0};
  for (uint32_t k = 0; k < e.rank[e.operand_count]; k++) {
    order[w->count++] = e.label[e.operand_count][k];
    taken[e.label[e.operand_count][k]] = true;
  }
  w->kept = w->count;
  for (uint32_t l = 0; l < LABELS; l++)
    if (e.used[l] && !taken[l])
      order[w->count++] = l;
  for (uint32_t j = 0; j < w->count; j++)
    w->dims[j] = e.extent[order[j]];
  for (uint32_t i = 0; i < e.operand_count; i++) {
    int64_t strides[CM_RANK_MAX];
    cm_strides(call->input[i].rank, call->input[i].dims, strides);
    for (uint32_t j = 0; j < w->count; j++)
      for (uint32_t k = 0; k < e.rank[i]; k++) /* a label twice in one term walks its diagonal */
        w->step[i][j] += e.label[i][k] == order[j] && call->input[i].dims[k] != 1 ? strides[k] : 0;
  }
  return CM_OK;
}

static double one_sum(const cm_einsum_walk *w, uint32_t operands, cm_tensor *const *value, const int64_t *base)
{
  int64_t index[LABELS] = {0}, at[OPERANDS_MAX];
  double sum = 0;
  for (uint32_t j = w->kept; j < w->count; j++)
    if (w->dims[j] == 0)
      return 0;
  memcpy(at, base, operands * sizeof *at);
  for (;;) {
    double product = 1;
    for (uint32_t i = 0; i < operands; i++)
      product *= value[i]->type == CM_FLOAT ? (double)((const float *)value[i]->data)[at[i]]
                                            : cm_tensor_number(value[i], (uint64_t)at[i]);
    sum += product;
    uint32_t j = w->count;
    while (j-- > w->kept) {
      for (uint32_t i = 0; i < operands; i++)
        at[i] += w->step[i][j];
      if (++index[j] < w->dims[j])
        break;
      for (uint32_t i = 0; i < operands; i++)
        at[i] -= w->step[i][j] * w->dims[j];
      index[j] = 0;
    }
    if (j + 1 == w->kept)
      return sum;
  }
}

cm_status cm_kernel_einsum(cm_call *call, cm_error *error)
{
  cm_einsum_walk w;
  cm_tensor *y = call->result[0];
  int64_t index[CM_RANK_MAX] = {0};
  CM_TRY(cm_einsum_walk_of(call, &w, error));
  for (uint64_t k = 0; k < y->count; k++) {
    int64_t base[CM_EINSUM_INPUTS] = {0};
    for (uint32_t i = 0; i < call->input_count; i++)
      for (uint32_t j = 0; j < w.kept; j++)
        base[i] += index[j] * w.step[i][j];
    cm_tensor_put_number(y, k, one_sum(&w, call->input_count, call->value, base), false);
    (void)cm_next_index(y->rank, y->dims, index);
  }
  return CM_OK;
}
