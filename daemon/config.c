/* One table of settings: a flag and a line of the configuration file have the same name and are read the same way. */
#include "daemon/config.h"

#include <errno.h>
#include <ini.h>
#include <unistd.h>

#include "base/number.h"
#include "daemon/executor.h"
#include "storage/log.h"
#include "storage/owners.h"

typedef enum kind { TEXT, LIST, NUMBER, BYTES, YES_NO } kind; /* LIST: texts with spaces or commas between, said once or often */

typedef struct setting {
  const char *name, *argument, *help;
  kind kind;
  size_t offset, size; /* size: of a TEXT field */
  uint64_t low, high;
  bool live; /* SIGHUP changes it */
} setting;

#define FIELD(name) offsetof(cm_config, name), sizeof(((cm_config *)0)->name)

static const setting settings[] = {
  {"listen", "PLACE",
   "where to listen: ADDRESS:PORT, [ADDRESS]:PORT, unix:/PATH; beyond loopback with users, and TLS or trusted-proxy;"
   " port 0: a free one (127.0.0.1:8080)",
   LIST, FIELD(listen), 0, 0, false},
  {"socket-mode", "MODE", "mode of unix sockets' files; others than 600 need users (600)", TEXT, FIELD(socket_mode), 0, 0, false},
  {"public-url", "URL", "https://HOST or https://HOST/PATH of a reverse proxy that passes on to here; needs users", TEXT,
   FIELD(public_url), 0, 0, false},
  {"trusted-proxy", "ADDRESS", "proxy whose X-Forwarded-For, -Proto and -Host count: address, network, unix:ACCOUNT, or unix for the server's own", LIST,
   FIELD(trusted_proxies), 0, 0, false},
  {"proxy-secret", "FILE", "what proxies that have addresses send as X-Proxy-Secret for their headers to count, or credential:NAME", TEXT,
   FIELD(proxy_secret), 0, 0, false},
  {"remote-user", "HEADER", "header by which trusted proxies say who a user is, such as Remote-User (none)", TEXT,
   FIELD(remote_user), 0, 0, false},
  {"auto-add", "yes|no", "add users whom remote-user names and who are not there yet, as role user (no)", YES_NO, FIELD(auto_add), 0, 0, false},
  {"cors-origin", "ORIGIN", "https://HOST whose pages may ask, with a token", LIST, FIELD(cors_origins), 0, 0, false},
  {"tls-certificate", "FILE", "certificates in PEM, the server's first, or credential:NAME of systemd; read again on SIGHUP",
   TEXT, FIELD(tls_certificate), 0, 0, true},
  {"tls-key", "FILE", "their private key, or credential:NAME", TEXT, FIELD(tls_key), 0, 0, true},
  {"data", "FOLDER", "everything the server keeps (~/.local/share/coremapd)", TEXT, FIELD(data), 0, 0, false},
  {"www", "FOLDER", "the viewer's files (" CM_DATA_FOLDER "/www)", TEXT, FIELD(www), 0, 0, false},
  {"log", "FILE", "file that messages are appended to, opened anew on SIGHUP (standard error)", TEXT, FIELD(log), 0, 0, true},
  {"log-format", "text|json", "text: messages; json: an object a line, for each request and each step of a job too (text)", TEXT,
   FIELD(log_format), 0, 0, true},
  {"threads", "T", "threads of one job (all processors)", NUMBER, FIELD(threads), 1, 1024, false},
  {"workers", "W", "jobs at once (2)", NUMBER, FIELD(workers), 1, 64, false},
  {"short-workers", "S", "of jobs expected to take less than two seconds, so many more at once (three a processor, 8 at most)",
   NUMBER, FIELD(short_workers), 0, 16, false},
  {"half-life", "SECONDS", "after which a user's use of the workers counts half against his share (86400, a day)", NUMBER,
   FIELD(half_life), 60, 315360000, true},
  {"executor", "NAME", "where jobs run: threads of the server, or process: a confined child each (threads)", TEXT,
   FIELD(executor), 0, 0, false},
  {"bridge", "PATH", "unix socket of coremapd slurm-bridge, by which long jobs are given to a Slurm cluster (none)", TEXT, FIELD(bridge), 0, 0, false},
  {"shared", "FOLDER", "where jobs for the cluster are put: a folder that all its nodes see under this path", TEXT, FIELD(shared), 0, 0, false},
  {"cluster-from", "SECONDS", "what a job is expected to take for it to go to the cluster (60)", NUMBER, FIELD(cluster_from), 0, 31536000, false},
  {"cluster-bytes", "BYTES", "what a job is expected to hold for it to go there (the memory of one job here)", BYTES, FIELD(cluster_bytes), 1, INT64_MAX, false},
  {"cluster-jobs", "N", "jobs in the cluster's hands at once (200)", NUMBER, FIELD(cluster_jobs), 1, 100000, false},
  {"slurm-flags", "FLAGS", "of sbatch, for all jobs, such as --partition=main --account=lab (none)", LIST, FIELD(slurm_flags), 0, 0, false},
  {"import-in-child", "yes|no",
   "read all uploads in a confined child, whatever the executor (no: models and formats of libraries alone)", YES_NO,
   FIELD(import_in_child), 0, 0, false},
  {"memory-limit", "BYTES", "memory of one job or import, such as 2G; 0: no limit (3/4 of the machine's over the workers)", BYTES,
   FIELD(memory_limit), 0, INT64_MAX, true},
  {"upload-limit", "BYTES", "size of one upload (16G)", BYTES, FIELD(upload_limit), 1, INT64_MAX, true},
  {"upload-age", "SECONDS", "rest after which an unfinished resumable upload is removed; 0: never (604800, a week)", NUMBER,
   FIELD(upload_age), 0, 315360000, true},
  {"bin-days", "DAYS", "for which what is deleted can be brought back; 0: it is deleted at once (7)", NUMBER, FIELD(bin_days), 0,
   3650, true},
  {"cache-limit", "BYTES", "size of the cache of coarsened networks (4G)", BYTES, FIELD(cache_limit), 0, INT64_MAX, true},
  {"disk-reserve", "BYTES", "free disk below which uploads are refused and /readyz says 503 (64M)", BYTES, FIELD(disk_reserve), 0,
   INT64_MAX, true},
  {"grace", "SECONDS", "time that running jobs get to end on SIGTERM before they go back to the queue, or on without a server (5)", NUMBER,
   FIELD(grace), 0, 86400, true},
  {"outlive", "SECONDS", "time that jobs in children go on without a server, for the next one to take over; 0: none (300)", NUMBER,
   FIELD(outlive), 0, 86400, false},
  {"connections", "N", "open connections at most; fewer where the limit of open files is low (4096)", NUMBER, FIELD(connections),
   1, 1000000, true},
  {"connections-per-address", "N", "of them, from one address at most (3072)", NUMBER, FIELD(connections_per_address), 1, 1000000,
   true},
  {"visibility", "lab|group|private", "who sees what users make, unless they say: all users, their group, nobody else (lab)",
   TEXT, FIELD(visibility), 0, 0, true},
  {"head-timeout", "SECONDS", "time for the head of a request to come (20)", NUMBER, FIELD(head_timeout), 1, 86400, true},
  {"idle-timeout", "SECONDS", "rest between the requests of a connection (60)", NUMBER, FIELD(idle_timeout), 1, 86400, true},
  {"stall-timeout", "SECONDS", "time that a body, or the reading of a reply, may be behind --min-rate (60)", NUMBER,
   FIELD(stall_timeout), 1, 86400, true},
  {"min-rate", "BYTES", "least bytes a second of bodies and replies (1K)", BYTES, FIELD(min_rate), 1, INT64_MAX, true},
};
enum { SETTINGS = sizeof settings / sizeof *settings };
_Static_assert(SETTINGS <= 64, "what has been seen is kept as bits");

