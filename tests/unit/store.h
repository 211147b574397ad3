/* A store in a folder of its own with a chip "toy" and a network "abc", for the tests of what storage does with it. */
#pragma once

#include "unit.h"

#include "core/chip/chip.h"
#include "storage/chips.h"
#include "storage/jobs.h"
#include "storage/networks.h"

static cm_error error;
static char folder[CM_PATH_MAX];
static cm_store *store;

/* The path of a file in the folder; of the last four. */
static inline const char *inside(const char *name)
{
  static char path[4][CM_PATH_MAX];
  static int turn;
  turn = (turn + 1) % 4;
  ck_ok(cm_path(path[turn], &error, "%s/%s", folder, name));
  return path[turn];
}

static inline bool is_there(const char *name)
{
  return access(inside(name), F_OK) == 0;
}

/* A report that nobody reads. */
static inline void ignore_line(void *user, const char *line)
{
  (void)user;
  (void)line;
}

static inline void put_toy_chip(void)
{
  bool created, mismatch;
  cm_chip *chip;
  char *text;
  ck_ok(cm_chip_mesh(8, 8, &chip, &error));
  (void)snprintf(chip->name, sizeof chip->name, "toy");
  ck_ok(cm_chip_print(chip, &text, &error));
  cm_chip_free(chip);
  ck_ok(cm_chips_put(store, &(cm_chip_change){.name = "toy", .text = text}, &created, &mismatch, &error));
  free(text);
}

static inline void add_network(const char *id)
{
  char scratch[CM_PATH_MAX];
  bool known;
  cm_network network = {.neurons = 3, .created = cm_store_time()};
  (void)snprintf(network.id, sizeof network.id, "%s", id);
  (void)snprintf(network.sha256, sizeof network.sha256, "%s", id);
  ck_ok(cm_path(scratch, &error, "%s/incoming/x", folder));
  test_write(scratch, "zip", 3);
  ck_ok(cm_networks_publish(store, &network, scratch, &known, &error));
}

static inline void open_store(void)
{
  ck_ok(cm_store_open(folder, 1 << 20, &store, &error));
}

static inline void restart_store(void)
{
  cm_store_close(store);
  open_store();
}

static inline void store_setup(void)
{
  test_folder(folder);
  open_store();
  put_toy_chip();
  add_network("abc");
}

static inline void store_teardown(void)
{
  cm_store_close(store);
  ck_ok(cm_folder_remove(folder, &error));
}

static inline void create_job(const char *user, int priority, char *id)
{
  cm_job job = {.kind = "map", .network = "abc", .chip = "toy", .options = (char[]){"{}"}, .priority = priority,
                .ttl = 60};
  cm_job_created result;
  (void)snprintf(job.owner.user, sizeof job.owner.user, "%s", user);
  ck_ok(cm_jobs_create(store, &job, NULL, &result, id, &error));
  ck_assert_int_eq(result, CM_JOB_NEW);
}

static inline cm_job_state state_of(const char *id)
{
  cm_job job;
  ck_ok(cm_jobs_get(store, id, &job, &error));
  cm_job_clear(&job);
  return job.state;
}

static inline void claim(cm_job *job)
{
  bool found;
  ck_ok(cm_jobs_claim(store, CM_CLAIM_ANY, job, &found, &error));
  ck_assert(found);
}
