/* What is made from the table of commands besides help: pages for man(1), and completion for shells. */
#include "cli/manual.h"

#include "cli/cli.h"

/* ---- pages ---- */

/* Text as roff shows it: backslashes, dashes, what a line must not begin with, and lists that may go on in the next line. */
static void put_roff(FILE *out, const char *text)
{
  bool begins = true;
  for (const char *c = text; *c != '\0'; c++) {
    if (begins && (*c == '.' || *c == '\''))
      fputs("\\&", out);
    if (*c == '\\')
      fputs("\\e", out);
    else if (*c == '-')
      fputs("\\-", out);
    else if (*c == '|')
      fputs("|\\:", out);
    else
      fputc(*c, out);
    begins = *c == '\n';
  }
}

static void put_title(FILE *out, const char *name, const char *command)
{
  fprintf(out, ".TH \"COREMAP%s%s\" 1 \"\" \"coremap " CM_VERSION "\" \"coremap\"\n.nh\n.ad l\n.SH NAME\n%s%s%s \\- ", command[0] != '\0' ? "\\-" : "",
          command, name, command[0] != '\0' ? "\\-" : "", command);
}

static void put_flags(FILE *out, const json_t *flags)
{
  size_t i;
  json_t *flag;
  if (json_array_size(flags) > 0)
    fputs(".SH OPTIONS\n", out);
  json_array_foreach(flags, i, flag)
  {
    fputs(".TP\n\\fB", out);
    put_roff(out, "--");
    put_roff(out, cli_text(flag, "name"));
    fputs("\\fR", out);
    if (cli_text(flag, "value")[0] != '\0') {
      fputs(" \\fI", out);
      put_roff(out, cli_text(flag, "value"));
      fputs("\\fR", out);
    }
    fputc('\n', out);
    put_roff(out, cli_text(flag, "about"));
    fputc('\n', out);
  }
}

static void put_command(FILE *out, const json_t *command)
{
  size_t i;
  json_t *usage;
  put_title(out, "coremap", cli_text(command, "name"));
  put_roff(out, cli_text(command, "what"));
  fputs("\n.SH SYNOPSIS\n", out);
  json_array_foreach(json_object_get(command, "usage"), i, usage)
  {
    fprintf(out, "%s\\fBcoremap %s\\fR ", i > 0 ? ".br\n" : "", cli_text(command, "name"));
    put_roff(out, json_string_value(usage));
    fputc('\n', out);
  }
  fputs(".SH DESCRIPTION\n", out);
  put_roff(out, cli_text(command, "about"));
  fputc('\n', out);
  put_flags(out, json_object_get(command, "flags"));
  fputs(".SH \"EXIT STATUS\"\n0 done, 1 refused or illegal, 2 bad usage or input.\n.SH \"SEE ALSO\"\n.BR coremap (1)\n", out);
}

static void put_all(FILE *out)
{
  put_title(out, "coremap", "");
  fputs("map neural networks onto many\\-core chips\n.SH SYNOPSIS\n\\fBcoremap\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR...]\n"
        ".SH DESCRIPTION\nDoes on files what the server \\fBcoremapd\\fR(8) does over HTTP, and everything that a server offers.\n", out);
  for (int server = 0; server < 2; server++) {
    fputs(server == 1 ? ".SH \"COMMANDS ON A SERVER\"\n" : ".SH \"COMMANDS ON FILES\"\n", out);
    for (size_t i = 0; i < cli_command_count; i++) {
      if (cli_commands[i]->server != (server == 1))
        continue;
      fputs(".TP\n\\fBcoremap\\-", out);
      put_roff(out, cli_commands[i]->name);
      fputs("\\fR(1)\n", out);
      put_roff(out, cli_commands[i]->what);
      fputc('\n', out);
    }
  }
  fputs(".SH ENVIRONMENT\n.TP\n\\fBCOREMAP_SERVER\\fR, \\fBCOREMAP_CONTEXT\\fR\nThe server to talk to: its URL, or the name of a context.\n"
        ".TP\n\\fBCOREMAP_TOKEN\\fR\nThe token to send to it.\n"
        ".TP\n\\fBSSL_CERT_FILE\\fR\nCertificates to trust instead of the machine's.\n"
        ".SH FILES\n.TP\n\\fI~/.config/coremap\\fR\nContexts and tokens.\n"
        ".SH \"EXIT STATUS\"\n0 done, 1 refused or illegal, 2 bad usage or input.\n.SH \"SEE ALSO\"\n.BR coremap-network-formats (5),\n.BR coremap-program-formats (5),\n.BR coremap-chip-file (5),\n.BR coremap-topology-file (5),\n"
        ".BR coremap-mapping-formats (5),\n.BR coremap-certificate (5),\n.BR coremapd (8)\n", out);
}

void cli_print_manual(const cli_command *command, FILE *out)
{
  if (command == NULL) {
    put_all(out);
    return;
  }
  json_t *object = cli_command_json(command);
  put_command(out, object);
  json_decref(object);
}

/* ---- completion ---- */

