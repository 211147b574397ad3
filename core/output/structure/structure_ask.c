/* Questions: read, and handed to whom answers them. */
#include <stdlib.h>
#include <string.h>

#include "core/chip/interconnect/interconnect.h"
#include "core/output/structure/asking.h"

static const struct {
  const char *name;
  const char *arguments; /* between spaces */
  cm_status (*answer)(cm_asking *q, cm_error *error);
} kinds[] = {{"links", "sort limit axons", cm_answer_links},
             {"flows", "core neuron population link limit", cm_answer_flows},
             {"tree", "neuron axon limit", cm_answer_tree},
             {"neurons", "find limit", cm_answer_neurons},
             {"matrix", "by", cm_answer_matrix},
             {"routers", "", cm_answer_routers},
             {"diff", "limit", cm_answer_diff}};
enum { KINDS = sizeof kinds / sizeof *kinds, ARGUMENTS_MAX = 8 };

static size_t find_kind(const char *name, size_t length)
{
  size_t k = 0;
  while (k < KINDS && (strncmp(kinds[k].name, name, length) != 0 || kinds[k].name[length] != '\0'))
    k++;
  return k;
}

bool cm_structure_is_question(const char *text)
{
  const size_t length = strcspn(text, "?");
  return text[length] == '?' && find_kind(text, length) < KINDS;
}

static bool has_word(const char *words, const char *word)
{
  const size_t length = strlen(word);
  for (const char *p = words; length > 0 && (p = strstr(p, word)) != NULL; p += length)
    if ((p == words || p[-1] == ' ') && (p[length] == '\0' || p[length] == ' '))
      return true;
  return false;
}

static cm_status open_chip(cm_asking *q, cm_error *error)
{
  const cm_structure *s = q->s;
  cm_status status = cm_chip_parse(s->chip, strlen(s->chip), &q->chip, error);
  if (status == CM_BAD_CHIP)
    return cm_fail(error, CM_DAMAGED, "the structure of a mapping is of a chip that cannot be read");
  if (status != CM_OK || cm_interconnect_prepare(q->chip->interconnect, error) != CM_OK)
    return error->status;
  for (uint32_t p = 0; p < cm_structure_parts(s); p++)
    if (s->core[p] >= cm_chip_cores(q->chip))
      return cm_fail(error, CM_DAMAGED, "the structure of a mapping has a core that its chip has not");
  return CM_OK;
}

cm_status cm_structure_answer(const cm_structure *s, const cm_structure *other, const char *kind, cm_arguments arguments, FILE *stream,
                              cm_error *error)
{
  cm_asking q = {.s = s, .other = other, .arguments = arguments, .w = {.stream = stream}};
  const size_t k = find_kind(kind, strlen(kind));
  if (k == KINDS)
    return cm_fail(error, CM_BAD_OPTION, "\"%.40s\" is no question about a mapping: links, flows, tree, neurons, matrix, routers, diff", kind);
  for (size_t i = 0; arguments[i] != NULL; i += 2)
    if (!has_word(kinds[k].arguments, arguments[i]))
      return cm_asked_badly(error, arguments[i], "%s has no argument \"%.40s\"; it has %s", kind, arguments[i], kinds[k].arguments);
  cm_status status = open_chip(&q, error);
  CM_THEN(status, kinds[k].answer(&q, error));
  cm_chip_free(q.chip);
  return status;
}

/* Puts the bytes that %XX stand for in their place. */
static void decode(char *text)
{
  char *to = text;
  for (const char *from = text; *from != '\0'; from++) {
    char digits[3] = {from[0] == '%' ? from[1] : '\0', from[0] == '%' && from[1] != '\0' ? from[2] : '\0', '\0'}, *end = digits;
    const unsigned long byte = strtoul(digits, &end, 16);
    const bool coded = end == digits + 2 && byte > 0;
    *to++ = coded ? (char)byte : *from;
    from += coded ? 2 : 0;
  }
  *to = '\0';
}

cm_status cm_structure_ask(const cm_structure *s, const char *question, FILE *stream, cm_error *error)
{
  const char *arguments[2 * ARGUMENTS_MAX + 1] = {NULL};
  char *text, *rest, *one;
  size_t count = 0;
  CM_TRY(CM_HEAP(text, strlen(question) + 1, "a question", error));
  memcpy(text, question, strlen(question) + 1);
  char *at = text + strcspn(text, "?");
  if (*at != '\0')
    *at++ = '\0';
  for (one = strtok_r(at, "&", &rest); one != NULL && count < 2 * ARGUMENTS_MAX; one = strtok_r(NULL, "&", &rest)) {
    char *value = one + strcspn(one, "=");
    if (*value != '\0')
      *value++ = '\0';
    decode(value);
    arguments[count++] = one;
    arguments[count++] = value;
  }
  cm_status status = cm_structure_answer(s, NULL, text, arguments, stream, error);
  free(text);
  return status;
}