static const setting *find(const char *name, size_t length)
{
  for (size_t i = 0; i < SETTINGS; i++)
    if (strlen(settings[i].name) == length && strncmp(settings[i].name, name, length) == 0)
      return &settings[i];
  return NULL;
}

/* Adds to a list; its first item in a source takes the place of what other sources said. */
static cm_status add(cm_config *config, const setting *s, const char *text, const char *source, uint64_t *seen, cm_error *error)
{
  char *field = (char *)config + s->offset;
  const uint64_t bit = UINT64_C(1) << (s - settings);
  const size_t used = (*seen & bit) != 0 ? strlen(field) : 0;
  if (text[strspn(text, " ,\t")] == '\0' || used + 1 + strlen(text) >= s->size)
    return cm_fail(error, CM_BAD_OPTION, "%s: %s needs texts of at most %zu bytes in all", source, s->name, s->size - 1);
  (void)snprintf(field + used, s->size - used, "%s%s", used > 0 ? " " : "", text);
  *seen |= bit;
  return CM_OK;
}

/* Sets one; `seen` are the lists of which this source has spoken. */
static cm_status set(cm_config *config, const setting *s, const char *text, const char *source, uint64_t *seen, cm_error *error)
{
  char *field = (char *)config + s->offset;
  if (s->kind == LIST)
    return add(config, s, text, source, seen, error);
  if (s->kind == TEXT) {
    if (text[0] == '\0' || strlen(text) >= s->size)
      return cm_fail(error, CM_BAD_OPTION, "%s: %s needs a text of at most %zu bytes", source, s->name, s->size - 1);
    memcpy(field, text, strlen(text) + 1);
    return CM_OK;
  }
  if (s->kind == YES_NO) {
    bool yes = strcmp(text, "yes") == 0;
    if (!yes && strcmp(text, "no") != 0)
      return cm_fail(error, CM_BAD_OPTION, "%s: %s is \"%.60s\"; it must be yes or no", source, s->name, text);
    memcpy(field, &yes, sizeof yes);
    return CM_OK;
  }
  uint64_t value = 0;
  bool is_number = s->kind == BYTES ? cm_bytes_parse(text, &value) : cm_whole_parse(text, &value);
  if (!is_number || value < s->low || value > s->high)
    return cm_fail(error, CM_BAD_OPTION, "%s: %s is \"%.60s\"; it must be a %s from %llu to %llu", source, s->name,
                   text, s->kind == BYTES ? "number of bytes (2G, 512M, ...)" : "whole number",
                   (unsigned long long)s->low, (unsigned long long)s->high);
  memcpy(field, &value, sizeof value);
  return CM_OK;
}

