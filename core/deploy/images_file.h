/* The neutral files of images, images.json and images.bin (docs/reference/core-images.md). */
#pragma once

#include <stdio.h>

#include "core/deploy/images.h"

/* Writes images, with the spikes of inputs in `given`; the stream keeps its errors. Same images, same bytes. O(images + spikes). */
void cm_images_print(const cm_images *images, const cm_spikes *given, FILE *stream);
void cm_images_put(const cm_images *images, const cm_spikes *given, FILE *stream); /* the same in binary */
