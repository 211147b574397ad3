/* One request: the server's threads (server.c) read its head (head.c), find the route (routes.c), read its body (body.c) and hand it,
 * its connection suspended, to a pool of threads (pool.c) where the route's handler (handlers.h) may block, or run a handler that does
 * not block at once. The handler sets a reply (reply.c) or asks to wait for a job to change (subscriptions.c); then the connection is
 * resumed and answered. A request owns what its members do not say is another's. */
#pragma once

#include <jansson.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <nettle/sha2.h>
#include <sys/un.h>

#include "api/server.h"
#include "storage/lists.h"
#include "storage/tokens.h"

enum {
  CM_SEGMENTS_MAX = 8,
  CM_PARAMS_MAX = 4,
  CM_QUERY_MAX = 64,
  CM_TARGET_BYTES_MAX = 8192,
  CM_JSON_BYTES_MAX = 1 << 20,
  CM_OCCUPANCY_BYTES_MAX = 32 << 20,
  CM_WAIT_SECONDS_MAX = 60,
  CM_PAGE_MAX = 1000,
  CM_PAGE_DEFAULT = 100,
  CM_ADDRESS_KEY = 8,
  CM_CLIENT_MAX = INET6_ADDRSTRLEN,
  CM_REQUEST_ID_MAX = 64,
};

typedef struct cm_request cm_request;
typedef struct cm_pool cm_pool;
typedef struct cm_subscriptions cm_subscriptions;
typedef struct cm_connections cm_connections;
typedef struct cm_kept cm_kept;
typedef struct cm_access cm_access;
typedef struct cm_sessions cm_sessions;
typedef struct cm_shown cm_shown;

typedef void (*cm_handler)(cm_request *request);

typedef enum cm_body { CM_BODY_NONE, CM_BODY_JSON, CM_BODY_BULK, CM_BODY_FILE } cm_body;
/* Where a handler runs: at once, in the thread that read the request (it looks at no more than a few rows, and writes nothing);
 * or in a pool's thread, as what may block, or what computes. */
typedef enum cm_lane { CM_LANE_AT_ONCE, CM_LANE_SHORT, CM_LANE_IMPORT } cm_lane;

/* What a route asks of the caller: a scope of the token, and a role of its user (access.c has the table). */
typedef enum cm_right {
  CM_RIGHT_PUBLIC,  /* nothing: no token is looked at */
  CM_RIGHT_SELF,    /* any token */
  CM_RIGHT_READ,    /* scope read */
  CM_RIGHT_SUBMIT,  /* scope submit */
  CM_RIGHT_RESERVE, /* scope reserve */
  CM_RIGHT_ACCOUNT, /* scope admin: one's own tokens */
  CM_RIGHT_WATCH,   /* scope read, role operator */
  CM_RIGHT_OPERATE, /* scope admin, role operator */
  CM_RIGHT_ADMIN,   /* scope admin, role admin */
} cm_right;

/* What is done to the thing that a route names. */
typedef enum cm_deed {
  CM_DEED_SEE,
  CM_DEED_CHANGE, /* for its owner, operators and admins */
  CM_DEED_PUT,    /* the same, and it may be missing */
} cm_deed;

typedef struct cm_route {
  const char *method, *pattern; /* "/v1/jobs/{id}"; "{file*}" takes the rest of the path */
  cm_handler handler;
  const char *handler_name;
  const char *operation;        /* operationId in the OpenAPI document */
  cm_body body;
  cm_lane lane;
  bool while_draining;          /* answered while the server drains */
  const char *query;            /* names of the query arguments, between spaces; "*": any */
  cm_right right;
  cm_object object; /* what {id}, or the last of them, names */
  cm_deed deed;
} cm_route;

extern const cm_route cm_routes[];
extern const size_t cm_route_count;

/* The route of a request, its params filled; NULL: refused, the reply (404, 405) is set. */
const cm_route *cm_route_find(cm_request *request);

/* The request's query has arguments of its route only, each once; false: a 400 is the reply. */
bool cm_route_check_query(cm_request *request);

typedef enum cm_stage { CM_STAGE_NEW, CM_STAGE_BODY, CM_STAGE_WORK, CM_STAGE_ANSWERED } cm_stage;

typedef union cm_address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
  struct sockaddr_un local;
} cm_address;

