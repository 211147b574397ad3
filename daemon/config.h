/* Settings of the daemon: defaults, overridden by a configuration file, overridden by flags. */
#pragma once

#include "base/file.h"

/* What --print-NAME prints: "config", "man", "man-config". */
extern const char *const cm_config_prints[];

typedef struct cm_config {
  char listen[1600];   /* list of ADDRESS:PORT and unix:/PATH */
  char socket_mode[8]; /* octal */
  char public_url[480];
  char trusted_proxies[1600];
  char proxy_secret[CM_PATH_MAX];
  char remote_user[64];
  bool auto_add;          /* users whom it names are added */
  char cors_origins[1600];
  char tls_certificate[CM_PATH_MAX], tls_key[CM_PATH_MAX];
  char data[CM_PATH_MAX];
  char www[CM_PATH_MAX];
  char log[CM_PATH_MAX];  /* "": standard error */
  char log_format[8];
  uint64_t threads;       /* of one job at most */
  uint64_t workers;       /* jobs at once */
  uint64_t short_workers; /* beside them, jobs that are expected to be short */
  uint64_t half_life;     /* seconds after which a use of the workers counts half */
  char executor[16];      /* name of daemon/executor.h's table */
  bool import_in_child;   /* uploads are read in a confined child */
  uint64_t memory_limit;  /* bytes of one job or import, 0: none */
  uint64_t upload_limit;  /* bytes of one upload */
  uint64_t upload_age;    /* seconds after which an upload that nobody goes on with is removed; 0: never */
  char bridge[CM_PATH_MAX], shared[CM_PATH_MAX]; /* of a cluster; "": there is none */
  char slurm_flags[600];
  uint64_t cluster_from;  /* seconds from which a job goes there */
  uint64_t cluster_bytes; /* or bytes that it holds; 0: the memory of one job here */
  uint64_t cluster_jobs;  /* there at once */
  uint64_t cache_limit;   /* bytes of the coarsening cache */
  uint64_t bin_days;      /* that what is deleted lies in the bin */
  uint64_t disk_reserve;  /* bytes that must stay free */
  uint64_t outlive;       /* seconds that jobs in children go on without a server */
  uint64_t grace;         /* seconds that running jobs get to end when the daemon stops */
  uint64_t connections;   /* open at once */
  uint64_t connections_per_address;
  uint64_t head_timeout;  /* seconds for the head of a request */
  uint64_t idle_timeout;  /* seconds between the requests of a connection */
  uint64_t stall_timeout; /* seconds that a body or a reader may be behind min_rate */
  uint64_t min_rate;      /* bytes a second */
  char visibility[16];    /* of what users make, unless they say */
  bool help, version, check_data;
  const char *print; /* of cm_config_prints; NULL: nothing */
} cm_config;

/* Reads the command line, and the file that --config names. CM_BAD_OPTION says which setting, and what it may be. */
cm_status cm_config_read(int count, char **words, cm_config *config, cm_error *error);

/* The first setting that differs and takes a restart to change, NULL when there is none; `after` counts from it. */
const char *cm_config_needs_restart(const cm_config *before, const cm_config *now, const char *after);

/* Takes over the settings that a running server can change. */
void cm_config_take(cm_config *config, const cm_config *next);

/* A setting as people read it. */
typedef struct cm_setting_text {
  const char *name, *argument, *help;
  bool live, list; /* changes on SIGHUP; may be said more than once */
} cm_setting_text;

/* The setting of this number; false: there are no more. */
bool cm_config_setting(size_t number, cm_setting_text *text);

/* The text of --help; the caller frees, NULL when out of memory. */
char *cm_config_help(void);
