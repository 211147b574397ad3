#include "daemon/command.h"

#include "daemon/owner.h"

int cm_command_wrong(const char *command, const char *what, const char *word)
{
  (void)fprintf(stderr, "coremapd: %s%s; coremapd %s --help says more\n", what, word, command);
  return EXIT_USAGE;
}

int cm_command_fail(const cm_error *error)
{
  (void)fprintf(stderr, "coremapd: %s\n", error->detail);
  return error->status == CM_BAD_OPTION ? EXIT_USAGE : EXIT_FAILURE;
}

/* The flag that a word begins with; NULL: it is none of the command's. */
static const cm_command_flag *flag_of(const cm_command *command, const char *word)
{
  for (const cm_command_flag *flag = command->flags; flag < command->flags + command->flag_count; flag++) {
    size_t at = 0;
    while (flag->name[at] != '\0' && word[at + 2] == (flag->name[at] == '_' ? '-' : flag->name[at]))
      at++;
    if (flag->name[at] == '\0' && (word[at + 2] == '\0' || (word[at + 2] == '=' && flag->given == NULL)))
      return flag;
  }
  return NULL;
}

int cm_command_read(cm_command *command, int count, char **words)
{
  size_t named = 0;
  command->rest[command->rest_count++] = words[0];
  for (int i = 2; i < count; i++) {
    const char *word = words[i], *equals = strchr(word, '=');
    const cm_command_flag *flag = strncmp(word, "--", 2) == 0 ? flag_of(command, word) : NULL;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
      (void)fputs(command->usage, stdout);
      return EXIT_SUCCESS;
    }
    if (flag != NULL && flag->given != NULL)
      *flag->given = true;
    else if (word[0] == '-' && equals == NULL && i + 1 == count)
      return cm_command_wrong(command->name, "a value is missing after ", word);
    else if (flag != NULL)
      *flag->value = equals != NULL ? equals + 1 : words[++i];
    else if (word[0] != '-' && named < command->word_count)
      *command->words[named++] = word;
    else if (word[0] != '-' && named > 0)
      command->extra = word;
    else if (command->rest_count + 2 >= CM_COMMAND_WORDS_MAX)
      return cm_command_wrong(command->name, "unexpected argument: ", word);
    else {
      command->rest[command->rest_count++] = words[i];
      if (word[0] == '-' && equals == NULL)
        command->rest[command->rest_count++] = words[++i];
    }
  }
  return -1;
}

int cm_command_settle(cm_command *command, cm_config *config)
{
  cm_error error;
  if (command->extra != NULL)
    return cm_command_wrong(command->name, "unexpected argument: ", command->extra);
  return cm_owner_config(command->rest_count, command->rest, config, &error) == CM_OK ? -1 : cm_command_fail(&error);
}
