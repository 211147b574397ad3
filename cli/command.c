/* The flags of a command: its own, and the job options that are flags of it, from the tables of the library. */
#include "cli/command.h"

#include <getopt.h>

#include "cli/cli.h"

enum { FORM_MAX = 192, NAMES_TEXT_MAX = 400, FLAGS_MAX = 96, NAME_MAX_ = 32, NAMES_MAX = 160, HELP_WIDTH = 118, NAME_COLUMN = 22 };
enum { FIRST_FLAG = 256 }; /* getopt's numbers of flags begin where no letter is: with ':' and '?' it says that one is wrong */

typedef struct known_flag {
  char name[NAME_MAX_];
  char value[FORM_MAX]; /* "": a switch */
  const char *about;              /* NULL: not shown */
  int code;
  size_t at;
  bool truth; /* true or false, and may be left out */
  bool models; /* of CLI_OPTIONS_JOB: an option of models alone */
} known_flag;

typedef struct flags {
  known_flag flag[FLAGS_MAX];
  size_t count;
} flags;

const char cli_export_formats[] = "exports", cli_picture_layers[] = "layers", cli_code_targets[] = "targets";

static const known_flag *find(const flags *all, const char *name)
{
  for (size_t i = 0; i < all->count; i++)
    if (strcmp(all->flag[i].name, name) == 0)
      return &all->flag[i];
  return NULL;
}

/* What a flag takes: as it says, or the names of a table of the library. */
static void write_form(char form[FORM_MAX], const char *value)
{
  if (value == cli_export_formats || value == cli_picture_layers || value == cli_code_targets)
    (void)library_names(value, "|", form, FORM_MAX);
  else
    (void)snprintf(form, FORM_MAX, "%s", value != NULL ? value : "");
}

static void write_flag(char name[NAME_MAX_], const char *option)
{
  (void)snprintf(name, NAME_MAX_, "%s", option);
  for (char *c = name; *c != '\0'; c++)
    *c = *c == '_' ? '-' : *c;
}

static known_flag *add(flags *all, const cli_flag *row)
{
  known_flag made = {.about = row->about, .code = row->code, .at = row->at};
  write_flag(made.name, row->name);
  write_form(made.value, row->value);
  if (all->count == FLAGS_MAX || find(all, made.name) != NULL)
    return NULL;
  all->flag[all->count] = made;
  return &all->flag[all->count++];
}

/* The name that a flag had in the version before, if any: a flag that help does not show. */
static void add_former(flags *all, const known_flag *now, const char *was)
{
  known_flag *made = was[0] != '\0' ? add(all, &(cli_flag){was, now->value, now->code, NULL, now->at, NULL}) : NULL;
  if (made != NULL)
    made->truth = now->truth;
}

/* The options in a table. */
static void add_options(flags *all, const char *table, bool models)
{
  const json_t *option;
  size_t i;
  json_array_foreach(cli_table(table), i, option) {
    known_flag *made = add(all, &(cli_flag){cli_text(option, "name"), cli_text(option, "form"), CLI_OPTION, cli_text(option, "about")});
    if (made == NULL)
      continue;
    made->truth = strcmp(made->value, "true|false") == 0;
    made->models = models;
    if (made->truth)
      made->value[0] = '\0';
    add_former(all, made, cli_text(option, "was"));
  }
}

static void gather(const cli_command *command, flags *all)
{
  static const char *const tables[][2] = {
    [CLI_OPTIONS_MAP] = {"map"},         [CLI_OPTIONS_PARTITION] = {"partition"}, [CLI_OPTIONS_PLACE] = {"place"},
    [CLI_OPTIONS_COMPILE] = {"compile"}, [CLI_OPTIONS_SIMULATE] = {"simulate"},   [CLI_OPTIONS_SCHEDULE] = {"schedule"},
    [CLI_OPTIONS_PROFILE] = {"profile"}, [CLI_OPTIONS_DEPLOY] = {"deploy"}, [CLI_OPTIONS_SOLVE] = {"solve"}, [CLI_OPTIONS_QUANTIZE] = {"quantize"},
    [CLI_OPTIONS_JOB] = {"map", "compile"}};
  all->count = 0;
  for (const cli_flag *f = command->flags; f != NULL && f->name != NULL; f++)
    (void)add(all, f);
  for (int i = 0; i < 2; i++)
    if (tables[command->options][i] != NULL)
      add_options(all, tables[command->options][i], i > 0);
}

