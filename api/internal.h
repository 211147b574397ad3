/* What the files of the api room share beside requests (request.h): the server, its listeners, connections and threads, who may ask,
 * waiting. */
#pragma once

#include <gnutls/abstract.h>
#include <jansson.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>

#include "api/request.h"
#include "storage/monitor.h"

enum {
  CM_STREAMS_MAX = 1000,
  CM_LISTENERS_MAX = 16,
  CM_PROXIES_MAX = 64,
  CM_PROXY_ACCOUNTS_MAX = 16,
};

typedef struct cm_counters {
  atomic_uint_fast64_t requests[6]; /* by status / 100 */
  atomic_uint_fast64_t uploads, upload_bytes, imports_failed, wrong_tokens;
  atomic_int_fast64_t active, streams;
} cm_counters;

typedef struct cm_place {
  cm_address at;
  socklen_t size;
} cm_place;

/* Each has a daemon of the library's: of several threads of one, libmicrohttpd 0.9.75 now and then aborts the program where
 * they are told to let nobody in any more (MHD_quiesce_daemon races with the threads of a pool). */
enum { CM_LISTENER_THREADS = 2 };

/* A socket that clients come to, with threads of the library of its own. */
typedef struct cm_listener {
  cm_server *server;
  cm_place place;
  int socket;
  bool given, closed; /* opened by the service manager */
  bool tls, beyond;   /* beyond: more than this machine reaches it */
  struct MHD_Daemon *daemon[CM_LISTENER_THREADS];
} cm_listener;

/* A trusted network: its first bits. */
typedef struct cm_proxy {
  unsigned char bytes[16];
  unsigned bits;
} cm_proxy;

struct cm_server {
  cm_server_options options;
  char www[CM_PATH_MAX];
  cm_listener listeners[CM_LISTENERS_MAX];
  size_t listener_count;
  cm_proxy proxies[CM_PROXIES_MAX];
  size_t proxy_count;
  uid_t proxy_accounts[CM_PROXY_ACCOUNTS_MAX]; /* who are trusted when they come by a unix socket */
  size_t proxy_account_count;
  unsigned char proxy_secret[crypto_generichash_BYTES]; /* its hash, which the headers of other proxies need; */
  bool has_proxy_secret;                                /* where there is one */
  bool exposed;             /* others than this machine's users reach it: never open */
  bool secure;              /* browsers come by https */
  char public_host[256];    /* "map.lab.example:8443", by which it is called; "": none */
  char public_origin[270];  /* "https://map.lab.example:8443" */
  char base[200];           /* "/maps", below which it lies there; "": none */
  cm_pool *short_pool, *import_pool;
  cm_subscriptions *subscriptions;
  cm_connections *connections;
  cm_access *access;
  cm_sessions *sessions;
  cm_shown *shown;
  pthread_mutex_t limits_lock;
  cm_server_limits limits; /* under it */
  atomic_bool draining, stopping;
  cm_counters counters;
  cm_durations *latency; /* one for each route */
  double started;
  unsigned char request_key[crypto_shorthash_KEYBYTES];
  atomic_uint_fast64_t request_count;
};

/* ---- server.c ---- */
/* The limits as they are now: a running server can get others. */
cm_server_limits cm_server_limits_now(cm_server *server);

/* ---- listen.c ---- */
/* Fills the listeners, and who would reach them. CM_BAD_OPTION: no sound place; more than this machine's users would,
 * without users, or without TLS or trusted proxies. */
cm_status cm_listen_check(cm_server *server, cm_error *error);
/* Opens the listeners' sockets. CM_CONFLICT: somebody listens there. */
cm_status cm_listen(cm_server *server, cm_error *error);
void cm_listen_close(cm_server *server);
/* Whether who has this address may connect: where there is no TLS beyond the machine, trusted proxies alone. */
bool cm_listen_admits(const cm_listener *listener, const struct sockaddr *address);
void cm_listen_name(const cm_listener *listener, char *name, size_t size);

