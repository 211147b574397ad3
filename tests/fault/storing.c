/* Operations of storage: each leaves what was there or what was asked for, whichever call fails, and says which. Here those on
 * the folder, networks and uploads. */
#include "tests/fault/storing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/chip/chip.h"
#include "storage/bin.h"
#include "storage/chips.h"
#include "storage/networks.h"
#include "storage/uploads.h"

cm_store *storing_store;
char storing_network[CM_SHA_MAX];
static char id[CM_SHA_MAX];

static void open_store(void)
{
  cm_error error;
  operation_must(cm_store_open(operation_path("data"), 1 << 20, &storing_store, &error), &error, "opening the data folder");
}

static bool is_file(const char *path)
{
  return access(path, F_OK) == 0;
}

static void add_network(char *made)
{
  cm_error error;
  bool known;
  cm_network network = {.neurons = 3, .created = cm_store_time()};
  const char *scratch = operation_path("data/incoming/0123456789abcdef0123.part");
  char fresh[CM_ID_MAX];
  cm_store_id(fresh);
  cm_store_sha256(fresh, strlen(fresh), made);
  memcpy(network.id, made, CM_SHA_MAX);
  memcpy(network.sha256, made, CM_SHA_MAX);
  operation_write(scratch, "zip", 3);
  operation_must(cm_networks_publish(storing_store, &network, scratch, &known, &error), &error, "storing a network");
}

void storing_ready(void)
{
  cm_error error;
  bool created, mismatch;
  cm_chip *chip;
  char *text;
  if (storing_store != NULL)
    return;
  open_store();
  operation_must(cm_chip_mesh(8, 8, &chip, &error), &error, "a chip");
  (void)snprintf(chip->name, sizeof chip->name, "toy");
  operation_must(cm_chip_print(chip, &text, &error), &error, "a chip's text");
  cm_chip_free(chip);
  operation_must(cm_chips_put(storing_store, &(cm_chip_change){.name = "toy", .text = text}, &created, &mismatch, &error), &error, "storing a chip");
  free(text);
  add_network(storing_network);
}

void storing_anew(void)
{
  cm_store_close(storing_store);
  open_store();
}

void storing_expect(cm_status status, bool as_asked, bool as_before, const char *what)
{
  if (status == CM_OK && !as_asked)
    operation_wrong("%s: told as done, and is not", what);
  if (status != CM_OK && !as_before)
    operation_wrong("%s: failed, and something has changed", what);
}

/* ---- the folder ---- */

static void prepare_first_open(void)
{
  cm_error error;
  operation_must(cm_folder_remove(operation_path("data"), &error), &error, "removing the data folder");
}

static cm_status open_and_close(cm_error *error)
{
  cm_store *opened = NULL;
  cm_status status = cm_store_open(operation_path("data"), 1 << 20, &opened, error);
  if (status == CM_OK)
    cm_store_close(opened);
  return status;
}

static void settle_open(cm_status status, char *digest)
{
  cm_error error;
  (void)status;
  (void)digest;
  operation_must(open_and_close(&error), &error, "opening it again"); /* whatever it left half made */
}

/* ---- networks ---- */

static void prepare_publish(void)
{
  storing_ready();
  char fresh[CM_ID_MAX];
  cm_store_id(fresh);
  cm_store_sha256(fresh, strlen(fresh), id);
  operation_write(operation_path("data/incoming/0123456789abcdef0123.part"), "zip", 3);
}

static cm_status publish(cm_error *error)
{
  bool known;
  cm_network network = {.neurons = 3, .created = 1};
  memcpy(network.id, id, sizeof id);
  memcpy(network.sha256, id, sizeof id);
  return cm_networks_publish(storing_store, &network, operation_path("data/incoming/0123456789abcdef0123.part"), &known, error);
}

static bool network_there(void)
{
  cm_error error;
  cm_network network;
  char path[CM_PATH_MAX];
  cm_status status = cm_networks_get(storing_store, id, &network, &error);
  if (status != CM_OK && status != CM_NOT_FOUND)
    operation_wrong("a network cannot be read: %s", error.detail);
  operation_must(cm_networks_path(storing_store, id, path, &error), &error, "a path");
  if (status == CM_OK && !is_file(path))
    operation_wrong("a network is known whose file is not there");
  return status == CM_OK;
}

