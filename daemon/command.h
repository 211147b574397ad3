/* How the commands beside a server read their words, and how they end. */
#pragma once

#include "daemon/config.h"

enum { EXIT_USAGE = 2, CM_COMMAND_WORDS_MAX = 64 };

/* Say what is wrong with the words of a command, or what failed; return the exit status. */
int cm_command_wrong(const char *command, const char *what, const char *word);
int cm_command_fail(const cm_error *error);

/* A flag of a command, "--core-hours" by the name "core_hours": what follows it, or an equals sign, is its value; or (given) it has none. */
typedef struct cm_command_flag {
  const char *name;
  const char **value;
  bool *given;
} cm_command_flag;

/* What a command takes: flags, and words that are none in their order. All else are settings, as of the server. */
typedef struct cm_command {
  const char *name, *usage; /* the command whose --help says more; what that says */
  const cm_command_flag *flags;
  const char **const *words;
  size_t flag_count, word_count;
  char *rest[CM_COMMAND_WORDS_MAX]; /* what is left, once they are read */
  int rest_count;
  const char *extra; /* a word more than it takes; NULL: none */
} cm_command;

/* Reads words [count] from the third on, then the settings that are left (owner.h). The exit status of a command that has ended by that;
 * negative: it is to go on. */
int cm_command_read(cm_command *command, int count, char **words);
int cm_command_settle(cm_command *command, cm_config *config);