/* "low|high" as "low high"; false: it is no list of words. */
static bool read_words(const char *value, char *words, size_t size)
{
  if (strchr(value, '|') == NULL || strlen(value) >= size || strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-_|") != strlen(value))
    return false;
  for (size_t i = 0; i <= strlen(value); i++)
    words[i] = value[i] == '|' ? ' ' : value[i];
  return true;
}

/* Text within single quotes of zsh or fish, without what ends or divides a description. */
static void put_plain(FILE *out, const char *text)
{
  for (; *text != '\0'; text++)
    fputc(*text == '\'' || *text == '\\' || *text == '[' || *text == ']' || *text == ':' || *text == '\n' ? ' ' : *text, out);
}

static void bash(FILE *out, json_t *const *commands)
{
  char words[400];
  size_t i, k;
  json_t *flag;
  fputs("# Completion of coremap for bash.\n_coremap() {\n  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
        "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    words=\"--help --version", out);
  for (i = 0; i < cli_command_count; i++)
    fprintf(out, " %s", cli_commands[i]->name);
  fputs("\"\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n    return\n  fi\n  case ${COMP_WORDS[1]}$prev in\n", out);
  for (i = 0; i < cli_command_count; i++)
    json_array_foreach(json_object_get(commands[i], "flags"), k, flag)
      if (read_words(cli_text(flag, "value"), words, sizeof words))
        fprintf(out, "    %s--%s) words=\"%s\" ;;\n", cli_commands[i]->name, cli_text(flag, "name"), words);
  fputs("  esac\n  if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); return; fi\n  COMPREPLY=()\n"
        "  [ \"${cur#-}\" != \"$cur\" ] || return 0\n  case ${COMP_WORDS[1]} in\n", out);
  for (i = 0; i < cli_command_count; i++) {
    fprintf(out, "    %s) words=\"--help", cli_commands[i]->name);
    json_array_foreach(json_object_get(commands[i], "flags"), k, flag) fprintf(out, " --%s", cli_text(flag, "name"));
    fputs("\" ;;\n", out);
  }
  fputs("  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _coremap coremap\n", out);
}

static void zsh(FILE *out, json_t *const *commands)
{
  char words[400];
  size_t i, k;
  json_t *flag;
  fputs("#compdef coremap\n# Completion of coremap for zsh.\n_coremap() {\n  local -a commands\n  commands=(\n", out);
  for (i = 0; i < cli_command_count; i++) {
    fprintf(out, "    '%s:", cli_commands[i]->name);
    put_plain(out, cli_commands[i]->what);
    fputs("'\n", out);
  }
  fputs("  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n  local command=$words[2]\n  shift words\n"
        "  (( CURRENT-- ))\n  case $command in\n", out);
  for (i = 0; i < cli_command_count; i++) {
    fprintf(out, "    %s) _arguments", cli_commands[i]->name);
    json_array_foreach(json_object_get(commands[i], "flags"), k, flag)
    {
      fprintf(out, " \\\n      '--%s[", cli_text(flag, "name"));
      put_plain(out, cli_text(flag, "about"));
      fputc(']', out);
      if (read_words(cli_text(flag, "value"), words, sizeof words))
        fprintf(out, ":value:(%s)", words);
      else if (cli_text(flag, "value")[0] != '\0')
        fputs(":value:_files", out);
      fputc('\'', out);
    }
    fputs(" \\\n      '*:file:_files' ;;\n", out);
  }
  fputs("  esac\n}\n_coremap \"$@\"\n", out);
}

static void fish(FILE *out, json_t *const *commands)
{
  char words[400];
  size_t i, k;
  json_t *flag;
  fputs("# Completion of coremap for fish.\n", out);
  for (i = 0; i < cli_command_count; i++) {
    fprintf(out, "complete -c coremap -n __fish_use_subcommand -f -a %s -d '", cli_commands[i]->name);
    put_plain(out, cli_commands[i]->what);
    fputs("'\n", out);
    json_array_foreach(json_object_get(commands[i], "flags"), k, flag)
    {
      fprintf(out, "complete -c coremap -n '__fish_seen_subcommand_from %s' -l %s", cli_commands[i]->name, cli_text(flag, "name"));
      if (read_words(cli_text(flag, "value"), words, sizeof words))
        fprintf(out, " -x -a '%s'", words);
      else if (cli_text(flag, "value")[0] != '\0')
        fputs(" -r", out);
      fputs(" -d '", out);
      put_plain(out, cli_text(flag, "about"));
      fputs("'\n", out);
    }
  }
}

static const struct {
  const char *name;
  void (*put)(FILE *out, json_t *const *commands);
} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

static int complete(void *given)
{
  json_t *commands[CLI_COMMANDS_MAX] = {NULL};
  const cli_line *line = given;
  size_t shell = 0;
  while (shell < sizeof shells / sizeof *shells && (line->count == 0 || strcmp(shells[shell].name, line->words[0]) != 0))
    shell++;
  if (shell == sizeof shells / sizeof *shells || line->count > 1 || cli_command_count > CLI_COMMANDS_MAX) {
    fputs("coremap: completion is made for bash, zsh or fish: name one\n", stderr);
    return EXIT_USAGE;
  }
  for (size_t i = 0; i < cli_command_count; i++)
    commands[i] = cli_command_json(cli_commands[i]);
  shells[shell].put(stdout, commands);
  for (size_t i = 0; i < cli_command_count; i++)
    json_decref(commands[i]);
  return fflush(stdout) == 0 ? EXIT_DONE : EXIT_REFUSED;
}

const cli_command cli_command_completion = {
  .name = "completion", .what = "completion of commands and flags for a shell", .run = complete, .most = CLI_ANY, .usage = "bash|zsh|fish",
  .about = "Prints what makes a shell complete commands, flags and their values: . <(coremap completion bash)\n"
           "Packages install it."};
