/* Options of jobs as tables: a row a name, with its kind, range, unless-given and help. Reading, printing, messages, the
 * command line's flags and the HTTP interface's schemas all follow from the rows. */
#pragma once

#include <jansson.h>

#include "base/status.h"

enum { CM_OPTION_FORM_MAX = 192, CM_OPTION_WORDS_MAX = 8 };

/* As the most of a whole number: all that JSON holds, up to 2^63 - 1, which no double is. */
#define CM_OPTION_WHOLE_MOST 9223372036854775808.0

/* What a value is, and the type of the field that it goes to. */
typedef enum cm_option_kind {
  CM_OPTION_WORD,       /* uint32_t: one of `words`, the first is number `least` */
  CM_OPTION_EITHER,     /* bool: the second of two words */
  CM_OPTION_FLAG,       /* bool: true or false */
  CM_OPTION_COUNT,      /* uint32_t */
  CM_OPTION_LONG_COUNT, /* uint64_t; unless given -1: UINT64_MAX */
  CM_OPTION_BYTES,      /* uint64_t: a number, or text like "2G" */
  CM_OPTION_REAL,       /* double */
  CM_OPTION_POSITIVE,   /* double above 0 */
  CM_OPTION_NAME,       /* char [most]: an id, letters, digits, '-' and '_', or "": none */
  CM_OPTION_OWN         /* what `own` reads */
} cm_option_kind;

/* Which of parts and places an option of a mapping shapes; WHOLE: where both are made together. */
typedef enum cm_option_shapes {
  CM_SHAPES_BOTH,
  CM_SHAPES_PARTS,
  CM_SHAPES_PLACES,
  CM_SHAPES_WHOLE
} cm_option_shapes;

/* An option whose values have a form of their own. */
typedef struct cm_option_own {
  const char *form; /* for the command line: "NAME=DIMS" */
  cm_status (*read)(const char *name, const json_t *value, void *field, cm_error *error); /* CM_BAD_OPTION */
  json_t *(*schema)(void); /* JSON schema of its values, a new reference; NULL: no memory */
} cm_option_own;

typedef struct cm_option {
  const char *name;
  cm_option_kind kind;
  size_t offset;              /* of the field in the struct of options */
  double least, most, normal; /* range, and what it is unless given */
  const char *words[CM_OPTION_WORDS_MAX + 1]; /* NULL after the last */
  const char *reason;         /* why other words are refused, or NULL */
  bool same_result;           /* changes time or memory, never the result */
  cm_option_shapes shapes;
  const char *about;
  const cm_option_own *own;
  const char *was;                                /* its name in the version before, which is read too; NULL: the same */
  const char *words_were[CM_OPTION_WORDS_MAX];    /* the same of each word */
} cm_option;

enum { CM_OPTION_RULE_MAX = 3 };

/* What does not go together: options that all have one of these values (words with spaces between; NULL: they are given, and mean
 * something), and facts of what they are for, bits that all hold. The rows of a table are tried in order. */
typedef struct cm_option_rule {
  const char *at; /* the option that is refused; NULL ends the rows */
  struct {
    const char *option, *values;
  } when[CM_OPTION_RULE_MAX];
  unsigned facts;
  const char *words; /* what is wrong, and what would be right; {NAME} stands for an option's value, or for what is told of the facts */
} cm_option_rule;

typedef struct cm_options {
  const cm_option *option;
  size_t count;
  const char *of; /* whose they are, for a message: "a compile job" */
  const cm_option_rule *rules; /* NULL: there are none */
} cm_options;

/* What the command line shows of an option. */
typedef struct cm_option_about {
  const char *name, *about;
  const char *was; /* its name in the version before, or NULL */
  char form[CM_OPTION_FORM_MAX]; /* of its value: "low|high", "N", "X", "BYTES", "ID"; "true|false" for what is or is not */
  bool partitions, places;       /* it shapes parts where these are made alone, or places where these are */
} cm_option_about;

/* Sets every field that a table names to what it is unless given; fields of kind OWN stay as they are. */
void cm_options_default(const cm_options *table, void *fields);

/* Refuses fields that a rule does which is about some of these facts, or, without any, about options alone: CM_BAD_OPTION at /options/NAME. `told` is what words say of the facts
 * ({NAME: text}; NULL: nothing). */
cm_status cm_options_check(const cm_options *table, const void *fields, unsigned facts, const json_t *told, cm_error *error);

/* Reads `object` ({NAME: value, ...}; NULL: nothing given) into the fields, which hold their defaults; names of the version
 * before serve as well. Errors: CM_BAD_OPTION at /options/NAME of what is unknown, out of range or given by both names, and what
 * would be right; the fields are then undefined. */
cm_status cm_options_read(const cm_options *table, const json_t *object, void *fields, cm_error *error);

/* Gives names and words of the version before in `object` (NULL: nothing given) those that they have now, and adds a sentence
 * for each to `told`, an array (NULL: not asked). Errors: CM_BAD_OPTION at /options/NAME of what is given by both names. */
cm_status cm_options_rename(const cm_options *table, json_t *object, json_t *told, cm_error *error);

/* {NAME: value, ...} of the fields, but for kind OWN; with `shaping`, of what can change a result alone. A new
 * reference; NULL: no memory. */
json_t *cm_options_json(const cm_options *table, const void *fields, bool shaping);

/* What there is to say of option `number`, in the order of the table; false: there are no more. */
bool cm_option_about_at(const cm_options *table, size_t number, cm_option_about *about);

/* The JSON schema of an object of these options: types, words, ranges, defaults and help; and with the rules without facts, as what it
 * does not match. New references; NULL: no memory. */
json_t *cm_options_schema(const cm_options *table);
json_t *cm_options_schema_ruled(const cm_options *table);

/* The row of this name, or NULL. */
const cm_option *cm_option_find(const cm_options *table, const char *name);

/* Refuses the value of an option, at /options/NAME: CM_BAD_OPTION. */
cm_status cm_option_refuse(cm_error *error, const char *name, const char *expected);
