/* Fails the Nth call of a kind, N = 1, 2, ... until none failed, over the operations of the library and of storage.
 *
 * Each operation has a child of its own; what it does stands on a shared page, so that its parent can say in
 * which call it crashed or hung, and go on after it. After each run: an error that names its cause or the right
 * result; nothing leaked (blocks, descriptors); no stray file. tests/fault/nth runs this and the jobs of a server. */
#include "tests/fault/operations.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number.h"
#include "tests/lib/interpose.h"

char operation_folder[CM_PATH_MAX];

/* What a child tells its parent. */
typedef struct board {
  uint64_t kind, at; /* the call to fail */
  uint64_t runs, fired, tolerated;
  uint64_t calls; /* of all kinds, in one run in which none fails */
  bool ended;
  char wrong[1200];
} board;

static board *shared;
static interpose_control *control;

static const struct {
  const char *name;
  interpose_kind kind;
  int error;
} kinds[] = {
  {"allocation", INTERPOSE_ALLOCATION, ENOMEM}, {"write", INTERPOSE_WRITE, ENOSPC}, {"sync", INTERPOSE_SYNC, EIO},
  {"open", INTERPOSE_OPEN, EMFILE},             {"name", INTERPOSE_NAME, EIO},      {"map", INTERPOSE_MAP, ENOMEM},
  {"thread", INTERPOSE_THREAD, EAGAIN},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- for the operations ---- */

const char *operation_path(const char *format, ...)
{
  static char path[8][CM_PATH_MAX];
  static int turn;
  char name[CM_PATH_MAX / 2];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(name, sizeof name, format, arguments);
  va_end(arguments);
  turn = (turn + 1) % 8;
  (void)snprintf(path[turn], CM_PATH_MAX, "%.500s/%.500s", operation_folder, name);
  return path[turn];
}

static const char *below(const char *variable, const char *otherwise, const char *name)
{
  static char path[4][CM_PATH_MAX];
  static int turn;
  const char *folder = getenv(variable);
  turn = (turn + 1) % 4;
  (void)snprintf(path[turn], CM_PATH_MAX, "%s/%s", folder != NULL ? folder : otherwise, name);
  return path[turn];
}

const char *operation_data(const char *name)
{
  return below("CM_TEST_DATA", "tests/data", name);
}

const char *operation_source(const char *name)
{
  return below("CM_SOURCE", ".", name);
}

void operation_wrong(const char *format, ...)
{
  atomic_store(&control->kind, INTERPOSE_NOTHING);
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(shared->wrong, sizeof shared->wrong, format, arguments);
  va_end(arguments);
  _exit(1);
}

void operation_must(cm_status status, const cm_error *error, const char *what)
{
  if (status != CM_OK)
    operation_wrong("%s, with no call failing: %s %s", what, cm_status_code(status), error->detail);
}

void operation_write(const char *path, const void *bytes, size_t size)
{
  FILE *stream = fopen(path, "wb");
  if (stream == NULL || fwrite(bytes, 1, size, stream) != size || fclose(stream) != 0)
    operation_wrong("cannot write %s: %s", path, strerror(errno));
}

/* ---- one run ---- */

static int open_descriptors(void)
{
  DIR *listing = opendir("/proc/self/fd");
  int count = 0;
  while (listing != NULL && readdir(listing) != NULL)
    count++;
  if (listing != NULL)
    closedir(listing);
  return count;
}

/* Whether this is how the failure of such a call may be told: as a passing want of the machine, never as a fault of the
 * input or the program. */
static bool is_fitting(interpose_kind kind, cm_status status)
{
  switch (kind) {
    case INTERPOSE_ALLOCATION: case INTERPOSE_THREAD: return status == CM_NO_MEMORY;
    case INTERPOSE_MAP: return status == CM_NO_MEMORY || status == CM_IO;
    case INTERPOSE_WRITE: return status == CM_DISK_FULL || status == CM_IO;
    default: return status == CM_IO || status == CM_NO_MEMORY || status == CM_DISK_FULL;
  }
}

typedef struct outcome {
  cm_status status;
  bool fired;
  long long leaked;
  uint64_t calls[KINDS]; /* of each kind in it */
  int descriptors;
  char digest[65], detail[1000];
} outcome;

static outcome run_once(const operation *o, size_t kind, uint64_t at)
{
  cm_error error = {0};
  outcome out = {0};
  long long live = atomic_load(&control->live);
  int descriptors = open_descriptors();
  if (o->prepare != NULL)
    o->prepare();
  atomic_store(&control->at, at);
  atomic_store(&control->hits, 0);
  atomic_store(&control->fired, 0);
  atomic_store(&control->error, (unsigned)kinds[kind].error);
  for (size_t k = 0; k < KINDS; k++)
    atomic_store(&control->calls[kinds[k].kind], 0);
  atomic_store(&control->kind, at == 0 ? INTERPOSE_NOTHING : kinds[kind].kind);
  out.status = o->run(&error);
  atomic_store(&control->kind, INTERPOSE_NOTHING);
  for (size_t k = 0; k < KINDS; k++)
    out.calls[k] = atomic_load(&control->calls[kinds[k].kind]);
  out.fired = atomic_load(&control->fired) > 0;
  (void)snprintf(out.detail, sizeof out.detail, "%s", error.detail);
  o->settle(out.status, out.digest);
  out.leaked = atomic_load(&control->live) - live;
  out.descriptors = open_descriptors() - descriptors;
  return out;
}

/* Some blocks stay for good once: a leak grows with every run. */
static bool leaks(const operation *o, size_t kind, uint64_t at, const outcome *first)
{
  enum { OF_LIBZIP = 2 };
  const long long most = o->zips && kinds[kind].kind == INTERPOSE_ALLOCATION ? OF_LIBZIP : 0;
  if (first->leaked <= most)
    return false;
  for (int again = 0; again < 3; again++)
    if (run_once(o, kind, at).leaked <= most)
      return false;
  return true;
}

static void judge(const operation *o, size_t kind, uint64_t at, const outcome *out, const char *right)
{
  if (out->status == CM_OK && strcmp(out->digest, right) != 0)
    operation_wrong("succeeded, with another result");
  if (out->status != CM_OK && !out->fired)
    operation_wrong("failed by itself: %s %s", cm_status_code(out->status), out->detail);
  if (out->status != CM_OK && !is_fitting(kinds[kind].kind, out->status))
    operation_wrong("told as %s: %s", cm_status_code(out->status), out->detail);
  if (out->status != CM_OK && out->detail[0] == '\0')
    operation_wrong("failed without a word (%s)", cm_status_code(out->status));
  if (out->descriptors > (o->zips && kinds[kind].kind == INTERPOSE_ALLOCATION) && run_once(o, kind, at).descriptors > 0)
    operation_wrong("%d descriptors stay open (%s: %s)", out->descriptors, cm_status_code(out->status), out->detail);
  if (leaks(o, kind, at, out))
    operation_wrong("%lld blocks leak in every run (%s: %s)", out->leaked, cm_status_code(out->status), out->detail);
}

/* ---- an operation ---- */

/* The next call to fail: all at first, then further and further apart, so that about `most` are tried. */
static uint64_t next(uint64_t at, uint64_t most, uint64_t calls)
{
  uint64_t dense = most / 4;
  if (most == 0 || calls <= most || at < dense)
    return at + 1;
  return at + (calls - dense) / (most - dense) + 1;
}

static int by_number(const void *a, const void *b)
{
  const unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;
  return (x > y) - (x < y);
}

/* Which calls of a kind are the first from their place in the program, in `numbers`, in order. Returns how many. */
static uint64_t gather(const operation *o, size_t kind, unsigned long long *numbers)
{
  for (size_t i = 0; i < INTERPOSE_PLACES; i++)
    atomic_store(&control->places[i], 0);
  atomic_store(&control->gathered, 0);
  atomic_store(&control->gather, kinds[kind].kind);
  (void)run_once(o, kind, 0);
  atomic_store(&control->gather, INTERPOSE_NOTHING);
  const uint64_t count = atomic_load(&control->gathered);
  for (uint64_t i = 0; i < count; i++)
    numbers[i] = atomic_load(&control->first[i]);
  qsort(numbers, count, sizeof *numbers, by_number);
  return count;
}

/* Goes on after the call on the board. Where all are to fail and they are many, the first from each place stands for those
 * that come from there. */
static void child(const operation *o, const char *kind_only, uint64_t most)
{
  enum { EACH = 512 };
  static unsigned long long numbers[INTERPOSE_PLACES];
  cm_error error;
  outcome right;
  /* What storage logs of files that it puts aside is not ours to print. */
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || freopen("/dev/null", "w", stderr) == NULL)
    _exit(1);
  operation_must(cm_folder_remove(operation_folder, &error), &error, "emptying the folder");
  operation_must(cm_folder_make(operation_folder, &error), &error, "a folder for files");
  uint64_t kind = shared->kind, done = shared->at;
  shared->at = 0;
  (void)alarm(300);
  for (int warm = 0; warm < 2; warm++) {
    right = run_once(o, 0, 0);
    if (right.status != CM_OK)
      operation_wrong("with no call failing: %s %s", cm_status_code(right.status), right.detail);
  }
  shared->calls = 0;
  for (size_t k = 0; k < KINDS; k++)
    shared->calls += right.calls[k];
  for (; kind < KINDS; kind++, done = 0) {
    if (fnmatch(kind_only, kinds[kind].name, 0) != 0)
      continue;
    shared->kind = kind;
    uint64_t calls = right.calls[kind];
    const bool by_place = most == 0 && calls > EACH;
    if (by_place)
      calls = gather(o, kind, numbers);
    for (uint64_t turn = 0; (turn = next(turn, most, calls)) <= calls;) {
      const uint64_t at = by_place ? numbers[turn - 1] : turn;
      if (at <= done)
        continue;
      shared->at = at;
      (void)alarm(120);
      outcome out = run_once(o, kind, at);
      shared->runs++;
      shared->fired += out.fired;
      shared->tolerated += out.fired && out.status == CM_OK;
      judge(o, kind, at, &out, right.digest);
    }
  }
  shared->ended = true;
}