/* ---- what was meant ---- */

/* Letters to insert, drop, change or swap; at most 2 are of interest. */
static unsigned distance(const char *a, const char *b)
{
  enum { LONGEST = 40 };
  unsigned row[3][LONGEST + 1];
  size_t la = strlen(a), lb = strlen(b);
  if (la > LONGEST || lb > LONGEST)
    return LONGEST;
  for (size_t i = 0; i <= la; i++)
    for (size_t j = 0; j <= lb; j++) {
      unsigned *here = &row[i % 3][j];
      if (i == 0 || j == 0) {
        *here = (unsigned)(i + j);
        continue;
      }
      unsigned drop = row[(i - 1) % 3][j] + 1, insert = row[i % 3][j - 1] + 1,
               change = row[(i - 1) % 3][j - 1] + (a[i - 1] != b[j - 1]);
      *here = drop < insert ? drop : insert;
      *here = change < *here ? change : *here;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && row[(i - 2) % 3][j - 2] + 1 < *here)
        *here = row[(i - 2) % 3][j - 2] + 1;
    }
  return row[la % 3][lb];
}

/* The name of `count` that `word` is most like, as one that mistypes; NULL: none is near. */
static const char *nearest(const char *word, const char *const *names, size_t count)
{
  const char *best = NULL;
  unsigned least = strlen(word) < 4 ? 2 : 3; /* changes that are too many */
  for (size_t i = 0; i < count; i++) {
    unsigned d = distance(word, names[i]);
    if (d < least) {
      least = d;
      best = names[i];
    }
  }
  return best;
}

int cli_no_command(const char *word)
{
  const char *names[NAMES_MAX];
  size_t count = 0;
  for (; count < cli_command_count && count < NAMES_MAX; count++)
    names[count] = cli_commands[count]->name;
  const char *near = nearest(word, names, count);
  cli_print_head(NULL);
  cli_printf(stderr, "there is no command \"%s\"; ", word);
  if (near != NULL)
    cli_printf(stderr, "did you mean \"%s\"?\n", near);
  else
    cli_printf(stderr, "see coremap --help\n");
  return EXIT_USAGE;
}

static int no_flag(const cli_command *command, const flags *all, const char *given)
{
  char word[NAME_MAX_];
  const char *names[NAMES_MAX] = {"help"};
  size_t count = 1;
  for (size_t i = 0; i < all->count; i++)
    if (all->flag[i].about != NULL)
      names[count++] = all->flag[i].name;
  const json_t *option;
  size_t number;
  json_array_foreach(command->reads ? cli_table("reading") : NULL, number, option)
    names[count++] = cli_text(option, "name");
  given += strspn(given, "-");
  (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(given, "="), given);
  const char *near = nearest(word, names, count);
  if (near != NULL)
    (void)cli_usage(command->name, "there is no flag --%s; did you mean --%s?", word, near);
  else
    (void)cli_usage(command->name, "there is no flag --%s", word);
  return CLI_MISUSED;
}

/* ---- parsing ---- */

static const char *taken = "";

const char *cli_taken(void)
{
  return taken;
}

