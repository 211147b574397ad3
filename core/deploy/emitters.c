#include "core/deploy/emitters.h"

#include <string.h>

static const struct emitter {
  const char *name;
  cm_emit *emit;
  cm_chip_words words;
} emitters[] = {
#define EMITTER(name, function, relay, other, bits) {name, function, {CM_CHIP_NEURON_##relay, CM_CHIP_NEURON_##other, bits}},
#include "core/deploy/emitters.def"
#undef EMITTER
};

static cm_status find(const cm_chip *chip, const struct emitter **found, cm_error *error)
{
  for (size_t i = 0; i < sizeof emitters / sizeof *emitters; i++)
    if (strcmp(emitters[i].name, chip->images.format) == 0) {
      *found = &emitters[i];
      return CM_OK;
    }
  if (chip->images.format[0] == '\0')
    return cm_fail(error, CM_BAD_CHIP, "nobody makes images for chip %s: its file has no \"images\", as that of %s has", chip->name, emitters[0].name);
  return cm_fail(error, CM_BAD_CHIP, "chip %s has images of format \"%s\", which is not known: \"%s\" is", chip->name, chip->images.format, emitters[0].name);
}

cm_status cm_emitter_find(const cm_chip *chip, cm_emit **emit, cm_error *error)
{
  const struct emitter *found;
  const cm_status status = find(chip, &found, error);
  if (status == CM_OK)
    *emit = found->emit;
  return status;
}

cm_status cm_emitter_words(const cm_chip *chip, cm_chip_words *words, cm_error *error)
{
  const struct emitter *found;
  const cm_status status = find(chip, &found, error);
  if (status == CM_OK)
    *words = found->words;
  return status;
}
