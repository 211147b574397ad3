/* Whose things are, and who sees them (docs/how-to/users.md). Everything that users make has an owner and a visibility; a group
 * sees what its members have shown it while the thing was theirs to show. What one may not see is not there. */
#pragma once

#include "storage/store.h"

/* The zero value is what things had before there were users. */
typedef enum cm_visibility { CM_VISIBLE_LAB, CM_VISIBLE_GROUP, CM_VISIBLE_PRIVATE, CM_VISIBILITIES } cm_visibility;

/* "lab", "group", "private" and back (CM_VISIBILITIES: unknown). */
const char *cm_visibility_name(cm_visibility visibility);
cm_visibility cm_visibility_of(const char *name);

typedef struct cm_owner {
  char user[CM_USER_MAX];   /* "": nobody */
  char group[CM_USER_MAX];  /* that sees it, of CM_VISIBLE_GROUP */
  cm_visibility visibility;
} cm_owner;

/* Who looks. NULL in place of a viewer sees all, as the server itself does. */
typedef struct cm_viewer {
  const char *user, *group;
  bool all; /* sees and changes everything */
} cm_viewer;

/* The condition that a viewer sees a row of the table `t`; its values are bound to the three parameters by
 * CM_VIEWER_VALUES, of types "itt". */
#define CM_VIEWER_SEES(t, all, user, group) \
  "(" all " OR " t ".visibility = 'lab' OR " t ".user = " user \
  " OR (" t ".visibility = 'group' AND " t ".team = " group " AND " group " <> ''))"
/* The same for a thing that may have other owners beside the one in its row (storage/holders.h). */
#define CM_VIEWER_SEES_SHARED(t, all, user, group) \
  "(" CM_VIEWER_SEES(t, all, user, group) " OR EXISTS (SELECT 1 FROM owners o WHERE o.thing = " t ".id AND " \
  CM_VIEWER_SEES("o", all, user, group) "))"
#define CM_VIEWER_VALUES(viewer) \
  (int64_t)((viewer) == NULL || (viewer)->all), (viewer) != NULL ? (viewer)->user : "", (viewer) != NULL ? (viewer)->group : ""

/* The same for an owner that has been read. */
bool cm_owner_shows(const cm_owner *owner, const cm_viewer *viewer);
bool cm_owner_lets(const cm_owner *owner, const cm_viewer *viewer); /* change it */

/* What others see, for people: "lab", "group vision", "private". */
enum { CM_OWNER_WORDS_MAX = CM_USER_MAX + 16 };
const char *cm_owner_words(const cm_owner *owner, char words[CM_OWNER_WORDS_MAX]);

/* Three columns from `first` on: user, team, visibility. */
void cm_owner_from_row(sqlite3_stmt *row, int first, cm_owner *owner);

/* A text that is the same for owners whose things the same people see: what is shared between jobs (results, coarsened
 * levels) is shared within it only, so that nobody learns from it what others do. "" for the whole lab. */
void cm_owner_domain(const cm_owner *owner, char domain[CM_USER_MAX + 16]);

typedef enum cm_object {
  CM_OBJECT_NONE,
  CM_OBJECT_NETWORK,
  CM_OBJECT_CHIP,
  CM_OBJECT_LEASE,
  CM_OBJECT_JOB,
  CM_OBJECT_MAPPING,
  CM_OBJECT_PROGRAM,
  CM_OBJECT_UPLOAD,
  CM_OBJECT_BINNED,
} cm_object;

/* The owner of a thing that the viewer sees; of several the viewer himself, else one who shows it to him. CM_NOT_FOUND, with the same words, when there is none and when he does not see
 * it. `chip` is a lease's chip, which must be seen too. Chips that are presets belong to nobody and are the lab's. */
cm_status cm_owners_get(cm_database *database, cm_object object, const char *id, const char *chip, const cm_viewer *viewer,
                        cm_owner *owner, cm_error *error);

/* The same inside closures; not for leases. */
cm_status cm_owners_get_in(sqlite3 *handle, cm_object object, const char *id, const cm_viewer *viewer, cm_owner *owner, cm_error *error);

/* Shows a thing to others than before: as far as owner->user is concerned, when he owns it; else in the name of all its owners. CM_NOT_FOUND; CM_CONFLICT: presets, and networks that more people see than would
 * (what is stored under the hash of its bytes stays the lab's). */
cm_status cm_owners_show(cm_database *database, cm_object object, const char *id, const cm_owner *owner, cm_error *error);

/* Makes an owner's visibility as narrow as that of a source. What two groups would see nobody but its owner does. */
void cm_owner_narrow(cm_owner *made, const cm_owner *source);

/* Whether more people see what `to` owns than what `from` does. */
bool cm_owner_widens(const cm_owner *from, const cm_owner *to);
