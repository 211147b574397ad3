/* Chips by name: presets, files, and meshes without a name. */
#include "core/chip/chip.h"

#include "base/file.h"
#include "core/chip/presets.h"

const char *const *cm_chip_presets(void)
{
  return cm_chip_preset_names;
}

const char *cm_chip_preset_text(const char *name)
{
  for (const cm_chip_preset *preset = cm_chip_preset_table; preset->name != NULL; preset++)
    if (strcmp(preset->name, name) == 0)
      return preset->text;
  return NULL;
}

static bool is_path(const char *text)
{
  size_t length = strlen(text);
  return strchr(text, '/') != NULL || (length > 5 && strcmp(text + length - 5, ".json") == 0);
}

cm_status cm_chip_open(const char *name_or_path, cm_chip **chip, cm_error *error)
{
  if (is_path(name_or_path)) {
    char *text;
    size_t size;
    cm_status status = cm_file_read(name_or_path, CM_CHIP_FILE_BYTES_MAX, &text, &size, error);
    CM_TRY(status);
    status = cm_chip_parse(text, size, chip, error);
    free(text);
    return status;
  }
  const char *text = cm_chip_preset_text(name_or_path);
  if (text != NULL)
    return cm_chip_parse(text, strlen(text), chip, error);
  char known[300] = "";
  size_t used = 0;
  for (const char *const *name = cm_chip_presets(); *name != NULL && used < sizeof known; name++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used == 0 ? "" : ", ", *name);
  return cm_fail(error, CM_NOT_FOUND,
                 "there is no chip \"%.80s\"; presets are %s (a chip file needs a '/' or ends in .json)",
                 name_or_path, known);
}

cm_status cm_chip_mesh(uint32_t width, uint32_t height, cm_chip **chip, cm_error *error)
{
  char text[400];
  int size = snprintf(text, sizeof text,
                      "{\"name\": \"mesh-%ux%u\", \"description\": \"A bare grid without limits.\", "
                      "\"cores\": [%u, %u], \"energy_pj\": {\"router\": 1, \"link\": 0.1}, "
                      "\"latency_ns\": {\"router\": 1, \"link\": 0.01}}",
                      width, height, width, height);
  return cm_chip_parse(text, (size_t)size, chip, error);
}