struct cm_request {
  cm_server *server;
  cm_store *store;
  struct MHD_Connection *connection;
  cm_stage stage;
  bool refused;                    /* as soon as its target had come: it is answered already */
  double started;                  /* the first line has come */
  double whole;                    /* all of it has come; 0: not yet */
  double slept;                    /* seconds spent in long polls and replies held back */
  char id[CM_REQUEST_ID_MAX]; /* by which log, replies, jobs and the audit trail name it */
  uint64_t sent;                   /* bytes of the reply's body so far, or that it will have */
  char method[12];
  char *target;                    /* as it came */
  const char *raw;                 /* where the library has it, until the head is taken */
  char *path;                      /* owns the segments */
  char *segment[CM_SEGMENTS_MAX];  /* decoded */
  size_t segments;
  const cm_route *route;
  const char *param[CM_PARAMS_MAX];
  unsigned char address[CM_ADDRESS_KEY]; /* the client's, as a key */
  cm_address client;               /* as it is, for readers */
  bool proxied;                    /* passed on by a trusted proxy */
  bool https;                      /* which says that it came by TLS */
  bool foreign;                    /* from another origin's page: no cookie counts */
  char origin[300];                /* of them, one that cors-origin lists; "": none */
  const char *remote_user;         /* whom a trusted proxy names; NULL: nobody */
  cm_identity who;
  cm_viewer viewer;                /* the same, as storage asks for it */
  bool open;                       /* there are no users: he may do all */
  double delay;                    /* seconds that the reply, which is set, is held back */

  char *body;                      /* of CM_BODY_JSON and CM_BODY_BULK, NUL-terminated */
  size_t body_size, body_room;
  bool has_body, too_large;
  uint64_t discarded;

  FILE *file;                      /* of CM_BODY_FILE */
  char *file_buffer;               /* that it writes by; NULL: its own */
  char *file_path; /* NULL: there is none */
  char file_sha[CM_SHA_MAX];
  uint64_t file_bytes;
  struct sha256_ctx hash;

  unsigned status;                 /* of the reply; 0: none yet */
  char refusal[160];               /* of a problem, the last one: its code and what is wrong */
  json_t *refusals;                /* collects problems that are replied; NULL: nothing does */
  struct MHD_Response *response;
  cm_kept *kept;                   /* whose reply the response is; NULL: it is this request's alone */

  /* A long poll. */
  bool wait;                       /* the handler has found nothing new: sleep and run it again */
  uint64_t wait_seen;              /* the job's newest event that it knew */
  double wait_until;               /* 0: first look; negative: time is up, answer as it is */
  double asleep;                   /* since when it sleeps */
  char wait_job[CM_ID_MAX];
  char wait_tag[64];               /* the state when it began */

  cm_request *next;                /* in a pool's queue or the subscriptions' list */
  cm_error error;                  /* the slot of the steps that answer it; last, for it need not be cleared */
};

/* ---- reply.c: the only place that makes responses. Each replaces an earlier reply. ---- */
void cm_reply_json(cm_request *request, unsigned status, json_t *body); /* takes `body`; NULL: out of memory */
void cm_reply_text(cm_request *request, unsigned status, const char *type, char *body, size_t size); /* takes `body` */
/* A reply that is the same each time: of a text that outlives the server, or of a copy of a shown job. */
typedef struct cm_same {
  const char *type;
  const char *body; /* of a copy: malloc'd; NULL: the connection keeps it (cm_kept_has) */
  size_t size;
  uint64_t copy; /* its number; 0: the text outlives the server */
  char tag[64];  /* of a copy: ETag */
} cm_same;

/* 200 with it, kept by the connection: no header may be added. Takes a copy. */
void cm_reply_same(cm_request *request, const cm_same *same);
void cm_reply_empty(cm_request *request, unsigned status);
bool cm_reply_error(cm_request *request, const cm_error *error); /* returns false */
/* Whether it only looks. */
static inline bool cm_request_is_safe(const cm_request *request)
{
  return strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
}

/* Whether a step went well; else its failure, in request->error, is the reply, of what the request says at `where` (a JSON pointer). */
bool cm_reply_ok(cm_request *request, cm_status status);
bool cm_reply_ok_at(cm_request *request, cm_status status, const char *where);

