#include "core/deploy/emitters.h"

#include <string.h>

static const struct {
  const char *name;
  cm_emit *emit;
} emitters[] = {
#define EMITTER(name, function) {name, function},
#include "core/deploy/emitters.def"
#undef EMITTER
};

cm_status cm_emitter_find(const cm_chip *chip, cm_emit **emit, cm_error *error)
{
  for (size_t i = 0; i < sizeof emitters / sizeof *emitters; i++)
    if (strcmp(emitters[i].name, chip->images.format) == 0) {
      *emit = emitters[i].emit;
      return CM_OK;
    }
  if (chip->images.format[0] == '\0')
    return cm_fail(error, CM_BAD_CHIP, "nobody makes images for chip %s: its file has no \"images\", as that of %s has", chip->name, emitters[0].name);
  return cm_fail(error, CM_BAD_CHIP, "chip %s has images of format \"%s\", which is not known: \"%s\" is", chip->name, chip->images.format, emitters[0].name);
}
