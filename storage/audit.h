/* The audit trail: who changed what, in the transaction that changed it. It is only ever added to (triggers refuse the rest).
 *
 * Who serves a request names its cause; the first write of this thread that is committed then carries the entry, and each later one
 * that tells an effect of its own carries another. */
#pragma once

#include "storage/store.h"

enum { CM_AUDIT_EFFECT_MAX = 400 };

typedef struct cm_audit_entry {
  int64_t sequence;
  double at;
  char user[CM_USER_MAX];   /* "": nobody, where there are no users */
  char address[64];         /* of the client; "local": a command on the machine */
  char action[48];          /* operationId, or the words of a command */
  char object[200];         /* the path that was asked for, or what the command names */
  char request[64];         /* id of the request; "": a command */
  char effect[CM_AUDIT_EFFECT_MAX]; /* ids that were made, old and new values; or why nothing was changed */
} cm_audit_entry;

/* From now on writes of this thread are caused by this (of `at` and `sequence` nothing is read); NULL: by nobody. It must outlast
 * them. */
void cm_audit_cause(const cm_audit_entry *entry);

/* For the database: the cause of this thread, NULL: none, and whether a write has carried it; that one has. */
const cm_audit_entry *cm_audit_due(bool *carried);
void cm_audit_done(void);
/* Inside write closures: adds to what the write does, which its entry tells; told anew for each. */
void cm_audit_effect(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cm_audit_forget_effect(void);
bool cm_audit_has_effect(void);
cm_status cm_audit_note_in(sqlite3 *handle, const cm_audit_entry *entry, cm_error *error);

/* Entries of what has changed nothing in the database: refusals, a backup. */
cm_status cm_audit_note(cm_database *database, const cm_audit_entry *entries, size_t count, cm_error *error);

/* A write that only carries this thread's cause, with an effect that is none on the database. */
cm_status cm_audit_tell(cm_database *database, const char *effect, cm_error *error);

typedef struct cm_audit_filter {
  const char *user, *action; /* NULL: any */
  const char *object;        /* NULL: any; a path stands for all below it too */
  double since, until;       /* seconds since 1970; 0: open */
  int64_t before;            /* only sequences below; 0: from the newest */
  size_t limit;
} cm_audit_filter;

/* Newest first; the caller frees with free(). */
cm_status cm_audit_list(cm_store *store, const cm_audit_filter *filter, cm_audit_entry **entries, size_t *count, cm_error *error);
