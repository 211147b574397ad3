/* Tables of edges, a line a row: lines, fields, and which column is what. What the files of their reader share. */
#pragma once

#include "core/network/names.h"
#include "core/network/formats/entries.h"
#include "core/network/formats/source.h"
#include "core/network/import_limits.h"

enum { CM_FIELD_SHOWN_MAX = 40, CM_COLUMN_NONE = -1 };

typedef struct cm_field {
  const char *text;
  size_t length;
} cm_field;

/* What a column is for. */
typedef enum cm_column_id { CM_COLUMN_SOURCE, CM_COLUMN_TARGET, CM_COLUMN_WEIGHT, CM_COLUMN_DELAY, CM_COLUMNS } cm_column_id;

/* Which field of a row each is; CM_COLUMN_NONE: there is none. `count` fields a row; 0: not known yet. */
typedef struct cm_columns {
  int at[CM_COLUMNS];
  size_t rate; /* of the source's axon, plus 1; 0: there is none */
  size_t type; /* "Directed", "Undirected", "Mutual", as Gephi writes it; the same */
  size_t count;
} cm_columns;

typedef struct cm_table {
  cm_source *source;
  const char *what; /* of messages; NULL: an edge list */
  const cm_import_limits *limits;
  cm_run *run;
  cm_memory *memory;
  cm_names names;
  uint64_t line;
  char separator;   /* ' ' stands for runs of blanks; 0: not known yet */
  bool connections; /* a list of PyNN: without a header, delays may be the fourth column */
  bool tuples;      /* "[(0, 1), (1, 2)]": a row is what stands between brackets */
  bool named;       /* columns are known from a header, a comment or the caller */
  bool lines_alike; /* rows between blanks have names in them for certain, not prose */
  cm_field dictionary; /* of Python, which ends the row under way: "{'weight': 2}"; empty: none */
  bool any_directed, any_undirected; /* rows of these types */
  bool undirected;  /* edges are of a graph, and stand there both ways */
  cm_columns columns;
  char *unquoted;   /* scratch for fields with doubled quotes */
  cm_field *fields; /* of the row under way */
  char *gathered;   /* a line that is longer than the source's window */
  uint64_t unquoted_room, fields_room, gathered_room;
  size_t field_count;
  cm_entries edges;
  double *rate;     /* of each name; NAN: not said. NULL: no column says rates */
  uint64_t rate_room;
  uint64_t head_line; /* of a first edge from a number to itself that occurs in no other edge; 0: none */
} cm_table;

/* ---- lines (table_lines.c) ---- */

/* CM_BAD_NETWORK with the line. */
cm_status cm_table_bad(const cm_table *t, const char *what, cm_error *error);

/* The next line without its end; *end at the end of the file. Valid until the next call. */
cm_status cm_table_next_line(cm_table *t, const char **line, size_t *length, bool *end, cm_error *error);

/* Sets the separator from a line: a tab before a comma before a semicolon, outside quotes; else blanks. */
void cm_table_find_separator(cm_table *t, const char *line, size_t length);

/* Divides a line into t->fields, which lie in it or in t->unquoted. */
cm_status cm_table_split(cm_table *t, const char *line, size_t length, cm_error *error);

/* ---- columns (table_columns.c) ---- */

/* Which of the words of a column a text is, the first being the commonest; -1: none. */
int cm_column_word(const char *text, size_t length, cm_column_id id);

/* What a text says of an edge's direction. */
typedef enum cm_edge_type { CM_EDGE_DIRECTED, CM_EDGE_UNDIRECTED, CM_EDGE_MUTUAL, CM_EDGE_TYPES } cm_edge_type;
cm_edge_type cm_edge_type_of(const cm_field *field);

/* Which column of a table of rates a word names; CM_RATE_COLUMNS: none. */
typedef enum cm_rate_column_id { CM_RATE_NAME, CM_RATE_VALUE, CM_RATE_COLUMNS } cm_rate_column_id;
cm_rate_column_id cm_rate_column(const cm_field *field);

/* Digits alone, at most 19, no leading zero. */
bool cm_field_whole(const char *text, size_t length, uint64_t *value);

/* What a name is: digits alone (as above); a number that is exactly whole and was written with a point or an exponent, up to 2^53;
 * one of these beyond, whose last digits are lost; one that is not whole; or none of these. */
typedef enum cm_id_kind { CM_ID_WHOLE, CM_ID_FLOAT, CM_ID_FRACTION, CM_ID_LOST, CM_ID_NAME } cm_id_kind;
cm_id_kind cm_field_id(const char *text, size_t length, uint64_t *value);

/* Any number as strtod knows it, infinities and NaN included. */
bool cm_field_number(const cm_field *field, double *value);

/* Bytes of a field that are shown in messages. */
int cm_field_shown(const cm_field *f);

/* Columns by the words of a row; false: it names no source and target. `certain`: it is a header, of whatever words. */
bool cm_columns_of_header(const cm_field *fields, size_t count, bool certain, cm_columns *columns);

/* Columns by a comment of PyNN, "# columns = ['i', 'j', 'weight', 'delay']"; false: it says none. */
bool cm_columns_of_comment(const char *line, size_t length, cm_columns *columns);

/* Columns as a caller names them, "source,target,-,weight"; CM_BAD_OPTION. */
cm_status cm_columns_of_option(const char *said, cm_columns *columns, cm_error *error);

/* ---- rows and values (table_rows.c) ---- */

/* The next line that is neither blank nor a comment, divided; a comment of PyNN names the columns. */
cm_status cm_table_next_row(cm_table *t, const char **line, size_t *length, bool *end, cm_error *error);

/* Takes the edge of a row that has been divided. */
cm_status cm_table_take_row(cm_table *t, cm_error *error);

/* The number of the vertex that a field names. */
cm_status cm_table_name(cm_table *t, const cm_field *field, const char *what, uint32_t *number, cm_error *error);

/* A finite number. */
cm_status cm_table_number(const cm_table *t, const cm_field *field, const char *what, double *value, cm_error *error);

/* ---- tables of neurons (table_neurons.c) ---- */

/* Numbers the names of a network, where it has some. CM_BAD_NETWORK: two neurons have the same one. */
cm_status cm_table_name_all(cm_table *t, const cm_topology *network, cm_error *error);

/* The next line that is neither empty nor a comment, divided into t->fields. */
cm_status cm_table_next_plain_row(cm_table *t, bool *end, cm_error *error);

/* The vertex that a field names, by its number where the network has no names. */
cm_status cm_table_vertex(cm_table *t, const cm_topology *network, const cm_field *name, uint32_t *vertex, cm_error *error);

/* CM_BAD_NETWORK with the line: `what`, the field, `more`. */
cm_status cm_table_bad_name(const cm_table *t, const char *what, const cm_field *name, const char *more, cm_error *error);

/* Frees what reading lines took. */
void cm_table_free(cm_table *t);

/* ---- the beginning (table_begin.c) ---- */

struct cm_survey;

/* Reads the first rows, up to the first edge, of a table of that shape; *done: there are no more. */
cm_status cm_table_read_first(cm_table *t, const struct cm_survey *survey, bool *done, cm_error *error);

/* ---- the topology ---- */

/* Makes the topology of the names and edges (table_order.c). Where every name is a whole number, vertices go in order of these
 * numbers, else in that of their first appearance. */
cm_status cm_table_close(cm_table *t, cm_topology *made, cm_error *error);
