/* Shapes that a user states for what a model leaves open. */
#pragma once

#include "base/option.h"
#include "core/operators/graph.h"

enum { CM_STATED_SHAPES_MAX = 32, CM_STATED_NAME_MAX = 128 };

/* Extents by the name of a graph input, or one extent by the name of an open dimension. */
typedef struct cm_stated_shapes {
  uint32_t count;
  struct {
    char name[CM_STATED_NAME_MAX];
    uint32_t rank;
    int64_t dims[CM_RANK_MAX];
  } item[CM_STATED_SHAPES_MAX];
} cm_stated_shapes;

/* Adds what text like "input=1x3x640x480" or "image=1x3x64x64,batch=4" states. Errors: CM_BAD_OPTION at /options/shape
 * for text that is not of this form, a name stated twice, an extent that is none; nothing is added then. */
cm_status cm_stated_shapes_parse(const char *text, cm_stated_shapes *shapes, cm_error *error);

/* Adds one shape. Errors: as above. */
cm_status cm_stated_shapes_add(cm_stated_shapes *shapes, const char *name, const int64_t *dims, uint32_t rank, cm_error *error);

/* The same as the value of an option: text, or {NAME: [EXTENT, ...]}; the field is a cm_stated_shapes. */
extern const cm_option_own cm_stated_shapes_option;

/* Gives a model's inputs the extents that are stated; open dimensions of one name get one extent. Call it before
 * cm_infer. Errors: CM_BAD_OPTION at /options/shape: a name that is neither an input nor an open dimension, another
 * number of dimensions, an extent that the model declares otherwise or that two inputs would have differently. */
cm_status cm_model_state_shapes(cm_model *model, const cm_stated_shapes *shapes, cm_error *error);

/* CM_OK when every extent of every graph input is known; else CM_BAD_OPTION at /options/shape with the open dimensions
 * and what to write. */
cm_status cm_model_need_shapes(const cm_model *model, cm_error *error);
