/* coremap: routes of a mapping that cannot deadlock, and their routing tables. */
#ifndef COREMAP_ROUTES_H
#define COREMAP_ROUTES_H

#include <coremap/map.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coremap_routes coremap_routes;

/* Makes the routes that the mapping's options ask for, or its chip; they hold the mapping. Time: docs/explanation/routes.md. Errors:
 * no-route (names what dead links cut off), limit-broken (a table that does not fit), memory-limit, cancelled, no-memory. */
int coremap_routes_make(const coremap_mapping *mapping, coremap_progress progress, void *user, coremap_routes **routes, coremap_error **error);

/* Tables or paths as "json" or "csv", or the loads of links as "bin" (docs/explanation/routes.md). Errors: bad-option, disk-full, io,
 * no-memory. */
int coremap_routes_write(const coremap_routes *routes, const char *as, const char *path, coremap_progress progress, void *user,
                         coremap_error **error);

/* Figures as JSON that is the caller's: "routing", "model", "flows", "links", "link_load_max", "tables", ..., and "fullest", the
 * router with most entries in words. */
int coremap_routes_about(const coremap_routes *routes, char **json, coremap_error **error);

void coremap_routes_free(coremap_routes *routes); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
