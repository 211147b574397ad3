/* What coremap show prints, by what it is asked for; each returns an exit status. */
#pragma once

#include "cli/cli.h"

int cli_list_chips(cm_error *error);

/* A chip by name or path, as text, or as a file to copy and change. */
int cli_show_chip(const char *name, bool json, cm_error *error);

/* How many cores are free in the occupancy that the file `path` has, and how broken up they are. */
int cli_show_occupancy(const char *path, const char *chip, bool json, cm_error *error);

/* With `plot`, a path, its Pareto set is drawn. */
int cli_show_mapping(const char *path, bool as_json, const char *plot, cm_error *error);

/* What is asked of a mapping and its network: so many of the fullest links, a neuron by name or number, a core X,Y, the tree of a neuron's axon. */
typedef enum cli_mapping_kind { CLI_ASK_NOTHING, CLI_ASK_LINKS, CLI_ASK_NEURON, CLI_ASK_CORE, CLI_ASK_TREE, CLI_ASK_KINDS } cli_mapping_kind;
typedef struct cli_mapping_question {
  cli_mapping_kind kind;
  const char *value, *mapping, *network, *format;
  bool json;
} cli_mapping_question;
int cli_ask_mapping(const cli_mapping_question *question, cm_error *error);

/* Format NULL: recognised. as_model: why it is no model, for what looks like one; else NULL. */
int cli_show_network(const char *path, const char *format, bool json, const cm_error *as_model, cm_error *error);
