/* coremap: training a policy of mapper learned. */
#ifndef COREMAP_TRAIN_H
#define COREMAP_TRAIN_H

#include <coremap/run.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COREMAP_POLICY_LAYERS_MAX 8
#define COREMAP_POLICY_WIDTH_MAX 512

/* Told what happens, a line of English at a time. */
typedef void (*coremap_lines)(void *user, const char *line);

/* Trains a policy (docs/explanation/learned-mapper.md) and writes it to `path`. `options` is a JSON object (the table "train" of
 * coremap_table) with at least "chips": grids WxH, presets or files, with commas between; beside it "graphs", a folder of
 * networks; "seed", a whole number; "from", a policy to begin with; "checkpoint", a file that is written every so many updates
 * and from which a later call goes on; "curves": [paths of the learning curve, .csv or .svg]. `line` (or NULL) is told of each
 * update that is tried on held-out graphs. *card (NULL: not asked) is the caller's: what the policy says of itself, as JSON.
 * Same input, options and seed: same bytes. Errors: bad-option, those of chips and networks, too-large, damaged and conflict
 * (the checkpoint), cancelled, no-memory, disk-full, io. */
int coremap_train(const char *options, const char *path, coremap_lines line, void *line_user, coremap_progress progress, void *user,
                  char **card, coremap_error **error);

#ifdef __cplusplus
}
#endif

#endif