/* ---- library.c ---- */
/* Whether the library has told the whole head: no text of it ended before its line. `raw` is where it has the target, of which it told
 * `length` bytes. */
bool cm_library_told_all(struct MHD_Connection *connection, const char *raw, size_t length, const char *version);
/* Whether a target, in the library's buffer, is not too long and has not too many arguments; false: it has been refused, and its request is
 * not to be answered. */
bool cm_library_takes_target(struct MHD_Connection *connection, const char *target);
/* Whether a head, and what has come behind the body, leave the library memory to answer; false: it has been refused, in *refused is what the
 * library is to be told. */
bool cm_library_takes_head(struct MHD_Connection *connection, const char *method, const char *target, enum MHD_Result *refused);

/* ---- proxies.c ---- */
#define CM_PROXY_SECRET_HEADER "X-Proxy-Secret"
/* The next item of a list, to one [size]; NULL: there is none, else what follows it. */
const char *cm_list_next(const char *list, char *one, size_t size);
/* Reads the options about proxies. */
cm_status cm_proxies_read(cm_server *server, cm_error *error);
bool cm_proxies_any(const cm_server *server);
/* Whether one who has this address may be a trusted proxy: enough to count his connections, and for no header. */
bool cm_proxies_trust(const cm_server *server, const struct sockaddr *address);
/* Fills who sent the request: the other end of its connection. */
void cm_request_meet(cm_request *request);
/* Whether what a proxy says of the request counts: it comes by a unix socket from an account that is trusted, or with the secret where
 * one is set, which the head has `secrets` times, `secret` the last. */
bool cm_proxies_believe(const cm_request *request, int secrets, const char *secret);
/* It for readers: "10.0.0.7", "unix". */
void cm_request_client(const cm_request *request, char text[CM_CLIENT_MAX]);
/* What proxies say of a request: X-Forwarded-For, all of its lines with commas between, and -Proto. They are taken apart. */
typedef struct cm_forwarded {
  char from[1024], scheme[32];
} cm_forwarded;
/* Finds the client behind a trusted proxy. */
void cm_proxies_take(cm_request *request, cm_forwarded *said);

/* ---- origin.c ---- */
/* Reads public-url and cors-origin. */
cm_status cm_origin_read(cm_server *server, cm_error *error);
/* Whether the request is for this server, and may come from its page; false: 421 or 403 is the reply. */
bool cm_origin_check(cm_request *request, const char *host, const char *origin);
/* A browser asks whether a page of a listed origin may ask: that is answered. */
bool cm_origin_preflight(cm_request *request);

/* ---- tls.c ---- */
/* Reads certificates and key, in PEM; from now on they are shown. CM_BAD_OPTION and errors of reading: nothing changes. */
cm_status cm_tls_load(const char *certificate, const char *key, cm_error *error);
void cm_tls_free(void); /* once no connection is left */
/* The library's callback. */
int cm_tls_show(gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count,
                const gnutls_pk_algorithm_t *algorithms, int algorithm_count, gnutls_pcert_st **chain, unsigned *length,
                gnutls_privkey_t *key);

/* ---- descriptors.c ---- */
/* Files that are kept free for so many workers and all else that is no connection. */
uint64_t cm_descriptors_reserve(unsigned workers);
/* Lowers the connections in `limits` to what the limit of open files leaves beside the reserve. CM_BAD_OPTION: too few
 * for any. */
cm_status cm_descriptors_share(unsigned workers, cm_server_limits *limits, cm_error *error);
/* Open files and how many there may be; O(open files). False: the machine does not tell. */
bool cm_descriptors_count(uint64_t *open, uint64_t *most);

/* ---- access.c ---- */
cm_status cm_access_start(cm_access **access, cm_error *error);
void cm_access_free(cm_access *access); /* NULL is allowed */
/* Finds out who asks and whether the route's right is his; false: the reply (401, 403, 429) is set, to be held back for
 * request->delay seconds. */