/* Runs children until all calls have failed. Returns how many of them went wrong. */
static uint64_t sweep(const operation *o, const char *kind_only, uint64_t most)
{
  uint64_t bad = 0;
  double began = cm_now();
  *shared = (board){0};
  while (!shared->ended && bad < 10) {
    shared->wrong[0] = '\0';
    pid_t pid = fork();
    if (pid == 0) {
      child(o, kind_only, most);
      _exit(0);
    }
    int status;
    (void)waitpid(pid, &status, 0);
    if (shared->ended && WIFEXITED(status))
      break;
    bad++;
    if (WIFSIGNALED(status))
      (void)snprintf(shared->wrong, sizeof shared->wrong, WTERMSIG(status) == SIGALRM ? "hangs" : "crashes: signal %d (%s)",
                     WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (shared->wrong[0] == '\0')
      (void)snprintf(shared->wrong, sizeof shared->wrong, "ends the process with status %d", WEXITSTATUS(status));
    (void)printf("FAILED  %s, %s %llu: %s\n", o->name, kinds[shared->kind].name, (unsigned long long)shared->at, shared->wrong);
    if (shared->at == 0)
      break;
  }
  (void)printf("%-22s %6llu of %6llu calls failed, %5llu of them tolerated, %llu wrong (%.1f s)\n", o->name,
               (unsigned long long)shared->fired, (unsigned long long)shared->calls, (unsigned long long)shared->tolerated,
               (unsigned long long)bad, cm_now() - began);
  return bad;
}

static const char usage[] =
  "usage: operations [--most N] [--only PATTERN] [--kind NAME] [--list]\n"
  "\n"
  "Fails the Nth allocation, write, sync, open, name (rename, mkdir), map and thread in every operation of the library\n"
  "and of storage. --most: about so many calls of a kind in an operation (24); 0: every one, and where they are more than\n"
  "512, the first from each place of the program (its 16 innermost frames).\n";

int main(int count, char **words)
{
  static const struct option flags[] = {{"most", required_argument, NULL, 'm'}, {"only", required_argument, NULL, 'o'},
                                        {"kind", required_argument, NULL, 'k'}, {"list", no_argument, NULL, 'l'},
                                        {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0}};
  uint64_t most = 24, passed = 0, failed = 0;
  const char *only = "*", *kind_only = "*";
  bool list = false;
  for (int flag; (flag = getopt_long(count, words, "", flags, NULL)) != -1;) {
    if (flag == 'm' && cm_whole_parse(optarg, &most))
      continue;
    if (flag == 'o')
      only = optarg;
    else if (flag == 'k')
      kind_only = optarg;
    else if (flag == 'l')
      list = true;
    else {
      (void)fputs(usage, flag == 'h' ? stdout : stderr);
      return flag == 'h' ? 0 : 2;
    }
  }
  (void)setvbuf(stdout, NULL, _IOLBF, 0);
  const char *temporary = getenv("TMPDIR");
  (void)snprintf(operation_folder, sizeof operation_folder, "%s/cm-fault-XXXXXX", temporary != NULL ? temporary : "/tmp");
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mkdtemp(operation_folder) == NULL || shared == MAP_FAILED)
    return 2;
  char page[CM_PATH_MAX], root[CM_PATH_MAX];
  (void)snprintf(root, sizeof root, "%s", operation_folder);
  (void)snprintf(page, sizeof page, "%.900s/page", root);
  (void)snprintf(operation_folder, sizeof operation_folder, "%.900s/files", root);
  control = interpose_start(page, NULL, NULL);
  const operation *const tables[] = {library_operations, storage_operations, chip_operations, job_operations};
  cm_error ignored;
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (const operation *o = tables[t]; o->name != NULL; o++) {
      if (fnmatch(only, o->name, 0) != 0)
        continue;
      if (list)
        (void)puts(o->name);
      if (list)
        continue;
      uint64_t bad = sweep(o, kind_only, most);
      passed += shared->runs >= bad ? shared->runs - bad : 0;
      failed += bad;
    }
  (void)cm_folder_remove(root, &ignored);
  (void)printf("%llu passed, %llu failed\n", (unsigned long long)passed, (unsigned long long)failed);
  return failed == 0 ? 0 : 1;
}
