/* What the files of the certificate share. */
#pragma once

#include "core/verify/certificate.h"
#include "core/verify/check_constraints.h"
#include "core/verify/check_measure.h"

enum { CM_CERTIFICATE_HEX = 65 };

typedef struct cm_certificate_facts {
  const cm_certified *made;
  const cm_check_context *given;
  /* Found by cm_certificate_find: */
  uint32_t *populations; /* [parts] of each part; NULL: the chip does not limit them */
  cm_check_leaving leaving;
  cm_check_shared shared[2][3]; /* of routers, and of dies */
  cm_check_shared circuits[3];
  cm_check_unpinned_found unpinned;
  uint8_t *usable;       /* [cores] */
  uint32_t usable_count;
  cm_bounds bounds;
  cm_step_bounds step, scenario_step[CM_SCENARIOS_MAX];
  char usable_hash[CM_CERTIFICATE_HEX], part_hash[CM_CERTIFICATE_HEX], placement_hash[CM_CERTIFICATE_HEX];
} cm_certificate_facts;

/* Fills what is found; `populations` and `usable` are the caller's (cm_free), on failure too. O(cm_bounds_compute). */
cm_status cm_certificate_find(cm_certificate_facts *facts, cm_error *error);

/* All of a certificate but its options, as a new object; NULL when out of memory. */
json_t *cm_certificate_json(const cm_certificate_facts *facts);
