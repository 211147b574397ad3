#include "core/partition/part_file.h"

#include "core/partition/fixed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that lines may have: below `most`, and -1 (CM_NOT_FIXED) where vertices may be free. */
typedef struct allowed {
  uint32_t most;
  bool free;
} allowed;

static cm_status parse_line(const char *line, uint32_t number, allowed may, uint32_t *part, cm_error *error)
{
  const char *begin = line + strspn(line, " \t");
  if (may.free && strncmp(begin, "-1", 2) == 0 && begin[2 + strspn(begin + 2, " \t\r\n")] == '\0') {
    *part = CM_NOT_FIXED;
    return CM_OK;
  }
  char *end;
  errno = 0;
  unsigned long value = strtoul(line, &end, 10);
  while (*end == ' ' || *end == '\t' || *end == '\r' || *end == '\n')
    end++;
  if (end != line && *end == '\0' && errno == 0 && *begin != '-' && value < may.most) {
    *part = (uint32_t)value;
    return CM_OK;
  }
  int shown = (int)strcspn(line, "\r\n");
  cm_fail(error, CM_BAD_MAPPING, "line %u is no part number from 0 to %u%s: \"%.*s\"", number, may.most - 1, may.free ? ", nor -1" : "",
          shown < 40 ? shown : 40, line);
  return cm_fail_at(error, "line %u", number);
}

static cm_status read_lines(FILE *stream, uint32_t vertices, allowed may, uint32_t *part, cm_error *error)
{
  char line[256];
  for (uint32_t v = 0; v < vertices; v++) {
    if (fgets(line, sizeof line, stream) == NULL) {
      cm_fail(error, CM_BAD_MAPPING, "the file has %u lines, but the network has %u neurons", v, vertices);
      return cm_fail_at(error, "line %u", v + 1);
    }
    CM_TRY(parse_line(line, v + 1, may, &part[v], error));
  }
  while (fgets(line, sizeof line, stream) != NULL)
    for (const char *c = line; *c != '\0'; c++)
      if (*c != ' ' && *c != '\t' && *c != '\r' && *c != '\n') {
        cm_fail(error, CM_BAD_MAPPING, "the file has more lines than the network's %u neurons", vertices);
        return cm_fail_at(error, "line %u", vertices + 1);
      }
  return ferror(stream) ? cm_fail(error, CM_IO, "the part numbers cannot be read") : CM_OK;
}

static cm_status count_parts(const uint32_t *part, uint32_t vertices, cm_run *run, uint32_t *parts, cm_error *error)
{
  uint8_t *used;
  uint32_t count = 0;
  CM_TRY(CM_NEW(run->memory, used, vertices, error));
  for (uint32_t v = 0; v < vertices; v++) {
    used[part[v]] = 1;
    count = part[v] >= count ? part[v] + 1 : count;
  }
  cm_status status = CM_OK;
  for (uint32_t p = 0; p < count && status == CM_OK; p++)
    if (!used[p])
      status = cm_fail(error, CM_BAD_MAPPING, "part %u has no neuron, but part %u does: number parts without gaps", p,
                       count - 1);
  cm_free(used);
  if (status == CM_OK)
    *parts = count;
  return status;
}

static cm_status read_file(const char *path, uint32_t vertices, allowed may, cm_run *run, uint32_t **numbers, cm_error *error)
{
  uint32_t *read;
  FILE *stream = fopen(path, "re");
  if (stream == NULL)
    return cm_fail_errno(error, errno, "cannot open", path);
  cm_status status = CM_NEW(run->memory, read, vertices, error);
  CM_THEN(status, read_lines(stream, vertices, may, read, error));
  (void)fclose(stream);
  if (status == CM_OK)
    *numbers = read;
  else
    cm_free(read);
  return status;
}

cm_status cm_part_read(const char *path, uint32_t vertices, cm_run *run, uint32_t **part, uint32_t *parts,
                       cm_error *error)
{
  uint32_t *read;
  CM_TRY(read_file(path, vertices, (allowed){vertices, false}, run, &read, error));
  cm_status status = count_parts(read, vertices, run, parts, error);
  if (status == CM_OK)
    *part = read;
  else
    cm_free(read);
  return status;
}

cm_status cm_fix_read(const char *path, uint32_t vertices, uint32_t parts, cm_run *run, uint32_t **fixed, cm_error *error)
{
  return read_file(path, vertices, (allowed){parts, true}, run, fixed, error);
}
