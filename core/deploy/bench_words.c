#include "core/deploy/bench_words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { DIGITS = 32, SHORT = 4, LONG = 8, LINE_MAX_ = 160, STEPPED = 5 };

/* By their numbers; from STEPPED on the first number is one of steps. */
static const char *const commands_known[] = {"cores", "param", "pool", "index", "route", "input", "run"};
enum { COMMANDS = sizeof commands_known / sizeof *commands_known };

static void put_word(const char *line, FILE *stream)
{
  char *at = (char *)(uintptr_t)line + strcspn(line, " \n");
  unsigned command = 0;
  while (command + 1 < COMMANDS && (strlen(commands_known[command]) != (size_t)(at - line) || strncmp(commands_known[command], line, (size_t)(at - line)) != 0))
    command++;
  int used = fprintf(stream, "%0*x", SHORT, command);
  for (int digits = command >= STEPPED ? LONG : SHORT; *at == ' ' && used + digits <= DIGITS; digits = SHORT) {
    const uint64_t number = (uint64_t)strtoll(at, &at, 10) & (digits == LONG ? UINT32_MAX : UINT16_MAX);
    used += fprintf(stream, "%0*" PRIx64, digits, number);
  }
  (void)fprintf(stream, "%.*s\n", DIGITS - used, "0000000000000000000000000000");
}

cm_status cm_bench_words_write(const char *commands, const char *path, cm_error *error)
{
  char line[LINE_MAX_];
  cm_file file;
  FILE *from = fopen(commands, "r");
  if (from == NULL)
    return cm_fail_errno(error, errno, "cannot open", commands);
  cm_status status = cm_file_create(&file, path, error);
  if (status == CM_OK) {
    while (fgets(line, sizeof line, from) != NULL)
      put_word(line, file.stream);
    status = cm_file_end(&file, ferror(from) ? cm_fail_errno(error, errno, "cannot read", commands) : CM_OK, error);
  }
  (void)fclose(from);
  return status;
}
