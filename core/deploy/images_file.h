/* The neutral file of images, images.json (docs/reference/core-images.md). */
#ifndef CM_DEPLOY_IMAGES_FILE_H
#define CM_DEPLOY_IMAGES_FILE_H

#include <stdio.h>

#include "core/deploy/images.h"

/* Writes images; the stream keeps its errors. Same images, same bytes. O(images). */
void cm_images_print(const cm_images *images, FILE *stream);

#endif