/* The same of what a request says at `where` (a JSON pointer), and why that will not do. Returns false, for those who check. */
bool cm_reply_bad_member(cm_request *request, cm_status status, const char *where, const char *why);
/* Return false, too. */
bool cm_reply_problem(cm_request *request, unsigned status, const char *code, const char *title, const char *detail,
                      ...) __attribute__((format(printf, 5, 6)));
#define CM_REPLY_BAD(request, ...) \
  cm_reply_problem((request), 400, "bad-request", "The request cannot be understood", __VA_ARGS__)
void cm_reply_refusal(cm_request *request, unsigned status, json_t *problem); /* as it is; takes it */
void cm_reply_header(cm_request *request, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The header Location: a path, below the server's base. */
void cm_reply_location(cm_request *request, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* No cache keeps the reply. */
void cm_reply_private(cm_request *request);
/* A file with Range and If-None-Match, packed for those who take gzip; `etag` without quotes. Other headers that the
 * choice of the file depended on are in `vary` ("": none). */
/* In two steps: whether the client has it already (the reply is 304), and an open file, which is taken. */
bool cm_reply_known(cm_request *request, const char *type, const char *etag, const char *vary);
void cm_reply_opened(cm_request *request, int file, const char *type, const char *etag, const char *vary);
void cm_reply_file(cm_request *request, const char *path, const char *type, const char *etag, const char *vary);
void cm_reply_stream(cm_request *request, const char *type, MHD_ContentReaderCallback reader, void *context,
                     MHD_ContentReaderFreeCallback release);
/* At `now`, which is cm_now. */
enum MHD_Result cm_reply_send(cm_request *request, double now);

/* The headers that every response carries; a name of NULL ends them. */
typedef struct cm_header {
  const char *name, *value;
} cm_header;
extern const cm_header cm_safety_headers[];

/* Takes a reply back. */
void cm_reply_forget(cm_request *request);

/* True (and 304 is the reply) when If-None-Match has this tag. */
bool cm_reply_unchanged(cm_request *request, const char *etag);

/* ---- request.c: reading requests ---- */
const char *cm_request_header(const cm_request *request, const char *name);
const char *cm_request_query(const cm_request *request, const char *name);
/* An unsigned query argument in [low, high]; false: a 400 is the reply. */
bool cm_request_number(cm_request *request, const char *name, uint64_t low, uint64_t high, uint64_t fallback,
                       uint64_t *value);
/* The body as a JSON object (the caller decrefs); NULL: a 400 is the reply. */
json_t *cm_request_json(cm_request *request);
/* The same, or an array. */
json_t *cm_request_json_or_list(cm_request *request);
/* A member that is a short text, "" where there is none; false: a 400 is the reply. */
bool cm_request_word(cm_request *request, const json_t *object, const char *name, char *word, size_t size);
/* Refuses members that are not in the NULL-terminated list: false and a 400. */
bool cm_request_members(cm_request *request, const json_t *object, const char *const *names);
/* The entity tag of If-Match without quotes ("*" too); false: 428 or 400 is the reply. */
bool cm_request_if_match(cm_request *request, char *etag, size_t size);
/* A name that can be shown: UTF-8 without control characters, shorter than `size`. */
bool cm_text_is_sound(const char *text, size_t size);
/* Seconds since 1970 as "2026-01-31T12:00:00.000Z"; null for 0. */
json_t *cm_time_json(double seconds);

/* ---- pages.c: pages of lists ---- */
enum { CM_CURSOR_MAX = 368 };
typedef struct cm_page {
  uint64_t limit;         /* how many entries it is to have */
  int64_t after;          /* the number of the row that it comes after; 0: the first page */
  cm_cell at;             /* and that one's value, in lists that are sorted by another one */
  char text[CM_NAME_MAX]; /* which may point here */
} cm_page;
/* What page is asked for; false: a 400 is the reply. */
bool cm_page_asked_at(cm_request *request, uint64_t most, uint64_t normal, cm_page *page);
bool cm_page_asked(cm_request *request, uint64_t most, uint64_t normal, uint64_t *limit, int64_t *before);
/* What asks for the page after the row of this number (and value; NULL: none); and as the member `next` of a page. */
void cm_page_next_at(const cm_request *request, int64_t sequence, const cm_cell *at, char cursor[CM_CURSOR_MAX]);
void cm_page_add_next(const cm_request *request, json_t *body, int64_t sequence);
