/* What operators of domain ai.onnx.ml share. */
#pragma once

#include "core/operators/operator.h"

/* Rows and columns of the first input: one row where it has one dimension. CM_UNKNOWN_DIM: not known. */
cm_status cm_learned_rows(const cm_call *call, int64_t *rows, int64_t *columns, cm_error *error);

/* A list that has to be there, or may be left out (*count becomes 0); as long as *count says where that is not 0. */
cm_status cm_learned_integers(const cm_call *call, const char *name, bool needed, const int64_t **list, size_t *count, cm_error *error);
cm_status cm_learned_numbers(const cm_call *call, const char *name, bool needed, const float **list, size_t *count, cm_error *error);

/* Shapes of a classifier: labels, and a score a class. Errors: labels that are text, or fewer than two. */
cm_status cm_learned_classes(cm_call *call, const char *labels, int64_t *classes, cm_error *error);

/* Whether attribute post_transform is one of the five that there are. */
cm_status cm_learned_check_post(const cm_call *call, cm_error *error);

/* Does to the scores of a row what attribute post_transform says. */
void cm_learned_post(const cm_node *node, float *scores, size_t count);

/* The first of the largest. */
size_t cm_learned_best(const float *scores, size_t count);