static void settle_publish(cm_status status, char *digest)
{
  cm_error error;
  (void)digest;
  (void)unlink(operation_path("data/incoming/0123456789abcdef0123.part"));
  storing_anew();
  storing_expect(status, network_there(), !network_there(), "a network");
  if (status == CM_OK)
    operation_must(cm_bin_pass(storing_store, CM_OBJECT_NETWORK, id, NULL, &error), &error, "deleting a network");
}

static void prepare_network_delete(void)
{
  storing_ready();
  add_network(id);
}

static cm_status network_delete(cm_error *error)
{
  return cm_bin_pass(storing_store, CM_OBJECT_NETWORK, id, NULL, error);
}

static void settle_network_delete(cm_status status, char *digest)
{
  cm_error error;
  (void)digest;
  storing_anew();
  storing_expect(status, !network_there(), network_there(), "a deleted network");
  if (status != CM_OK)
    operation_must(cm_bin_pass(storing_store, CM_OBJECT_NETWORK, id, NULL, &error), &error, "deleting a network");
}

/* ---- uploads ---- */

static cm_upload upload;

static cm_status upload_create(cm_error *error)
{
  upload = (cm_upload){.size = 12};
  return cm_uploads_create(storing_store, &upload, error);
}

static void settle_upload_create(cm_status status, char *digest)
{
  cm_error error;
  cm_upload found;
  (void)digest;
  storing_anew();
  if (status == CM_OK) {
    operation_must(cm_uploads_get(storing_store, upload.id, &found, &error), &error, "an upload");
    operation_must(cm_uploads_delete(storing_store, upload.id, &error), &error, "deleting an upload");
  } else if (upload.id[0] != '\0' && cm_uploads_get(storing_store, upload.id, &found, &error) == CM_OK)
    operation_wrong("an upload: failed, and is there");
}

static void prepare_append(void)
{
  cm_error error;
  storing_ready();
  operation_must(upload_create(&error), &error, "beginning an upload");
  operation_write(operation_path("data/incoming/0123456789abcdef0123.part"), "abcdef", 6);
}

static cm_status append(cm_error *error)
{
  cm_upload mine = {0};
  memcpy(mine.id, upload.id, sizeof mine.id);
  return cm_uploads_append(storing_store, operation_path("data/incoming/0123456789abcdef0123.part"), 0, &mine, error);
}

/* A piece that failed may be there in part: the client asks, and goes on from there. */
static void settle_append(cm_status status, char *digest)
{
  cm_error error;
  cm_upload found = {0};
  (void)digest;
  storing_anew();
  operation_must(cm_uploads_get(storing_store, upload.id, &found, &error), &error, "an upload");
  storing_expect(status, found.offset == 6, found.offset <= 6, "a piece of an upload");
  operation_write(operation_path("data/incoming/0123456789abcdef0123.part"), &"abcdef"[found.offset], 6 - found.offset);
  operation_must(cm_uploads_append(storing_store, operation_path("data/incoming/0123456789abcdef0123.part"), found.offset, &found, &error), &error,
       "the rest of a piece");
  char path[CM_PATH_MAX], *text;
  size_t size;
  operation_must(cm_uploads_path(storing_store, upload.id, path, &error), &error, "a path");
  operation_must(cm_file_read(path, 100, &text, &size, &error), &error, "the bytes of an upload");
  if (size != 6 || memcmp(text, "abcdef", 6) != 0)
    operation_wrong("an upload has other bytes than were sent");
  free(text);
  operation_must(cm_uploads_delete(storing_store, upload.id, &error), &error, "deleting an upload");
}

const operation storage_operations[] = {
  {"store first open", prepare_first_open, open_and_close, settle_open, false},
  {"store open", NULL, open_and_close, settle_open, false},
  {"store network", prepare_publish, publish, settle_publish, false},
  {"store network delete", prepare_network_delete, network_delete, settle_network_delete, false},
  {"store upload", storing_ready, upload_create, settle_upload_create, false},
  {"store upload piece", prepare_append, append, settle_append, false},
  {NULL, NULL, NULL, NULL, false},
};
