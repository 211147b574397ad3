/* coremap: on files what the server does over HTTP, and all of a server's resources. */
#include <sodium.h>

#include "cli/cli.h"
#include "cli/manual.h"

const cli_command *const cli_commands[] = {
  &cli_command_map,     &cli_command_partition,   &cli_command_place,    &cli_command_quantize, &cli_command_compile, &cli_command_run,
  &cli_command_disassemble, &cli_command_emit,    &cli_command_tile,    &cli_command_schedule, &cli_command_solve, &cli_command_profile, &cli_command_deploy, &cli_command_simulate, &cli_command_check,
  &cli_command_export, &cli_command_draw, &cli_command_fit, &cli_command_calibrate, &cli_command_compare,
  &cli_command_show,    &cli_command_convert,     &cli_command_generate, &cli_command_train,    &cli_command_login,
  &cli_command_logout,  &cli_command_context,     &cli_command_submit,   &cli_command_sweep,    &cli_command_remap,    &cli_command_wait,
  &cli_command_log,     &cli_command_cancel,      &cli_command_get,      &cli_command_download, &cli_command_jobs,
  &cli_command_networks, &cli_command_mappings,   &cli_command_programs, &cli_command_chips,    &cli_command_occupancy, &cli_command_reserve,
  &cli_command_release, &cli_command_rm,          &cli_command_bin,     &cli_command_restore,  &cli_command_pin,
  &cli_command_unpin,   &cli_command_label,      &cli_command_quota,      &cli_command_top,      &cli_command_completion, &cli_command_help_,
};
const size_t cli_command_count = sizeof cli_commands / sizeof *cli_commands;

static const cli_command *find(const char *name)
{
  for (size_t i = 0; i < cli_command_count; i++)
    if (strcmp(name, cli_commands[i]->name) == 0)
      return cli_commands[i];
  return NULL;
}

static void list_commands(FILE *stream)
{
  fputs("usage: coremap COMMAND [ARGUMENT...]\n\nOn files:\n\n", stream);
  for (int server = 0; server < 2; server++) {
    if (server == 1)
      fputs("\nOn a server (docs/how-to/client.md):\n\n", stream);
    for (size_t i = 0; i < cli_command_count; i++)
      if (cli_commands[i]->server == (server == 1))
        cli_printf(stream, "  %-11s %s\n", cli_commands[i]->name, cli_commands[i]->what);
  }
  fputs("\n`coremap help COMMAND` says more. Exit status: 0 done, 1 refused or illegal, 2 bad usage or input.\n", stream);
}

/* ---- help ---- */

typedef struct arguments {
  cli_line line;
  bool man;
} arguments;
static const cli_flag help_flags[] = {CLI_JSON_SAYS("all commands with their flags as JSON, or the one that is named"),
                                      {"man", NULL, CLI_ON, "as a page for man(1)", CLI_AT(man)}, {0}};

static void print_json(const cli_command *one)
{
  json_t *list = json_array();
  for (size_t i = 0; one == NULL && i < cli_command_count; i++)
    (void)json_array_append_new(list, cli_command_json(cli_commands[i]));
  json_t *all = one != NULL ? cli_command_json(one) : json_pack("{s:s, s:s, s:O}", "command", "coremap", "version", CM_VERSION,
                                                                  "commands", list);
  cli_print_json(all);
  json_decref(all);
  json_decref(list);
}

static int help(void *given)
{
  const arguments *a = given;
  const char *name = a->line.words[0];
  const cli_command *one = name != NULL ? find(name) : NULL;
  if (name != NULL && one == NULL)
    return cli_no_command(name);
  if (a->line.json)
    print_json(one);
  else if (a->man)
    cli_print_manual(one, stdout);
  else if (one != NULL)
    cli_command_help(one, stdout);
  else
    list_commands(stdout);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

const cli_command cli_command_help_ = {
  .name = "help", .what = "what a command does and takes", .run = help, .most = CLI_ANY, .size = sizeof(arguments), .usage = "[COMMAND] [--json|--man]",
  .about = "Lists the commands, or says what one does and which flags it has.", .flags = help_flags};

int main(int argc, char **argv)
{
  cm_memory_return_freed();
  if (sodium_init() < 0) {
    fputs("coremap: libsodium cannot start\n", stderr);
    return EXIT_REFUSED;
  }
  if (argc < 2) {
    list_commands(stderr);
    return EXIT_USAGE;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    list_commands(stdout);
    return EXIT_DONE;
  }
  if (strcmp(argv[1], "--version") == 0) {
    fputs("coremap " CM_VERSION "\n", stdout);
    return EXIT_DONE;
  }
  const cli_command *command = find(argv[1]);
  if (command == NULL)
    return cli_no_command(argv[1]);
  cm_error error;
  int count = argc - 1;
  if (command->reads && cli_read_options(&count, argv + 1, &error) != CM_OK)
    return cli_fail(&error);
  return cli_carry_out(command, count, argv + 1);
}
