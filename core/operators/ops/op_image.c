/* ImageDecoder (ONNX operator specification, opset 20) of PNG pictures. */
#include <png.h>
#include <string.h>

#include "core/operators/operator.h"

typedef enum pixels { RGB, BGR, GRAYSCALE } pixels;

static cm_status read_format(const cm_call *call, pixels *format, cm_error *error)
{
  static const char *const known[] = {"RGB", "BGR", "Grayscale"};
  const char *name = cm_node_text(call->node, "pixel_format", known[RGB]);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(name, known[i]) == 0) {
      *format = (pixels)i;
      return CM_OK;
    }
  return cm_call_fail(call, error, "its attribute pixel_format is %.40s; RGB, BGR and Grayscale are computed", name);
}

/* Begins to read: `image` has the extents then, and is the caller's (png_image_free). What follows the picture is passed over. */
static cm_status begin(const cm_call *call, png_image *image, cm_error *error)
{
  const cm_tensor *x = call->value[0];
  *image = (png_image){.version = PNG_IMAGE_VERSION};
  if (x->count >= 8 && png_sig_cmp(x->data, 0, 8) == 0 && png_image_begin_read_from_memory(image, x->data, (size_t)x->count) != 0)
    return CM_OK;
  const cm_status status =
    cm_call_fail(call, error, image->message[0] != '\0' ? "its picture is a damaged PNG file: %.64s" : "its picture is no PNG file, which alone is decoded", image->message);
  png_image_free(image);
  return status;
}

cm_status cm_shape_image_decoder(cm_call *call, cm_error *error)
{
  pixels format;
  png_image image;
  cm_shape made = {.type = CM_UINT8, .rank = 3, .dims = {CM_UNKNOWN_DIM, CM_UNKNOWN_DIM, 3}};
  CM_TRY(read_format(call, &format, error));
  if (call->input[0].rank != CM_UNKNOWN_RANK && call->input[0].rank != 1)
    return cm_call_fail(call, error, "its input has rank %u; it should be the bytes of a file", call->input[0].rank);
  if (format == GRAYSCALE)
    made.dims[2] = 1;
  if (call->value[0] != NULL) {
    CM_TRY(begin(call, &image, error));
    made.dims[0] = image.height;
    made.dims[1] = image.width;
    png_image_free(&image);
  }
  call->output[0] = made;
  return CM_OK;
}

/* Transparency is left out. */
static void put_pixel(const uint8_t *rgba, pixels format, uint8_t *to)
{
  if (format == GRAYSCALE)
    *to = (uint8_t)((19595u * rgba[0] + 38470u * rgba[1] + 7471u * rgba[2] + 32768u) >> 16); /* ITU-R 601, as Pillow rounds it */
  else
    for (int c = 0; c < 3; c++)
      to[c] = rgba[format == RGB ? c : 2 - c];
}

cm_status cm_kernel_image_decoder(cm_call *call, cm_error *error)
{
  pixels format;
  png_image image;
  uint8_t *rgba = NULL, *to = call->result[0]->data;
  const int64_t *dims = call->output[0].dims;
  CM_TRY(read_format(call, &format, error));
  CM_TRY(begin(call, &image, error));
  cm_status status = CM_OK;
  if (image.height != dims[0] || image.width != dims[1])
    status = cm_call_fail(call, error, "its picture has %u rows of %u pixels; %lld of %lld are expected", image.height, image.width, (long long)dims[0], (long long)dims[1]);
  image.format = PNG_FORMAT_RGBA;
  CM_THEN(status, CM_NEW(call->memory, rgba, PNG_IMAGE_SIZE(image), error));
  if (status == CM_OK && png_image_finish_read(&image, NULL, rgba, 0, NULL) == 0)
    status = cm_call_fail(call, error, "its picture is a damaged PNG file: %.64s", image.message);
  for (int64_t i = 0; status == CM_OK && i < dims[0] * dims[1]; i++)
    put_pixel(rgba + 4 * i, format, to + i * dims[2]);
  png_image_free(&image);
  cm_free(rgba);
  return status;
}
