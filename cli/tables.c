/* The library's tables, each asked for once. */

#include "cli/cli.h"

enum { TABLES_MAX = 16 };

const json_t *cli_table(const char *name)
{
  static struct {
    const char *name;
    json_t *rows;
  } kept[TABLES_MAX];
  size_t i = 0;
  while (i < TABLES_MAX && kept[i].name != NULL && strcmp(kept[i].name, name) != 0)
    i++;
  if (i == TABLES_MAX)
    return NULL;
  if (kept[i].name == NULL) {
    kept[i].name = name;
    kept[i].rows = library_table(name);
  }
  return kept[i].rows;
}