int cli_next(const cli_command *command, int argc, char **argv, size_t *at)
{
  static flags all;
  static const cli_command *gathered;
  static struct option table[FLAGS_MAX + 2];
  if (gathered != command) {
    gather(command, &all);
    for (size_t i = 0; i < all.count; i++) {
      const known_flag *f = &all.flag[i];
      table[i] = (struct option){f->name, f->truth ? optional_argument : f->value[0] != '\0' ? required_argument : no_argument,
                                 NULL, FIRST_FLAG + (int)i};
    }
    table[all.count] = (struct option){"help", no_argument, NULL, 'h'};
    table[all.count + 1] = (struct option){0};
    gathered = command;
    opterr = 0;
  }
  bool output = find(&all, "output") != NULL;
  int got = getopt_long(argc, argv, output ? ":o:h" : ":h", table, NULL);
  if (got == -1)
    return -1;
  if (got == 'h') {
    cli_command_help(command, stdout);
    return CLI_HELPED;
  }
  const char *given = argv[optind > 1 ? optind - 1 : 1];
  if (got == ':') {
    (void)cli_usage(command->name, "%s needs a value", given);
    return CLI_MISUSED;
  }
  if (got == '?') {
    if (optopt >= FIRST_FLAG)
      (void)cli_usage(command->name, "--%s takes no value", all.flag[optopt - FIRST_FLAG].name);
    else if (optopt > 0)
      (void)cli_usage(command->name, "there is no flag -%c", optopt);
    else
      (void)no_flag(command, &all, given);
    return CLI_MISUSED;
  }
  const known_flag *f = got == 'o' ? find(&all, "output") : &all.flag[got - FIRST_FLAG];
  taken = f->name;
  *at = f->at;
  if (f->truth && optarg == NULL) {
    bool stated = optind < argc && (strcmp(argv[optind], "true") == 0 || strcmp(argv[optind], "false") == 0);
    optarg = stated ? argv[optind++] : (char *)(uintptr_t) "true";
  }
  return f->code;
}

/* ---- help ---- */

/* What the formats of networks are, for people. */
static const char *formats_about(char text[NAMES_TEXT_MAX])
{
  const json_t *format;
  size_t used = 0, i;
  text[0] = '\0';
  json_array_foreach(cli_table("formats"), i, format)
    if (used < NAMES_TEXT_MAX)
      used += (size_t)snprintf(text + used, NAMES_TEXT_MAX - used, "%s%s", i > 0 ? ", " : "", cli_text(format, "about"));
  return text;
}

static void print_text(FILE *stream, const char *text)
{
  char names[NAMES_TEXT_MAX];
  for (const char *mark; (mark = strchr(text, '@')) != NULL; text = mark + 2) {
    bool is_names = mark[1] == 'N', about = mark[1] == 'A';
    (void)fwrite(text, 1, (size_t)(mark - text), stream);
    if (is_names || about)
      fputs(is_names ? library_names("formats", ", ", names, sizeof names) : formats_about(names), stream);
  }
  fputs(text, stream);
}

/* One flag, what it is beside it in lines of at most HELP_WIDTH. */
static void print_flag(FILE *stream, const char *name, const char *value, const char *about)
{
  char head[160], *text = NULL;
  size_t size, column = NAME_COLUMN;
  bool letter = strcmp(name, "output") == 0 || strcmp(name, "help") == 0;
  FILE *memory = open_memstream(&text, &size);
  if (memory == NULL)
    return;
  print_text(memory, about);
  if (fclose(memory) != 0) {
    free(text);
    return;
  }
  (void)snprintf(head, sizeof head, "%s%c%s--%s%s%s", letter ? "-" : "", letter ? name[0] : ' ', letter ? ", " : "", name,
                 value[0] != '\0' ? " " : "", value);
  const char *shown = letter ? head : head + 1;
  cli_printf(stream, "  %-*s", NAME_COLUMN - 3, shown);
  if (strlen(shown) > NAME_COLUMN - 4)
    cli_printf(stream, "\n%*s", NAME_COLUMN - 1, "");
  for (const char *word = text; *word != '\0';) {
    size_t length = strcspn(word, " ");
    if (column + length >= HELP_WIDTH && column > NAME_COLUMN) {
      cli_printf(stream, "\n%*s", NAME_COLUMN - 1, "");
      column = NAME_COLUMN;
    }
    cli_printf(stream, " %.*s", (int)length, word);
    column += length + 1;
    word += length;
    word += strspn(word, " ");
  }
  fputc('\n', stream);
  free(text);
}