bool cm_access_take(cm_request *request);
/* The same for a request that has waited: rights may have changed meanwhile. */
bool cm_access_again(cm_request *request);
/* Finds out who a token is; false: the reply is set, as above. */
bool cm_access_check(cm_request *request, const char *token);
/* Whether what the route names is there for the caller, and his to change where the route does so; false: the reply (404,
 * 403) is set. */
bool cm_access_object(cm_request *request);
/* Whether the caller sees this thing; false: 404, with where it was named, is the reply. */
bool cm_access_sees(cm_request *request, cm_object object, const char *id, const char *where);
/* The same of a thing that the caller did not name and whose id the 404 keeps to itself: `what` says which it is, *owner whose. */
bool cm_access_sees_behind(cm_request *request, cm_object object, const char *id, const char *what, cm_owner *owner);
/* Whose something is that the caller makes; `visibility` as he said, NULL: as the server's settings say. False: 400 is the
 * reply. */
bool cm_access_owner(cm_request *request, const char *visibility, cm_owner *owner);
/* The same with the member "visibility" of a body. */
bool cm_access_owner_of(cm_request *request, const json_t *object, cm_owner *owner);
/* Makes that as narrow as a source of the thing; false: the body asked for more (400). */
bool cm_access_derive(cm_request *request, const json_t *object, const cm_owner *source, cm_owner *owner);
/* Adds members "user" and "visibility" (and "group" where one sees it). */
void cm_owner_add(json_t *body, const cm_owner *owner);
/* The held back reply is sent now. */
void cm_access_delay_over(cm_request *request);
/* Whether the caller has this right too; false: 403 is the reply. */
bool cm_access_has(cm_request *request, cm_right right);

/* The scope and the role that a right asks for, words that live as long as the program; NULL: none, any. */
void cm_right_asks(cm_right right, const char **scope, const char **role);
/* Notes a change that was refused to somebody who is known, for the audit trail. */
void cm_access_note_refused(cm_request *request);
/* Writes down which tokens have been used, and what was refused; to be called now and then. */
cm_status cm_access_write_uses(cm_access *access, cm_store *store, cm_error *error);

/* ---- session_store.c ---- */
#define CM_SESSION_COOKIE "coremap_session"
enum { CM_SESSION_SECRET_MAX = 44, CM_SESSION_SECONDS = 7 * 86400 };

cm_status cm_sessions_start(cm_sessions **sessions, cm_error *error);
void cm_sessions_free(cm_sessions *sessions); /* NULL is allowed */
/* The id of the token that the request's cookie stands for; false: it has no cookie that is good. */
bool cm_session_token(const cm_request *request, char token[CM_TOKEN_ID_MAX]);

/* Makes a session for who asks; `secret` is its cookie. False: no memory. */
bool cm_session_begin(cm_sessions *sessions, const cm_identity *who, char secret[CM_SESSION_SECRET_MAX]);

/* Ends the session of a request's cookie, if there is one. */
void cm_session_end(const cm_request *request);

/* ---- connections.c ---- */
/* A client's address as a key: an IPv4 address, or the network of an IPv6 address, of which one has 2^64. */
void cm_address_key(const struct sockaddr *address, unsigned char key[CM_ADDRESS_KEY]);
/* What the server waits for: the first or the next request, the rest of its head, its body, its own work, or that the
 * client reads the reply. */
