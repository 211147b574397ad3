/* Operations of storage on chips, their occupancy and leases. */
#include "tests/fault/storing.h"

#include <stdlib.h>
#include <string.h>

#include "storage/chips.h"
#include "storage/leases.h"
#include "storage/occupancy.h"

static char other[CM_ID_MAX];

static cm_status chip_put(cm_error *error)
{
  static const char text[] = "{\"name\": \"small\", \"cores\": [2, 2]}";
  bool created, mismatch;
  return cm_chips_put(storing_store, &(cm_chip_change){.name = "small", .text = text}, &created, &mismatch, error);
}

static void settle_chip_put(cm_status status, char *digest)
{
  cm_error error;
  char *text = NULL;
  bool preset, mismatch;
  (void)digest;
  storing_anew();
  bool there = cm_chips_text(storing_store, "small", &text, &preset, &error) == CM_OK;
  free(text);
  storing_expect(status, there, !there, "a chip");
  if (there)
    operation_must(cm_chips_delete(storing_store, "small", NULL, NULL, &mismatch, &error), &error, "deleting a chip");
}

static cm_status occupy(cm_error *error)
{
  static const char text[] = "{\"occupy\": [[0, 0, 2, 2]], \"owner\": \"me\"}";
  cm_occupancy_change change = {.chip = "toy", .if_match = "*", .json = text, .size = sizeof text - 1};
  char *state = NULL, tag[CM_ETAG_MAX];
  bool mismatch;
  cm_status status = cm_occupancy_write(storing_store, &change, &mismatch, &state, tag, error);
  free(state);
  return status;
}

/* How many cores of the chip `owner` has (NULL: nobody). */
static uint32_t cores_of(const char *owner)
{
  cm_error error;
  coremap_chip *chip;
  uint32_t count = 0;
  operation_must(cm_occupancy_open(storing_store, "toy", &chip, &error), &error, "an occupancy");
  for (uint32_t c = 0; c < coremap_chip_width(chip) * coremap_chip_height(chip); c++) {
    const library_core core = library_core_at(chip, c);
    count += owner == NULL ? core.state == LIBRARY_CORE_FREE : core.owner != NULL && strcmp(core.owner, owner) == 0;
  }
  coremap_chip_free(chip);
  return count;
}

/* How many cores the lease `id` has in the occupancy. */
static uint32_t cores_of_lease(const char *lease)
{
  char owner[CM_ID_MAX + 16];
  (void)snprintf(owner, sizeof owner, "lease:%s", lease);
  return cores_of(owner);
}

static void settle_occupy(cm_status status, char *digest)
{
  static const char text[] = "{\"release\": [[0, 0, 2, 2]]}";
  cm_occupancy_change change = {.chip = "toy", .if_match = "*", .json = text, .size = sizeof text - 1};
  cm_error error;
  char *state, tag[CM_ETAG_MAX];
  bool mismatch;
  (void)digest;
  storing_anew();
  storing_expect(status, cores_of("me") == 9 && cores_of(NULL) == 55, cores_of(NULL) == 64, "an occupancy");
  if (status == CM_OK) {
    operation_must(cm_occupancy_write(storing_store, &change, &mismatch, &state, tag, &error), &error, "releasing cores");
    free(state);
  }
}

static cm_status lease_take(cm_error *error)
{
  cm_lease lease = {0};
  cm_lease_request wanted = {.chip = "toy", .owner = "me", .ttl = 600, .count = 5};
  cm_status status = cm_leases_create(storing_store, &wanted, &lease, error);
  if (status == CM_OK) {
    memcpy(other, lease.id, sizeof other);
    if (lease.core_count != 5 || strcmp(lease.cores, "[]") == 0)
      operation_wrong("a lease of 5 cores says that it has %llu: %s", (unsigned long long)lease.core_count, lease.cores);
  }
  cm_lease_clear(&lease);
  return status;
}

static void settle_lease_take(cm_status status, char *digest)
{
  cm_error error;
  (void)digest;
  storing_anew();
  storing_expect(status, cores_of_lease(other) == 5 && cores_of(NULL) == 59, cores_of(NULL) == 64, "a lease");
  if (status == CM_OK)
    operation_must(cm_leases_release(storing_store, "toy", other, &error), &error, "releasing a lease");
}

static void prepare_lease(void)
{
  cm_error error;
  storing_ready();
  operation_must(lease_take(&error), &error, "taking a lease");
}

static cm_status lease_keep(cm_error *error)
{
  cm_lease lease = {0};
  cm_status status = cm_leases_keep(storing_store, other, &(cm_lease_request){.chip = "toy", .ttl = 900}, &lease, error);
  cm_lease_clear(&lease);
  return status;
}

static void settle_lease_keep(cm_status status, char *digest)
{
  cm_error error;
  cm_lease lease;
  (void)digest;
  storing_anew();
  operation_must(cm_leases_get(storing_store, "toy", other, &lease, &error), &error, "a lease");
  storing_expect(status, lease.ttl == 900, lease.ttl == 600, "a lease's time");
  cm_lease_clear(&lease);
  operation_must(cm_leases_release(storing_store, "toy", other, &error), &error, "releasing a lease");
}

static cm_status lease_release(cm_error *error)
{
  return cm_leases_release(storing_store, "toy", other, error);
}

static void settle_lease_release(cm_status status, char *digest)
{
  cm_error error;
  (void)digest;
  storing_anew();
  storing_expect(status, cores_of(NULL) == 64, cores_of(NULL) == 59, "a released lease");
  if (status != CM_OK)
    operation_must(cm_leases_release(storing_store, "toy", other, &error), &error, "releasing a lease");
}

const operation chip_operations[] = {
  {"store chip", storing_ready, chip_put, settle_chip_put, false},
  {"store occupancy", storing_ready, occupy, settle_occupy, false},
  {"store lease", storing_ready, lease_take, settle_lease_take, false},
  {"store lease keep", prepare_lease, lease_keep, settle_lease_keep, false},
  {"store lease release", prepare_lease, lease_release, settle_lease_release, false},
  {NULL, NULL, NULL, NULL, false},
};
