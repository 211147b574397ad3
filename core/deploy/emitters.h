/* Images in the words of a chip: rows of core/deploy/emitters.def. */
#pragma once

#include <stdio.h>

#include "core/deploy/images.h"

/* Writes all that a chip is programmed with, the inputs' spikes of `given`, and how many steps it is to run. Errors: CM_CONFLICT: what the chip's words
 * have no room for; the stream keeps its own. O(images + spikes). */
typedef cm_status cm_emit(const cm_images *images, const cm_spikes *given, FILE *stream, cm_error *error);

/* What images of a chip are made of; CM_BAD_CHIP likewise. */
cm_status cm_emitter_words(const cm_chip *chip, cm_chip_words *words, cm_error *error);

/* The emitter of a chip's images; CM_BAD_CHIP: its file names none, or one that is not there. */
cm_status cm_emitter_find(const cm_chip *chip, cm_emit **emit, cm_error *error);

#define EMITTER(name, function, relay, other, bits) cm_emit function;
#include "core/deploy/emitters.def"
#undef EMITTER