/* ---- the file ---- */

typedef struct reading {
  cm_config *config;
  cm_error *error;
  const char *path;
  uint64_t seen;
  bool failed;
} reading;

static int read_line(void *context, const char *section, const char *name, const char *value)
{
  reading *r = context;
  const setting *s = find(name, strlen(name));
  if (section[0] != '\0' && strcmp(section, "coremapd") != 0)
    (void)cm_fail(r->error, CM_BAD_OPTION, "%s: unknown section [%.40s]; the only one is [coremapd]", r->path, section);
  else if (s == NULL)
    (void)cm_fail(r->error, CM_BAD_OPTION, "%s: unknown setting \"%.40s\"; coremapd --help lists them", r->path, name);
  else if (set(r->config, s, value, r->path, &r->seen, r->error) == CM_OK)
    return 1;
  r->failed = true;
  return 0;
}

static cm_status read_file(cm_config *config, const char *path, cm_error *error)
{
  reading r = {.config = config, .error = error, .path = path};
  int line = ini_parse(path, read_line, &r);
  if (r.failed)
    return line > 0 ? cm_fail_at(error, "line %d", line) : error->status;
  if (line < 0)
    return cm_fail_errno(error, errno != 0 ? errno : ENOENT, "cannot read", path);
  if (line > 0) {
    cm_fail(error, CM_BAD_OPTION, "%s: line %d is no setting; \"name = value\" is", path, line);
    return cm_fail_at(error, "line %d", line);
  }
  return CM_OK;
}

/* ---- the command line ---- */

static cm_status missing(const char *flag, cm_error *error)
{
  return cm_fail(error, CM_BAD_OPTION, "%s needs a value", flag);
}

const char *const cm_config_prints[] = {"config", "man", "man-config", NULL};

static const char *find_print(const char *word)
{
  static const char prefix[] = "--print-";
  size_t i = 0;
  if (strncmp(word, prefix, sizeof prefix - 1) != 0)
    return NULL;
  while (cm_config_prints[i] != NULL && strcmp(cm_config_prints[i], word + sizeof prefix - 1) != 0)
    i++;
  return cm_config_prints[i];
}

