/* Tar archives: a list of members, each a piece of the image. Happy path: a header of 512 bytes, the member, padding, and so
 * on to a block of zeros. Names come from the header, from one of GNU (L) or one of pax (x) before it; what is no file is
 * passed over. What can fail: a header without its checksum, a member that goes beyond the end. */
#include <string.h>

#include "core/network/archive/archive.h"
#include "core/network/recognise.h"

enum { BLOCK = 512, NAME_MAX_BYTES = 100, PREFIX_AT = 345, PREFIX_MAX = 155, SIZE_AT = 124, SUM_AT = 148, KIND_AT = 156, MAGIC_AT = 257 };

bool cm_is_tar(const uint8_t *bytes, size_t size)
{
  return size >= BLOCK && memcmp(bytes + MAGIC_AT, "ustar", 5) == 0;
}

static cm_status bad(uint64_t at, const char *what, cm_error *error)
{
  cm_fail(error, CM_BAD_NETWORK, "the tar archive is damaged or cut off at byte %llu: %s", (unsigned long long)at, what);
  return cm_fail_at(error, "byte %llu", (unsigned long long)at);
}

/* A number in octal digits, or in base 256 where it begins with the high bit. */
static bool number(const uint8_t *field, size_t size, uint64_t *value)
{
  *value = 0;
  if ((field[0] & 0x80) != 0) {
    for (size_t i = 0; i < size; i++) {
      if (*value >> 55 != 0)
        return false;
      *value = *value << 8 | (i == 0 ? field[i] & 0x7fu : field[i]);
    }
    return true;
  }
  size_t i = 0;
  while (i < size && field[i] == ' ')
    i++;
  for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
    *value = *value << 3 | (uint64_t)(field[i] - '0');
  return i == size || field[i] == ' ' || field[i] == '\0';
}

static bool sums_up(const uint8_t *head)
{
  uint64_t stated, sum = 0;
  for (int i = 0; i < BLOCK; i++)
    sum += i >= SUM_AT && i < SUM_AT + 8 ? ' ' : head[i];
  return number(head + SUM_AT, 8, &stated) && stated == sum;
}

static bool is_zero(const uint8_t *head)
{
  for (int i = 0; i < BLOCK; i++)
    if (head[i] != 0)
      return false;
  return true;
}

static char *copy_name(const uint8_t *from, size_t length, const uint8_t *prefix, size_t prefixed, cm_memory *memory, cm_error *error)
{
  char *name;
  if (CM_NEW(memory, name, prefixed + length + 2, error) != CM_OK)
    return NULL;
  memcpy(name, prefix, prefixed);
  if (prefixed > 0)
    name[prefixed++] = '/';
  memcpy(name + prefixed, from, length);
  return name;
}

/* What a pax header says of the next member: "LENGTH path=NAME\n". */
static void pax_path(const uint8_t *data, uint64_t size, const uint8_t **path, size_t *length)
{
  for (uint64_t at = 0; at < size;) {
    uint64_t record = 0, digits = at;
    while (digits < size && data[digits] >= '0' && data[digits] <= '9' && record < size)
      record = record * 10 + (uint64_t)(data[digits++] - '0');
    if (digits == at || digits >= size || data[digits] != ' ' || record > size - at || record < digits - at + 2)
      return;
    const uint8_t *text = data + digits + 1;
    size_t here = (size_t)(at + record - digits - 2);
    if (here > 5 && memcmp(text, "path=", 5) == 0) {
      *path = text + 5;
      *length = here - 5;
    }
    at += record;
  }
}

cm_status cm_tar_list(const uint8_t *image, uint64_t size, cm_memory *memory, cm_tar_member **members, uint64_t *count, cm_error *error)
{
  cm_tar_member *made = NULL;
  uint64_t room = 0, kept = 0;
  const uint8_t *given = NULL; /* the next member's name, from a header of its own */
  size_t given_length = 0;
  cm_status status = CM_OK;
  for (uint64_t at = 0; status == CM_OK && at + BLOCK <= size && !is_zero(image + at);) {
    const uint8_t *head = image + at;
    uint64_t bytes;
    if (!cm_is_tar(head, BLOCK) || !sums_up(head))
      status = bad(at, "no header is there", error);
    else if (!number(head + SIZE_AT, 12, &bytes) || bytes > size - at - BLOCK)
      status = bad(at, "a member goes beyond the end", error);
    if (status != CM_OK)
      break;
    const uint8_t *data = head + BLOCK;
    char kind = (char)head[KIND_AT];
    if (kind == 'L') {
      given = data;
      given_length = strnlen((const char *)data, (size_t)bytes);
    } else if (kind == 'x') {
      pax_path(data, bytes, &given, &given_length);
    } else {
      if (kind == '0' || kind == '\0' || kind == '7') {
        size_t prefixed = given == NULL && head[MAGIC_AT + 5] == '\0' ? strnlen((const char *)head + PREFIX_AT, PREFIX_MAX) : 0;
        const uint8_t *name = given != NULL ? given : head;
        size_t length = given != NULL ? given_length : strnlen((const char *)head, NAME_MAX_BYTES);
        status = kept == CM_ARCHIVE_MEMBERS_MAX ? bad(at, "it has more than 4096 members", error)
                                                : CM_ROOM(memory, made, &room, kept + 1, error);
        if (status == CM_OK && (made[kept].name = copy_name(name, length, head + PREFIX_AT, prefixed, memory, error)) == NULL)
          status = error->status;
        if (status == CM_OK) {
          made[kept].data = data;
          made[kept++].bytes = bytes;
        }
      }
      given = NULL;
    }
    at += BLOCK + (bytes + BLOCK - 1) / BLOCK * BLOCK;
  }
  CM_TRY_OR(status, cm_tar_free(made, kept));
  *members = made;
  *count = kept;
  return CM_OK;
}

void cm_tar_free(cm_tar_member *members, uint64_t count)
{
  for (uint64_t i = 0; i < count; i++)
    cm_free(members[i].name);
  cm_free(members);
}
