/* coremapd user import FILE.csv: all of its users, or none.
 *
 * Happy path: the header names the columns, every row is read and looked at, and one transaction adds all. What is wrong with a row is
 * told, a line each, and then nothing is done. */
#include "base/number.h"
#include "daemon/admin_words.h"
#include "storage/tokens.h"

enum { FIELDS_MAX = 16, FILE_BYTES_MAX = 16 << 20 };

typedef enum column { COLUMN_NAME, COLUMN_ROLE, COLUMN_GROUP, COLUMN_SHARE, COLUMNS } column;
static const char *const column_names[COLUMNS] = {"name", "role", "group", "share"};

typedef struct import {
  const char *path;
  char *rest;         /* of the text, which rows are cut from in place */
  unsigned line, bad; /* the line that was cut last; lines that something is wrong with */
  int fields, place[COLUMNS]; /* of the header: how many, and where each column stands; -1: nowhere */
  cm_user *users;
  unsigned *line_of; /* [count] */
  size_t count;
} import;

static void tell(import *i, const char *what, const char *word)
{
  (void)fprintf(stderr, "%s:%u: %s%s\n", i->path, i->line, what, word);
  i->bad++;
}

/* Cuts the next line that is not empty into fields; their number, 0: there are no more. */
static int next_row(import *i, char *field[FIELDS_MAX])
{
  char *line = i->rest;
  do {
    line = i->rest;
    if (*line == '\0')
      return 0;
    i->line++;
    i->rest += strcspn(line, "\n");
    if (*i->rest != '\0')
      *i->rest++ = '\0';
    line[strcspn(line, "\r")] = '\0';
  } while (*line == '\0');
  int count = 0;
  for (bool more = true; more && count < FIELDS_MAX; count++) {
    const bool quoted = *line == '"';
    char *end = line += quoted;
    field[count] = line;
    for (; quoted ? *line != '\0' && (*line != '"' || line[1] == '"') : *line != '\0' && *line != ','; *end++ = *line++)
      line += quoted && *line == '"';
    line += quoted && *line == '"';
    more = *line == ',';
    line += more;
    *end = '\0';
  }
  return count;
}

static bool read_header(import *i)
{
  char *field[FIELDS_MAX];
  i->fields = next_row(i, field);
  for (column c = 0; c < COLUMNS; c++)
    i->place[c] = -1;
  for (int k = 0; k < i->fields; k++) {
    column c = 0;
    while (c < COLUMNS && strcmp(field[k], column_names[c]) != 0)
      c++;
    if (c == COLUMNS)
      tell(i, "the first line names the columns, which are name, role, group and share, not ", field[k]);
    else if (i->place[c] >= 0)
      tell(i, "two columns are called ", field[k]);
    else
      i->place[c] = k;
  }
  if (i->bad == 0 && i->place[COLUMN_NAME] < 0)
    tell(i, "the first line has no column name", "");
  return i->bad == 0;
}

/* Reads a user; tells what is wrong with it, a line at most. */
static void read_user(import *i, char *const field[FIELDS_MAX], cm_user *user)
{
  const char *text[COLUMNS];
  uint64_t share = 1;
  cm_error error;
  for (column c = 0; c < COLUMNS; c++)
    text[c] = i->place[c] >= 0 ? field[i->place[c]] : "";
  user->role = text[COLUMN_ROLE][0] != '\0' ? cm_role_of(text[COLUMN_ROLE]) : CM_ROLE_USER;
  (void)snprintf(user->name, sizeof user->name, "%s", text[COLUMN_NAME]);
  (void)snprintf(user->group, sizeof user->group, "%s", text[COLUMN_GROUP]);
  if (user->role == CM_ROLES)
    tell(i, "a role is user, operator or admin, not ", text[COLUMN_ROLE]);
  else if (text[COLUMN_SHARE][0] != '\0' && (!cm_whole_parse(text[COLUMN_SHARE], &share) || share < 1 || share > CM_SHARE_MAX))
    tell(i, "a share is a whole number from 1 to 1000, not ", text[COLUMN_SHARE]);
  else if (cm_users_check(user, &error) != CM_OK)
    tell(i, error.detail, "");
  user->share = (int)share;
}

static cm_status read_users(import *i, cm_error *error)
{
  char *field[FIELDS_MAX];
  size_t capacity = 1;
  for (const char *c = i->rest; *c != '\0'; c++)
    capacity += *c == '\n';
  CM_TRY(CM_HEAP(i->users, capacity, "users", error));
  CM_TRY(CM_HEAP(i->line_of, capacity, "users", error));
  for (int fields; (fields = next_row(i, field)) > 0;)
    if (fields != i->fields)
      tell(i, fields < i->fields ? "fewer fields than the header has" : "more fields than the header has", "");
    else {
      i->line_of[i->count] = i->line;
      read_user(i, field, &i->users[i->count++]);
    }
  return CM_OK;
}

static int by_name(const void *a, const void *b)
{
  const cm_user *const *x = a, *const *y = b;
  const int order = strcmp((*x)->name, (*y)->name);
  return order != 0 ? order : (*x > *y) - (*x < *y);
}

/* Names that stand twice, or that a user has already. */
static cm_status check_names(import *i, cm_database *database, cm_error *error)
{
  const cm_user **sorted;
  cm_user there;
  CM_TRY(CM_HEAP(sorted, i->count + 1, "users", error));
  for (size_t k = 0; k < i->count; k++)
    sorted[k] = &i->users[k];
  qsort(sorted, i->count, sizeof *sorted, by_name);
  cm_status status = CM_OK;
  for (size_t k = 0; k < i->count && status == CM_OK; k++) {
    i->line = i->line_of[sorted[k] - i->users];
    if (k > 0 && strcmp(sorted[k]->name, sorted[k - 1]->name) == 0 && sorted[k]->name[0] != '\0')
      tell(i, "the file has another user ", sorted[k]->name);
    else if ((status = cm_users_get(database, sorted[k]->name, &there, error)) == CM_OK)
      tell(i, "there already is a user ", sorted[k]->name);
    else if (status == CM_NOT_FOUND)
      status = CM_OK;
  }
  free(sorted);
  return status;
}

/* The exit status. */
static int add_all(import *i, cm_database *database)
{
  cm_error error;
  if (!read_header(i))
    return EXIT_FAILURE;
  if (read_users(i, &error) != CM_OK || check_names(i, database, &error) != CM_OK)
    return cm_command_fail(&error);
  if (i->bad > 0) {
    (void)fprintf(stderr, "coremapd: nobody is added; %u lines of %s are to be put right first\n", i->bad, i->path);
    return EXIT_FAILURE;
  }
  if (cm_users_import(database, i->users, i->count, &error) != CM_OK)
    return cm_command_fail(&error);
  (void)printf("%zu users: added; coremapd token add --user NAME makes a token for one\n", i->count);
  return EXIT_SUCCESS;
}

int cm_admin_import(cm_database *database, const cm_admin_words *a)
{
  cm_error error;
  char *text;
  size_t size;
  if (a->name == NULL)
    return cm_command_wrong("user", "a file is needed after ", a->verb);
  if (cm_file_read(a->name, FILE_BYTES_MAX, &text, &size, &error) != CM_OK)
    return cm_command_fail(&error);
  import i = {.path = a->name, .rest = strncmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text};
  const int status = add_all(&i, database);
  free(i.users);
  free(i.line_of);
  free(text);
  return status;
}