/* Reads flags "--name value" and "--name=value". In the first pass only --config counts, in the second all others. */
static cm_status read_flags(int count, char **words, bool files, cm_config *config, cm_error *error)
{
  uint64_t seen = 0;
  for (int i = 1; i < count; i++) {
    const char *word = words[i];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
      config->help = true;
      continue;
    }
    if (strcmp(word, "--version") == 0) {
      config->version = true;
      continue;
    }
    const char *print = find_print(word);
    if (print != NULL) {
      config->print = print;
      continue;
    }
    if (strcmp(word, "--check-data") == 0) {
      config->check_data = true;
      continue;
    }
    size_t length = strcspn(word, "=");
    bool is_file = length == 8 && strncmp(word, "--config", 8) == 0;
    const setting *s = strncmp(word, "--", 2) == 0 ? find(word + 2, length - 2) : NULL;
    if (s == NULL && !is_file)
      return cm_fail(error, CM_BAD_OPTION, "unknown argument \"%.60s\"; coremapd --help lists what there is", word);
    const char *value = word[length] == '=' ? word + length + 1 : i + 1 < count ? words[++i] : NULL;
    if (value == NULL)
      return missing(word, error);
    cm_status status = CM_OK;
    if (is_file && files)
      status = read_file(config, value, error);
    else if (!is_file && !files)
      status = set(config, s, value, "command line", &seen, error);
    CM_TRY(status);
  }
  return CM_OK;
}

/* Octal, and this user's own at least. */
static cm_status check_mode(const cm_config *config, cm_error *error)
{
  const char *mode = config->socket_mode;
  mode += mode[0] == '0' ? 1 : 0;
  return strlen(mode) == 3 && strspn(mode, "0246") == 3 && mode[0] == '6'
             ? CM_OK
             : cm_fail(error, CM_BAD_OPTION, "socket-mode is \"%s\"; it must be such as 600, 660 or 666", config->socket_mode);
}

/* "credential:NAME" is a file that the service manager lets nobody else read. */
static cm_status find_credential(char path[CM_PATH_MAX], const char *what, cm_error *error)
{
  static const char prefix[] = "credential:";
  char name[CM_PATH_MAX];
  const char *folder = getenv("CREDENTIALS_DIRECTORY");
  if (strncmp(path, prefix, sizeof prefix - 1) != 0)
    return CM_OK;
  if (folder == NULL)
    return cm_fail(error, CM_BAD_OPTION, "%s is \"%.100s\", and this process was given no credentials: LoadCredential= of its"
                   " systemd unit does so", what, path);
  (void)snprintf(name, sizeof name, "%s", path + sizeof prefix - 1);
  return cm_path(path, error, "%s/%s", folder, name);
}

/* What workers share of the machine's memory: the rest is for the server, the kernel's cache and others. */
static uint64_t memory_share(uint64_t workers)
{
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 4 * 3 / workers : 0;
}