void cli_command_help(const cli_command *command, FILE *stream)
{
  flags all;
  gather(command, &all);
  const char *line = command->usage;
  for (bool first = true; first || *line != '\0'; first = false) {
    size_t length = strcspn(line, "\n");
    cli_printf(stream, "%s coremap %s%s%.*s\n", first ? "usage:" : "      ", command->name, length > 0 ? " " : "", (int)length, line);
    line += length + (line[length] == '\n');
  }
  fputc('\n', stream);
  print_text(stream, command->about);
  fputs("\n\n", stream);
  for (size_t i = 0; i < all.count; i++)
    if (all.flag[i].about != NULL && !all.flag[i].models)
      print_flag(stream, all.flag[i].name, all.flag[i].value, all.flag[i].about);
  const json_t *option;
  size_t number;
  json_array_foreach(command->reads ? cli_table("reading") : NULL, number, option) {
    char name[NAME_MAX_];
    write_flag(name, cli_text(option, "name"));
    print_flag(stream, name, cli_text(option, "form"), cli_text(option, "about"));
  }
  print_flag(stream, "help", "", "this text");
  if (command->options == CLI_OPTIONS_JOB) {
    flags models = {.count = 0};
    fputs("\nJobs that compile a model have these options:\n\n", stream);
    add_options(&models, "compile", true);
    for (size_t i = 0; i < models.count; i++)
      print_flag(stream, models.flag[i].name, models.flag[i].value, models.flag[i].about);
  }
}

static json_t *flag_json(const char *name, const char *value, const char *about, bool truth)
{
  char *text = NULL;
  size_t size;
  FILE *memory = open_memstream(&text, &size);
  if (memory != NULL) {
    print_text(memory, about);
    (void)fclose(memory);
  }
  const char *letter = strcmp(name, "output") == 0 ? "o" : strcmp(name, "help") == 0 ? "h" : NULL;
  json_t *made = json_pack("{s:s, s:s*, s:s*, s:s}", "name", name, "letter", letter, "value",
                           truth ? "true|false" : value[0] != '\0' ? value : NULL, "about", text != NULL ? text : "");
  if (made != NULL && truth)
    (void)json_object_set_new(made, "optional_value", json_true());
  free(text);
  return made;
}

json_t *cli_command_json(const cli_command *command)
{
  flags all;
  char *about = NULL;
  size_t size;
  gather(command, &all);
  json_t *list = json_array(), *usage = json_array();
  for (size_t i = 0; i < all.count; i++)
    if (all.flag[i].about != NULL)
      (void)json_array_append_new(list, flag_json(all.flag[i].name, all.flag[i].value, all.flag[i].about, all.flag[i].truth));
  const json_t *option;
  size_t number;
  json_array_foreach(command->reads ? cli_table("reading") : NULL, number, option) {
    char name[NAME_MAX_];
    write_flag(name, cli_text(option, "name"));
    (void)json_array_append_new(list, flag_json(name, cli_text(option, "form"), cli_text(option, "about"), false));
  }
  (void)json_array_append_new(list, flag_json("help", "", "this text", false));
  for (const char *line = command->usage; *line != '\0'; line += strspn(line, "\n")) {
    size_t length = strcspn(line, "\n");
    (void)json_array_append_new(usage, json_stringn(line, length));
    line += length;
  }
  FILE *memory = open_memstream(&about, &size);
  if (memory != NULL) {
    print_text(memory, command->about);
    (void)fclose(memory);
  }
  json_t *made = json_pack("{s:s, s:s, s:o, s:s, s:b, s:o}", "name", command->name, "what", command->what, "usage", usage,
                           "about", about != NULL ? about : "", "server", command->server, "flags", list);
  free(about);
  return made;
}
