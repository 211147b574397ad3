/* coremap: what the library knows, as tables: for forms, help, completion and interfaces of one's own. */
#ifndef COREMAP_TABLES_H
#define COREMAP_TABLES_H

#include <coremap/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A table by its name, in the order in which people are shown it; *json is a text, the caller's (coremap_text_free):
 *   "formats"    of networks: [{"name", "about", "endings"}], of file names
 *   "parameters" of neurons: [{"name", "unit", "about"}]
 *   "reading"    options for reading networks: [{"name", "form", "about", "file"}]; "file": it names a file beside the network
 *   "exports"    of mappings: [{"name", "what", "file", "media"}], the file name and media type that suit each
 *   "layers"     of pictures: [name]
 *   "targets"    that C is emitted for: [{"name", "about", "compiler"}]
 *   "metrics"    of mappings: a JSON schema, with "x-unit" and "x-better"
 *   "operators"  of models: [{"name", "since", "until", "types", "second", "cut", "permutations"}]; the opsets (no "until": it
 *                still holds), the types of its inputs for people (of the second and further ones where they differ), along what it
 *                may be cut, whether permutations pass it
 *   "map", "partition", "place", "compile", "simulate", "schedule", "train"
 *                options: [{"name", "form", "about", "was"}]; "form" is of the value: "low|high", "N", "X", "BYTES", "ID",
 *                "true|false"; "was" (not of all): the name in the version before, which is read for one version more
 * O(size of the table). Errors: not-found (names the tables), no-memory. */
int coremap_table(const char *name, char **json, coremap_error **error);

/* The JSON schema of an object of options ("map", "compile", "simulate", "schedule"): types, words, ranges, defaults, help.
 * *json is the caller's. Errors: not-found, no-memory. */
int coremap_options_schema(const char *kind, char **json, coremap_error **error);

/* Reads options of a kind: those of a schema, or "read", of coremap_network_read; `options` is a JSON object or NULL. *all
 * (NULL: not asked) is {name: value} with what is not given as it then is; *shaping (NULL: not asked) has those alone that can
 * change a result, in the order of their names: equal texts, equal results of equal inputs. Both are the caller's. Errors:
 * bad-option with the name as a JSON pointer, not-found (no such kind), no-memory. */
int coremap_options_read(const char *kind, const char *options, char **all, char **shaping, coremap_error **error);

#ifdef __cplusplus
}
#endif

#endif
