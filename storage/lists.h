/* Lists of jobs, sweeps, mappings, programs and networks: pages of what a viewer sees, filtered, sorted and counted. What each list has
 * stands in lists.def; jobs.h and networks.h have what else their rows are. */
#pragma once

#include "storage/labels.h"

typedef enum cm_list { CM_LIST_JOBS, CM_LIST_SWEEPS, CM_LIST_MAPPINGS, CM_LIST_PROGRAMS, CM_LIST_NETWORKS, CM_LISTS } cm_list;

typedef enum cm_field_kind {
  CM_FIELD_WORD,   /* a text, whole */
  CM_FIELD_PART,   /* a text, of which a part is given, upper or lower case */
  CM_FIELD_COUNT,  /* a whole number, from here to there */
  CM_FIELD_REAL,   /* a number, from here to there */
  CM_FIELD_TRUTH,
  CM_FIELD_TIME,   /* seconds since 1970, from here to there */
  CM_FIELD_LABELS,
} cm_field_kind;

/* What a list has of a field. */
typedef enum cm_listed {
  CM_LISTED_NOT,
  CM_LISTED_KNOWN, /* it is filtered and sorted by it; its rows show it by themselves */
  CM_LISTED_SHOWN, /* and its rows show it by the table */
} cm_listed;

typedef struct cm_field {
  const char *name;
  cm_field_kind kind;
  cm_listed in[CM_LISTS];
  const char *index; /* NULL: none */
  const char *value; /* SQL; NULL: it is not shown */
  const char *condition; /* NULL: that value is what is given */
  const char *about;
} cm_field;

extern const cm_field cm_fields[];
extern const size_t cm_field_count;

/* The field of this name in a list, or NULL. */
const cm_field *cm_field_of(cm_list list, const char *name);

/* "mappings", as the path and the reply's member have it. */
const char *cm_list_name(cm_list list);

/* A field is this text (of labels what must stand in them), or from low to high. */
typedef struct cm_list_condition {
  const cm_field *field;
  const char *text;
  double low, high;
} cm_list_condition;

/* What a row has in a field. */
typedef enum cm_cell_kind { CM_CELL_NONE, CM_CELL_WHOLE, CM_CELL_REAL, CM_CELL_TEXT } cm_cell_kind;
typedef struct cm_cell {
  cm_cell_kind kind;
  int64_t whole;
  double real;
  char *text; /* owned */
} cm_cell;

enum { CM_CONDITIONS_MAX = 48 };

typedef struct cm_list_query {
  cm_list list;
  const cm_viewer *viewer; /* NULL: sees all */
  cm_list_condition conditions[CM_CONDITIONS_MAX];
  size_t count;
  const char *ids;         /* only these, a JSON array; NULL: any */
  const cm_field *sort;    /* NULL: by arrival; rows without a value come last, of equal ones the newest first */
  bool rising;             /* the smallest, or oldest, first */
  int64_t after;           /* only what comes after the row of this sequence; 0: from the first */
  cm_cell at;              /* and that one's value of `sort`, which is borrowed */
  size_t limit;
  bool total;              /* count them all: O(rows of the table) */
} cm_list_query;

typedef struct cm_list_row {
  int64_t sequence;  /* order of arrival */
  char id[CM_SHA_MAX];
  cm_owner owner;    /* as the viewer sees it */
  cm_cell *cells;    /* [cm_field_count], in the order of the table: of those that are shown */
  cm_cell at;        /* its value of `sort` */
} cm_list_row;

typedef struct cm_list_page {
  cm_list_row *rows;
  size_t count;
  bool more;       /* there are others after them */
  int64_t total;   /* of all pages, when that was asked for */
} cm_list_page;

/* What a row has in a field of this name, which its list shows. */
const cm_cell *cm_list_cell(cm_list list, const cm_list_row *row, const char *name);

/* A page of a list; the caller clears it, also after a failure. O(limit) by arrival without conditions; else O(rows of the table), of jobs by an
 * index that has all that is asked for. */
cm_status cm_lists_read(cm_store *store, const cm_list_query *query, cm_list_page *page, cm_error *error);
cm_status cm_lists_read_in(sqlite3 *handle, const cm_list_query *query, cm_list_page *page, cm_error *error);
void cm_list_page_clear(cm_list_page *page);
