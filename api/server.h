/* The HTTP server over a store. Routes: api/routes.c; what they mean: docs/reference/http.md, openapi_document.c. */
#pragma once

#include "storage/networks.h"
#include "storage/store.h"

typedef struct cm_server cm_server;

/* What may be changed while the server runs. */
typedef struct cm_server_limits {
  uint64_t upload_bytes_max;
  uint64_t memory_limit;   /* of one import, bytes; 0: none */
  uint64_t disk_free_min;  /* readyz fails and uploads are refused below */
  uint64_t connections;    /* open at once at most; lowered to what the limit of open files allows */
  uint64_t connections_per_address;
  uint64_t head_seconds;   /* for a request's head to come */
  uint64_t idle_seconds;   /* between the requests of a connection */
  uint64_t stall_seconds;  /* that a body or the reading of a reply may be behind rate_min */
  uint64_t rate_min;       /* bytes a second, at least 1 */
  uint64_t bin_days;       /* that what is deleted can come back; 0: not at all */
  cm_visibility visibility; /* of what users make, unless they say */
} cm_server_limits;

typedef struct cm_server_options {
  /* Texts may be NULL: as "". Lists have spaces or commas between their items. */
  const char *listen;      /* list of ADDRESS:PORT (0: a free one) and unix:/PATH */
  unsigned socket_mode;    /* of the files of unix sockets */
  const int *sockets;      /* that listen already, instead of the list; from now on the server's */
  size_t socket_count;
  cm_store *store;
  const char *tls_certificate, *tls_key; /* files in PEM; "": none. For all but unix sockets */
  const char *public_url;  /* by which a reverse proxy is called that passes requests on; "": none */
  const char *trusted_proxies; /* list of addresses, networks, "unix" and "unix:ACCOUNT", whose word on a request's origin counts */
  const char *proxy_secret; /* file of what those that have addresses send to be believed; "": none */
  const char *remote_user; /* header by which they tell who a user is; "": none */
  bool auto_add;           /* users whom they name and who are not there are added */
  const char *cors_origins; /* list of origins whose pages may ask, with a token */
  const char *www;         /* folder of the viewer's files */
  unsigned workers;        /* that take jobs, and of short ones beside them: for the estimate of waiting times */
  unsigned short_workers;
  cm_server_limits limits;
  void (*on_queued)(void *user); /* a job has been queued, or a running one is to stop */
  /* Reads an uploaded file, and writes what is stored of it durably; fills what the file tells about itself into `network`. */
  cm_status (*import)(void *user, const cm_network_source *source, cm_network *network, cm_error *error);
  void *user;
} cm_server_options;

/* Lets this process open as many files as its hard limit allows. */
cm_status cm_descriptors_raise(cm_error *error);

/* Starts answering. Errors: CM_CONFLICT (address in use), CM_BAD_OPTION (address, too few open files allowed),
 * CM_NO_MEMORY. */
cm_status cm_server_start(const cm_server_options *options, cm_server **server, cm_error *error);
/* Other limits for what begins from now on. */
void cm_server_limit(cm_server *server, const cm_server_limits *limits);

/* Shows another certificate from now on; connections that are there keep the old one. Errors: nothing changes. */
cm_status cm_server_certify(cm_server *server, const char *certificate, const char *key, cm_error *error);

/* The port of the first place that has one; 0: none. */
uint16_t cm_server_port(const cm_server *server);

/* Where the server listens, "https://10.0.0.1:8443" or "unix:/run/coremapd/socket", to name [size]; false: there is no
 * place of this number. */
bool cm_server_place(const cm_server *server, size_t number, char *name, size_t size);

/* Writes down what is gathered in memory (when tokens were used last); to be called once a second, and before the end. */
cm_status cm_server_tick(cm_server *server, cm_error *error);

/* From now on readyz says 503 and new jobs and uploads are refused, or no longer (false); the rest is still answered. */
void cm_server_drain(cm_server *server, bool drain);

/* Answers what is under way, ends the event streams, closes. NULL is allowed. */
void cm_server_stop(cm_server *server);

/* The OpenAPI document that is served. */
extern const char cm_openapi_text[];
