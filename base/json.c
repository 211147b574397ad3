/* jansson's parser loses a character of a text when memory runs out, goes on, and looks for the quote that it lost in the
 * heap behind. So it does not go on: a refusal leaves the parser at once, and what it had allocated is freed here. */
#include "base/json.h"

#include <errno.h>
#include <setjmp.h>

#include "base/memory.h"
/* The model also serves in a shared library (python/). */
static _Thread_local __attribute__((tls_model("initial-exec"))) uint64_t refusals;

/* What one parser has allocated and not freed. */
typedef struct parsing {
  jmp_buf refused;
  void **block;
  size_t count, room;
  size_t left; /* bytes that may still be allocated */
} parsing;

static _Thread_local __attribute__((tls_model("initial-exec"))) parsing *under_way; /* NULL: jansson does something else in this thread */

/* Room for one more block. */
static bool make_room(parsing *p)
{
  if (p->count < p->room)
    return true;
  size_t room = p->room == 0 ? 64 : 2 * p->room;
  void **block = realloc(p->block, room * sizeof *block);
  if (block == NULL)
    return false;
  p->block = block;
  p->room = room;
  return true;
}

/* Takes an allocation, and what malloc and the list of blocks add to it, from what is left. */
static bool spend(parsing *p, size_t size)
{
  enum { BESIDE = 24 };
  if (size > SIZE_MAX - BESIDE || size + BESIDE > p->left)
    return false;
  p->left -= size + BESIDE;
  return make_room(p);
}

static void *allocate(size_t size)
{
  void *block = under_way == NULL || spend(under_way, size) ? malloc(size) : NULL;
  if (block == NULL)
    refusals++;
  if (under_way == NULL)
    return block;
  if (block == NULL)
    longjmp(under_way->refused, 1);
  under_way->block[under_way->count++] = block;
  return block;
}

/* What the parser frees, it allocated last, but for the names of members: those it frees after their values. */
static void release(void *block)
{
  parsing *p = under_way;
  if (p != NULL && block != NULL) {
    size_t i = p->count;
    while (i > 0 && p->block[i - 1] != block)
      i--;
    if (i > 0)
      p->block[i - 1] = NULL;
    while (p->count > 0 && p->block[p->count - 1] == NULL)
      p->count--;
  }
  free(block);
}

/* Before main, because jansson has to allocate and free by the same pair; malloc and free are also its own. */
__attribute__((constructor)) static void count_refusals(void)
{
  json_set_alloc_funcs(allocate, release);
}

uint64_t cm_json_refusals(void)
{
  return refusals;
}

json_t *cm_json_loadb(const char *text, size_t size, size_t flags, json_error_t *where)
{
  return cm_json_loadb_within(text, size, flags, SIZE_MAX, where);
}

json_t *cm_json_loadb_within(const char *text, size_t size, size_t flags, size_t most, json_error_t *where)
{
  parsing p = {.left = most};
  json_t *root = NULL;
  if (setjmp(p.refused) == 0) {
    under_way = &p;
    root = json_loadb(text, size, flags, where);
    under_way = NULL;
  } else {
    under_way = NULL;
    for (size_t i = 0; i < p.count; i++)
      free(p.block[i]);
    if (where != NULL) {
      *where = (json_error_t){.line = -1, .column = -1};
      (void)strncpy(where->text, "out of memory", sizeof where->text - 1);
    }
    root = NULL;
  }
  free(p.block);
  return root;
}

char *cm_json_dumps(const json_t *json, size_t flags)
{
  uint64_t before = refusals;
  char *text = json_dumps(json, flags);
  if (refusals == before)
    return text;
  free(text);
  return NULL;
}

int cm_json_dumpf(const json_t *json, FILE *stream, size_t flags)
{
  char *text = cm_json_dumps(json, flags);
  if (text == NULL)
    errno = ENOMEM;
  int failed = text == NULL || fputs(text, stream) == EOF ? -1 : 0;
  free(text);
  return failed;
}

cm_status cm_json_whole(uint64_t before, const char *what, cm_error *error)
{
  return cm_whole(refusals == before, what, error);
}

cm_status cm_json_set(json_t *object, const char *name, json_t *value, const char *what, cm_error *error)
{
  return cm_whole(json_object_set_new(object, name, value) == 0, what, error);
}

cm_status cm_json_append(json_t *list, json_t *value, const char *what, cm_error *error)
{
  return cm_whole(json_array_append_new(list, value) == 0, what, error);
}

cm_status cm_json_text(json_t *value, size_t flags, const char *what, char **text, cm_error *error)
{
  char *made = value != NULL ? cm_json_dumps(value, flags) : NULL;
  json_decref(value);
  CM_TRY(cm_whole(made != NULL, what, error));
  *text = made;
  return CM_OK;
}

/* ---- strings ---- */

const char *cm_json_piece(const char *text, size_t *plain, char escape[CM_JSON_ESCAPE_MAX])
{
  size_t size = 0;
  while ((unsigned char)text[size] >= 0x20 && text[size] != '"' && text[size] != '\\')
    size++;
  *plain = size;
  const unsigned char byte = (unsigned char)text[size];
  if (byte == '\0')
    escape[0] = '\0';
  else if (byte < 0x20)
    (void)snprintf(escape, CM_JSON_ESCAPE_MAX, "\\u%04X", byte);
  else
    (void)snprintf(escape, CM_JSON_ESCAPE_MAX, "\\%c", byte);
  return text + size + (byte != '\0');
}

void cm_json_put_string(const char *text, FILE *stream)
{
  (void)fputc('"', stream);
  while (*text != '\0') {
    char escape[CM_JSON_ESCAPE_MAX];
    size_t plain;
    const char *rest = cm_json_piece(text, &plain, escape);
    (void)fwrite(text, 1, plain, stream);
    (void)fputs(escape, stream);
    text = rest;
  }
  (void)fputc('"', stream);
}