typedef enum cm_step { CM_STEP_REST, CM_STEP_HEAD, CM_STEP_BODY, CM_STEP_WORK, CM_STEP_REPLY } cm_step;
typedef struct cm_connection_counts {
  uint64_t open, refused, evicted, timed_out;
} cm_connection_counts;
cm_status cm_connections_start(cm_server *server, cm_connections **connections, cm_error *error);
void cm_connections_stop(cm_connections *connections); /* no deadlines from now on */
void cm_connections_free(cm_connections *connections); /* once no connection is left; NULL is allowed */
void cm_connections_count(cm_connections *connections, cm_connection_counts *counts);
/* Other limits for what begins from now on. */
void cm_connections_limit(cm_connections *connections, const cm_server_limits *limits);
/* The library's callbacks: whether a connection may come to a listener; that it has begun or ended. */
enum MHD_Result cm_connections_accept(void *listener, const struct sockaddr *address, socklen_t size);
void cm_connections_note(void *server, struct MHD_Connection *handle, void **slot,
                         enum MHD_ConnectionNotificationCode code);
/* A connection's request has come so far at `now` (cm_now); its time begins anew. */
void cm_connections_step(cm_connections *connections, struct MHD_Connection *handle, cm_step step, double now);
/* What a connection keeps from one request to the next; NULL: it has no entry. */
cm_kept *cm_connections_kept(struct MHD_Connection *handle);
/* So many bytes of a body have come, which the kernel does not count for unix sockets. */
void cm_connections_took(struct MHD_Connection *handle, size_t bytes);

/* ---- kept.c ---- */

/* A time as RFC 9110 writes it in the header Date; false: it has no such form. */
enum { CM_HTTP_DATE_MAX = 32 };
bool cm_http_date(time_t when, char text[CM_HTTP_DATE_MAX]);

/* A connection's requests come one after the other, so the memory of one, and a reply that is the same each time, serve the next. */
struct cm_kept {
  cm_request *request;         /* NULL: none is kept */
  struct MHD_Response *reply;  /* NULL: none is kept */
  const char *body;            /* of the reply, by which it is known; of a shown job: NULL, and by its copy */
  uint64_t copy;               /* 0: of none */
  char id[CM_REQUEST_ID_MAX];  /* X-Request-Id that it carries; "": none */
  time_t second;               /* of its Date */
};

/* A request of zeros; NULL: no memory. Given back by cm_kept_return once its reply is over. */
cm_request *cm_kept_lend(struct MHD_Connection *handle);
void cm_kept_return(struct MHD_Connection *handle, cm_request *request);

/* Whether the connection keeps the reply with a copy of a shown job, for requests like this. */
bool cm_kept_has(const cm_request *request, uint64_t copy);

/* Takes the connection's reply with this body for the request, or makes it; true: it is the request's, and a copy the connection's; a copy
 * that memory lacked for is gone, with no reply. The request's own reply must be none yet. */
bool cm_kept_take(cm_request *request, const cm_same *same);

/* ---- kept_reply.c ---- */
/* Makes a connection's kept reply anew; false: no memory, and there is none. */
bool cm_kept_make(cm_kept *kept, const cm_request *request, const cm_same *same);

/* Before a kept reply is sent: it gets the request's id, and the time. False: it was spoilt for want of memory, and is gone. */
bool cm_kept_name(cm_request *request);

/* Gives up a request's hold of a reply, which may be a kept one. */
void cm_kept_release(cm_request *request);

/* The connection has ended. */
void cm_kept_clear(cm_kept *kept);

/* ---- library.c ---- */
/* MHD_queue_response for replies of ours. */
enum MHD_Result cm_library_queue(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response);

/* ---- log.c ---- */
/* Gives a request its id. */
void cm_request_name(cm_request *request);
/* The same with the one that a trusted proxy gave it; one that is no word of at most 63 letters, digits, "-", "_" and "." counts for
 * nothing. */
void cm_request_rename(cm_request *request, const char *id);
/* Its line of the log; `whole`: the reply has been sent to its end. */
void cm_request_log(const cm_request *request, bool whole, double now);

/* ---- head.c ---- */
/* Checks the head, splits the path and finds the route; a reply that is set then refuses the request. */
void cm_head_take(cm_request *request, const char *method, const char *version);