cm_status cm_config_read(int count, char **words, cm_config *config, cm_error *error)
{
  const char *home = getenv("HOME");
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  cm_config made = {.listen = "127.0.0.1:8080", .socket_mode = "600", .www = CM_DATA_FOLDER "/www",
                    .threads = processors > 0 ? (uint64_t)processors : 1, .workers = 2,
                    .short_workers = processors < 1 ? 1 : processors < 3 ? 3 * (uint64_t)processors : 8, .half_life = 86400,
                    .memory_limit = UINT64_MAX, .upload_limit = UINT64_C(16) << 30, .upload_age = 604800, .cache_limit = UINT64_C(4) << 30,
                    .bin_days = 7, .disk_reserve = UINT64_C(64) << 20, .grace = 5, .outlive = 300, .connections = 4096,
                    .connections_per_address = 3072, .head_timeout = 20, .idle_timeout = 60, .stall_timeout = 60,
                    .cluster_from = 60, .cluster_jobs = 200, .min_rate = 1024, .executor = "threads", .visibility = "lab", .log_format = "text"};
  cm_status status = home != NULL && home[0] == '/'
                         ? cm_path(made.data, error, "%s/.local/share/coremapd", home)
                         : cm_path(made.data, error, "/var/lib/coremapd");
  CM_THEN(status, read_flags(count, words, true, &made, error));
  CM_THEN(status, read_flags(count, words, false, &made, error));
  if (made.memory_limit == UINT64_MAX)
    made.memory_limit = memory_share(made.workers);
  CM_THEN(status, check_mode(&made, error));
  CM_THEN(status, find_credential(made.tls_certificate, "tls-certificate", error));
  CM_THEN(status, find_credential(made.tls_key, "tls-key", error));
  CM_THEN(status, find_credential(made.proxy_secret, "proxy-secret", error));
  if (status == CM_OK && cm_executor_find(made.executor) == NULL)
    status = cm_fail(error, CM_BAD_OPTION, "executor is \"%s\"; it must be threads or process", made.executor);
  if (status == CM_OK && cm_log_format_of(made.log_format) == CM_LOG_FORMATS)
    status = cm_fail(error, CM_BAD_OPTION, "log-format is \"%s\"; it must be text or json", made.log_format);
  if (status == CM_OK && cm_visibility_of(made.visibility) == CM_VISIBILITIES)
    status = cm_fail(error, CM_BAD_OPTION, "visibility is \"%s\"; it must be lab, group or private", made.visibility);
  CM_END(status, *config = made, );
}

const char *cm_config_needs_restart(const cm_config *before, const cm_config *now, const char *after)
{
  const setting *s = after != NULL ? find(after, strlen(after)) + 1 : settings;
  for (; s < settings + SETTINGS; s++) {
    const char *a = (const char *)before + s->offset, *b = (const char *)now + s->offset;
    if (!s->live && (s->kind == TEXT || s->kind == LIST ? strcmp(a, b) : memcmp(a, b, s->size)) != 0)
      return s->name;
  }
  return NULL;
}

void cm_config_take(cm_config *config, const cm_config *next)
{
  for (const setting *s = settings; s < settings + SETTINGS; s++)
    if (s->live)
      memcpy((char *)config + s->offset, (const char *)next + s->offset, s->size);
}

bool cm_config_setting(size_t number, cm_setting_text *text)
{
  if (number >= SETTINGS)
    return false;
  const setting *s = &settings[number];
  *text = (cm_setting_text){s->name, s->argument, s->help, s->live, s->kind == LIST};
  return true;
}

char *cm_config_help(void)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL)
    return NULL;
  (void)fputs("coremapd: a compile server that maps neural networks onto many-core chips\n\n"
              "  coremapd [--config FILE] [--NAME VALUE ...]\n"
              "  coremapd user|token ...              users and their tokens: coremapd user --help\n"
              "  coremapd quota|retention ...         what users may have, and for how long: coremapd quota --help\n"
              "  coremapd usage ...                   what users have used by month: coremapd usage --help\n"
              "  coremapd drain ...                   end what runs, take nothing new, stop: coremapd drain --help\n"
              "  coremapd health unix:/PATH           whether the server that listens there is ready\n"
              "  coremapd slurm-bridge ...            gives jobs to Slurm, by the same settings: docs/how-to/slurm.md\n"
              "  coremapd backup|restore DIR          the data folder to DIR, also while it is served, and back\n\n", out);
  for (int i = 0; i < SETTINGS; i++)
    (void)fprintf(out, "%c%c--%s %s%*s%s\n", settings[i].kind == LIST ? '+' : ' ', settings[i].live ? '*' : ' ', settings[i].name, settings[i].argument,
                  (int)(32 - strlen(settings[i].name) - strlen(settings[i].argument)), "", settings[i].help);
  (void)fputs("  --config FILE                      settings as \"name = value\" lines; flags count more\n"
              "  --check-data                       check the data folder instead of serving: every digest, every row's\n"
              "                                     files; prints each fault, exit status 1 if there is one\n"
              "  --print-config                     print a configuration file that explains every setting\n"
              "  --version, --help\n\n"
              "On SIGHUP the file is read again; what has a * changes at once, the rest at the next start. What has a + may be said\n"
              "more than once, or be a list with spaces or commas between its items.\n", out);
  (void)fclose(out);
  return text;
}
