/* Networks that a command line names, and how they are to be read. */

#include "cli/cli.h"

static json_t *read_options; /* as they are given */

const char *cli_read_option(const char *name)
{
  return json_string_value(json_object_get(read_options, name));
}

/* Whether a word begins with a name, of which it may write '_' as '-'. */
static bool begins_with(const char *word, const char *name)
{
  for (; *name != '\0'; word++, name++)
    if (*word != *name && !(*name == '_' && *word == '-'))
      return false;
  return true;
}

/* The option that a word names, "--zeros" or "--zeros=drop", with *value what stands behind the sign; NULL: none. */
static const json_t *option_of(const char *word, const char **value)
{
  const json_t *option;
  size_t i;
  json_array_foreach(cli_table("reading"), i, option) {
    const char *name = cli_text(option, "name");
    size_t length = strlen(name);
    if (strncmp(word, "--", 2) == 0 && begins_with(word + 2, name) && (word[2 + length] == '\0' || word[2 + length] == '=')) {
      *value = word[2 + length] == '=' ? word + 3 + length : NULL;
      return option;
    }
  }
  return NULL;
}

cm_status cli_read_options(int *argc, char **argv, cm_error *error)
{
  int kept = 1;
  if (read_options == NULL)
    read_options = json_object();
  for (int i = 1; i < *argc; i++) {
    const char *value;
    const json_t *option = option_of(argv[i], &value);
    if (option == NULL) {
      argv[kept++] = argv[i];
      continue;
    }
    const char *name = cli_text(option, "name");
    if (value == NULL && i + 1 == *argc)
      return cm_fail(error, CM_BAD_OPTION, "%s needs a value: %s", argv[i], cli_text(option, "form"));
    if (value == NULL)
      value = argv[++i];
    if (json_object_set_new(read_options, name, json_string(value)) != 0)
      return cm_fail(error, CM_BAD_OPTION, "--%s \"%s\" is not text", name, value);
    CM_TRY(cli_check_options("read", read_options, error));
  }
  *argc = kept;
  argv[kept] = NULL;
  return CM_OK;
}

cm_status cli_network(const char *path, const char *format, bool id, cm_run *run, coremap_network **network, cm_error *error)
{
  char *text;
  json_t *options = read_options != NULL ? json_copy(read_options) : json_object();
  const json_t *option;
  size_t i;
  if (format != NULL && json_object_set_new(options, "format", json_string(format)) != 0)
    (void)json_object_set_new(options, "format", json_string("?")); /* of no format either */
  json_array_foreach(cli_table("reading"), i, option) {
    const char *name = cli_text(option, "name"), *file = json_is_true(json_object_get(option, "file")) ? cli_read_option(name) : NULL;
    if (file != NULL)
      (void)json_object_set_new(options, name, json_string(cli_input(file)));
  }
  (void)json_object_set_new(options, "id", json_boolean(id));
  cm_status status = cli_json_text(options, &text, error);
  json_decref(options);
  if (status != CM_OK)
    return status;
  status = library_status(coremap_network_read(path, text, library_on_run, run, network, &cli_why), &cli_why, error);
  free(text);
  return status == CM_BAD_NETWORK ? cli_name_file(path, status, error) : status;
}

cm_status cli_need_format(const char *path, const char *to, cm_error *error)
{
  return to == NULL && strcmp(path, "-") == 0
           ? cm_fail(error, CM_BAD_REQUEST, "standard output has no name that says the format: name it with --to")
           : CM_OK;
}

cm_status cli_write_network(const coremap_network *network, const char *path, const char *to, cm_run *run, cm_error *error)
{
  CM_TRY(cli_need_format(path, to, error));
  return library_status(coremap_network_write_as(network, cli_output(path), to, library_on_run, run, &cli_why), &cli_why, error);
}
