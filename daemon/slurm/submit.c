/* Happy path: write the list, have sbatch say that it took it. What can fail: Slurm does not answer, or refuses; the folder is full. */
#include "daemon/slurm/submit.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/slurm/command.h"
#include "storage/store.h"

static const double SUBMIT_S = 30;
enum { WORDS_MAX = 40, WORD_MAX = 2100 };

/* The words of a command line, in one place. */
typedef struct command_line {
  const char *words[WORDS_MAX];
  char texts[WORDS_MAX][WORD_MAX];
  size_t count;
} command_line;

static void __attribute__((format(printf, 2, 3))) add(command_line *line, const char *format, ...)
{
  va_list values;
  if (line->count + 1 >= WORDS_MAX)
    return;
  va_start(values, format);
  (void)vsnprintf(line->texts[line->count], WORD_MAX, format, values);
  va_end(values);
  line->words[line->count] = line->texts[line->count];
  line->count++;
}

/* Flags of sbatch that a setting may give; all others are ours, or would change what a run is. */
static const char *const allowed[] = {"--partition=", "--account=", "--qos=", "--constraint=", "--reservation=", "--nodelist=", "--exclude=", "--nice=",
                                      "--gres=", "--exclusive", "--licenses=", NULL};

static bool is_allowed(const char *flag, size_t length)
{
  for (size_t i = 0; allowed[i] != NULL; i++) {
    const size_t name = strlen(allowed[i]);
    if (allowed[i][name - 1] == '=' ? length > name && strncmp(flag, allowed[i], name) == 0 : length == name && strncmp(flag, allowed[i], name) == 0)
      return true;
  }
  return false;
}

cm_status cm_slurm_check_flags(const char *flags, cm_error *error)
{
  for (size_t length; *(flags += strspn(flags, " ,")) != '\0'; flags += length) {
    length = strcspn(flags, " ");
    if (!is_allowed(flags, length))
      return cm_fail(error, CM_BAD_OPTION, "slurm-flags: \"%.*s\" is none that may be given: --partition=, --account=, --qos=, --constraint=, "
                     "--reservation=, --nodelist=, --exclude=, --nice=, --gres=, --licenses= and --exclusive may", (int)length, flags);
  }
  return CM_OK;
}

/* The list of one submission, whose name is never another's: Slurm may know those before for long. */
static cm_status write_list(const char *shared, const cm_slurm_ask *const *runs, size_t count, const char *name, char path[CM_PATH_MAX], cm_error *error)
{
  cm_file file;
  CM_TRY(cm_path(path, error, "%s/lists/%s", shared, name));
  CM_TRY(cm_file_create(&file, path, error));
  for (size_t i = 0; i < count; i++)
    (void)fprintf(file.stream, "%s %d\n", runs[i]->token, runs[i]->attempt);
  const cm_status status = cm_file_end(&file, CM_OK, error);
  return status == CM_OK && chmod(path, 0640) != 0 ? cm_fail_errno(error, errno, "cannot open to the group", path) : status;
}

cm_status cm_slurm_submit(const cm_slurm_site *site, const cm_slurm_ask *const *runs, size_t count, const char *node, cm_error *error)
{
  static command_line line;
  const cm_slurm_ask *first = runs[0];
  char name[CM_ID_MAX], list[CM_PATH_MAX], *said = NULL;
  cm_store_id(name);
  CM_TRY(write_list(site->shared, runs, count, name, list, error));
  line.count = 0;
  add(&line, "sbatch");
  add(&line, "--parsable");
  add(&line, "--no-requeue"); /* what Slurm runs anew by itself ends at once: the attempt has begun */
  add(&line, "--export=ALL"); /* with less, slurmd logs our user in for each run, for his environment */
  add(&line, "--output=/dev/null");
  add(&line, "--chdir=/");
  add(&line, "--nodes=1");
  add(&line, "--ntasks=1");
  add(&line, "--job-name=%s", name);
  add(&line, "--comment=coremapd %s", first->user);
  add(&line, "--cpus-per-task=%u", first->threads);
  add(&line, "--mem=%u", first->mebibytes);
  add(&line, "--time=%u", first->minutes);
  if (count > 1)
    add(&line, "--array=0-%zu", count - 1);
  for (const char *flags = site->flags; *(flags += strspn(flags, " ")) != '\0'; flags += strcspn(flags, " "))
    add(&line, "%.*s", (int)strcspn(flags, " "), flags);
  if (node != NULL)
    add(&line, "--nodelist=%s", node);
  else if (site->exclude[0] != '\0')
    add(&line, "--exclude=%s", site->exclude);
  add(&line, "%s", site->script);
  add(&line, "%s", list);
  line.words[line.count] = NULL;
  const cm_status status = cm_command_run(line.words, SUBMIT_S, &said, error);
  free(said);
  return status;
}

cm_status cm_slurm_write_script(cm_slurm_site *site, cm_error *error)
{
  char program[CM_PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  cm_file file;
  program[length > 0 ? length : 0] = '\0';
  if (strpbrk(program, " \t\n") != NULL || length <= 0 || length > 200)
    return cm_fail(error, CM_BAD_OPTION, "Slurm cannot start \"%.200s\": the path of coremapd needs at most 200 bytes and no space", program);
  CM_TRY(cm_path(site->script, error, "%s/lists/run", site->shared));
  CM_TRY(cm_file_create(&file, site->script, error));
  (void)fprintf(file.stream, "#!%s --node\n", program);
  const cm_status status = cm_file_end(&file, CM_OK, error);
  return status == CM_OK && chmod(site->script, 0750) != 0 ? cm_fail_errno(error, errno, "cannot open to the group", site->script) : status;
}