/* ---- body.c ---- */
/* A body of so many bytes is accepted by the request's route; false: 413 is the reply. */
bool cm_body_fits(cm_request *request, uint64_t bytes);
/* Makes room for a body that goes to a file; a reply that is set refuses it. */
void cm_body_open(cm_request *request);
/* Takes a piece; false: the client is too slow or sends on after a refusal, and the connection must be closed. */
bool cm_body_take(cm_request *request, const char *data, size_t size);
/* Closes a file that has arrived whole and notes its hash; a reply that is set refuses it. */
void cm_body_end(cm_request *request);
/* Closes and removes what has arrived of a file; harmless when there is none. */
void cm_body_drop(cm_request *request);

/* ---- gzip.c ---- */
/* Whether files of a media type are packed for those who ask. */
bool cm_gzip_packs(const char *type);
/* Whether this request's reply, a file of so many bytes, is to be packed. */
bool cm_gzip_wanted(const cm_request *request, const char *type, uint64_t bytes);
/* A response that packs a file while it is sent, adding what it makes to *sent, and closes it in the end; NULL: no memory, and the file is open. */
struct MHD_Response *cm_gzip_response(int file, uint64_t *sent);

/* ---- pool.c ---- */
/* Threads that do `work` with what is queued; it may block. */
cm_status cm_pool_start(unsigned threads, cm_handler work, cm_pool **pool, cm_error *error);
/* Queues a request whose connection is suspended; false: too many wait, or the pool has stopped. */
bool cm_pool_add(cm_pool *pool, cm_request *request);
/* The same for a request that must be worked on: where the pool does not take it, in the caller's thread. */
void cm_pool_give(cm_pool *pool, cm_request *request);
/* Runs what is queued to the end and stops the threads; nothing is taken any more. */
void cm_pool_stop(cm_pool *pool);
void cm_pool_free(cm_pool *pool); /* stops it first; NULL is allowed */

/* ---- shown.c: jobs that have ended, as they were shown last ---- */
cm_status cm_shown_start(cm_shown **all, cm_error *error);
void cm_shown_free(cm_shown *all); /* NULL is allowed */
/* Whose a job is; false: that is not known here. */
bool cm_shown_owner(cm_request *request, const char *id, cm_owner *owner);
/* A copy of its text, which the caller frees, NULL where the connection keeps it; false: there is none. */
bool cm_shown_copy(cm_request *request, const char *id, cm_same *same);
/* Keeps a copy; `version` of CM_WATCHED_ENDED from before the job was read. */
void cm_shown_keep(cm_request *request, const cm_job *job, uint64_t version, const char *tag, const char *text, size_t size);

/* ---- subscriptions.c: who waits for jobs to change ---- */
cm_status cm_subscriptions_start(cm_server *server, cm_subscriptions **subscriptions, cm_error *error);
void cm_subscriptions_stop(cm_subscriptions *subscriptions);   /* wakes all for good */
void cm_subscriptions_free(cm_subscriptions *subscriptions);
/* Lets a long poll sleep until its job's newest event differs from wait_seen, or wait_until. The request belongs to
 * the subscriptions from this call on. */
void cm_subscriptions_wait(cm_subscriptions *subscriptions, cm_request *request);
/* Answers a request with the reply that is set, after its delay. Its connection is suspended. */
void cm_subscriptions_delay(cm_subscriptions *subscriptions, cm_request *request);
/* The event bus's listener. */
void cm_subscriptions_changed(void *subscriptions, const char *job);
/* Makes the reply of an event stream for a job. `first` is text to send at once (taken); `ended`: and no more. */
typedef struct cm_subscription {
  const char *name;      /* of a job, or a feed */
  bool feed, until_idle; /* until_idle: of a feed, which ends when no job of its user goes on */
  bool over;             /* nothing comes after what it begins with */
  uint64_t after;        /* only what comes after this event */
} cm_subscription;
void cm_subscriptions_stream(cm_request *request, const cm_subscription *to, char *first);
