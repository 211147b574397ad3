#include "core/network/formats/table.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/network/formats/readers.h"

const cm_network_format cm_network_formats[CM_FORMATS] = {
#define FORMAT(number, reader, called, said, ...) \
  [CM_FORMAT_##number] = {.name = called, .about = said, .import = reader, __VA_ARGS__},
#include "core/network/formats/formats.def"
#undef FORMAT
};

bool cm_path_ends(const char *path, size_t length, const char *ending)
{
  size_t tail = strlen(ending);
  return length >= tail && strncasecmp(path + length - tail, ending, tail) == 0;
}

const char *cm_format_ending(const cm_network_format *format, const char *path)
{
  size_t length = strlen(path);
  if (!format->packed && cm_path_ends(path, length, ".gz"))
    length -= strlen(".gz");
  for (size_t i = 0; i < CM_FORMAT_ENDINGS_MAX && format->ending[i] != NULL; i++)
    if (cm_path_ends(path, length, format->ending[i]))
      return format->ending[i];
  return NULL;
}

const cm_network_format *cm_network_format_find(const char *name)
{
  for (size_t i = 0; i < CM_FORMATS; i++)
    if (strcmp(cm_network_formats[i].name, name) == 0)
      return &cm_network_formats[i];
  return NULL;
}

const cm_network_format *cm_network_format_by_ending(const char *path)
{
  for (size_t i = 0; i < CM_FORMATS; i++)
    if (cm_format_ending(&cm_network_formats[i], path) != NULL)
      return &cm_network_formats[i];
  return NULL;
}

const char *cm_network_format_name_at(size_t index)
{
  return index < CM_FORMATS ? cm_network_formats[index].name : NULL;
}

cm_status cm_network_format_file_name(const char *said, char name[CM_FORMAT_FILE_NAME_MAX], cm_error *error)
{
  char names[CM_FORMAT_NAMES_MAX], made[CM_FORMAT_FILE_NAME_MAX];
  const cm_network_format *format = cm_network_format_find(said);
  int length = snprintf(made, sizeof made, "network%s%s", format != NULL || said[0] == '.' ? "" : ".",
                        format != NULL ? format->ending[0] : said);
  const cm_network_format *written = length < (int)sizeof made ? cm_network_format_by_ending(made) : NULL;
  if (written != NULL && !cm_network_format_written(written))
    return cm_fail(error, CM_BAD_OPTION, "networks are not written as %s, only read", written->name);
  if (written == NULL)
    return cm_fail(error, CM_BAD_OPTION, "there is no network format \"%.40s\"; the formats are %s", said,
                   cm_network_format_names(names));
  (void)snprintf(name, CM_FORMAT_FILE_NAME_MAX, "%s", made);
  return CM_OK;
}

/* "A, B, C" of one text of every row. */
static const char *list(char *text, size_t size, bool about)
{
  size_t used = 0;
  for (size_t i = 0; i < CM_FORMATS && used < size; i++) {
    int more = snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ", ",
                        about ? cm_network_formats[i].about : cm_network_formats[i].name);
    used += more > 0 ? (size_t)more : 0;
  }
  return text;
}

const char *cm_network_format_names(char text[CM_FORMAT_NAMES_MAX])
{
  return list(text, CM_FORMAT_NAMES_MAX, false);
}

const char *cm_network_formats_about(char text[CM_FORMAT_NAMES_MAX])
{
  return list(text, CM_FORMAT_NAMES_MAX, true);
}
