/* The query arguments of lists, from their table; and what is said of the table to people. */
#pragma once

#include <jansson.h>

#include "storage/lists.h"

/* Their names, between spaces, for the routes. */
extern const char cm_arguments_jobs[], cm_arguments_sweeps[], cm_arguments_results[], cm_arguments_networks[];

/* For the OpenAPI document: an argument of a list's path, NULL: it is no field; and adds the members that rows show by the table to the
 * properties of their schema. */
json_t *cm_list_argument(const char *path, const char *name);
void cm_list_describe(cm_list list, json_t *properties);
