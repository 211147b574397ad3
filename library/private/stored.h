/* What the server keeps in its data folder (docs/data-folder.md): networks as it stored them, and for each mapping a folder with a file
 * for every view. Names and contents of these files are its own, and change with it: a program outside keeps a mapping as one file
 * (coremap_mapping_write, coremap_mapping_open), so none of this is public. */
#ifndef LIBRARY_PRIVATE_STORED_H
#define LIBRARY_PRIVATE_STORED_H

#include <coremap/map.h>

/* Reads a network as the server stored it. Errors: bad-network (the file is damaged), no-memory, io, those of the run. */
int library_network_load(const char *path, coremap_progress progress, void *user, coremap_network **network, coremap_error **error);

/* Views that few ask for: a mapping's folder may lack them until somebody does. NULL after the last. */
extern const char *const library_late_views[];

/* Makes such a view in a folder that lacks it, with the bytes that the job would have written; with one of routes all three.
 * `network` is the path of the mapping's network as stored. Errors: conflict (the folder is of a release that kept no occupancy),
 * bad-mapping, damaged, no-memory, disk-full, io, those of the run. */
int library_view_make(const char *folder, const char *view, const char *network, coremap_progress progress, void *user,
                      coremap_error **error);

#endif
