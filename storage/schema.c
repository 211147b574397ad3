/* The schema, version by version: entry N of the table brings a database from user_version N to N + 1. */
#include "storage/schema.h"

const char *const cm_schema_steps[] = {
  "CREATE TABLE networks ("
  "  id TEXT PRIMARY KEY, user TEXT NOT NULL, name TEXT NOT NULL, format TEXT NOT NULL, gzipped INTEGER NOT NULL,"
  "  directed INTEGER NOT NULL, neurons INTEGER NOT NULL, hyperedges INTEGER NOT NULL, synapses INTEGER NOT NULL,"
  "  bytes INTEGER NOT NULL, plain_bytes INTEGER NOT NULL, duplicates INTEGER NOT NULL,"
  "  self_loops INTEGER NOT NULL, empty_nets INTEGER NOT NULL, labels INTEGER NOT NULL, created REAL NOT NULL);"
  "CREATE INDEX networks_created ON networks(created);"

  "CREATE TABLE chips ("
  "  name TEXT PRIMARY KEY, user TEXT NOT NULL, description TEXT NOT NULL, created REAL NOT NULL);"

  /* One row per chip whose occupancy was ever written. */
  "CREATE TABLE occupancy (chip TEXT PRIMARY KEY, state TEXT NOT NULL);"

  /* The cores of a lease stand in its chip's occupancy under the owner 'lease:ID' and nowhere else, so no core
     can be held twice. */
  "CREATE TABLE leases ("
  "  id TEXT PRIMARY KEY, user TEXT NOT NULL, chip TEXT NOT NULL, owner TEXT NOT NULL, job TEXT,"
  "  ttl REAL NOT NULL, expires REAL NOT NULL, created REAL NOT NULL);"
  "CREATE INDEX leases_chip ON leases(chip);"
  "CREATE INDEX leases_expires ON leases(expires);"

  "CREATE TABLE jobs ("
  "  sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, user TEXT NOT NULL,"
  "  kind TEXT NOT NULL, name TEXT NOT NULL, network TEXT NOT NULL, chip TEXT NOT NULL,"
  "  options TEXT NOT NULL, reserve INTEGER NOT NULL, ttl REAL NOT NULL, priority INTEGER NOT NULL,"
  "  state TEXT NOT NULL, attempt INTEGER NOT NULL, kills INTEGER NOT NULL, moved INTEGER NOT NULL,"
  "  cancel_requested INTEGER NOT NULL, waits_for TEXT, fingerprint TEXT,"
  "  idempotency_key TEXT, body_hash TEXT,"
  "  created REAL NOT NULL, started REAL, finished REAL,"
  "  problem TEXT, mapping TEXT, lease TEXT, reused INTEGER NOT NULL, report TEXT, phases TEXT, log TEXT,"
  "  CHECK (state IN ('queued','running','done','failed','cancelled')),"
  "  CHECK (state <> 'done' OR mapping IS NOT NULL));"
  "CREATE UNIQUE INDEX jobs_key ON jobs(user, idempotency_key) WHERE idempotency_key IS NOT NULL;"
  "CREATE INDEX jobs_state ON jobs(state, user);"
  "CREATE INDEX jobs_started ON jobs(user, started);"
  "CREATE INDEX jobs_network ON jobs(network);"
  "CREATE INDEX jobs_chip ON jobs(chip);"

  "CREATE TABLE mappings ("
  "  id TEXT PRIMARY KEY, user TEXT NOT NULL, network TEXT NOT NULL, chip TEXT NOT NULL, job TEXT NOT NULL,"
  "  fingerprint TEXT, bytes INTEGER NOT NULL, created REAL NOT NULL);"
  "CREATE INDEX mappings_fingerprint ON mappings(fingerprint);"

  "CREATE TABLE uploads ("
  "  id TEXT PRIMARY KEY, user TEXT NOT NULL, name TEXT NOT NULL, size INTEGER NOT NULL, created REAL NOT NULL);"

  "CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL);",

  /* Operator-level models: their operators are counted, and a compile job's result is a row of kind 'compile'. */
  "ALTER TABLE networks ADD COLUMN operators INTEGER NOT NULL DEFAULT 0;"
  "ALTER TABLE mappings ADD COLUMN kind TEXT NOT NULL DEFAULT 'map';",

  /* The identity of the data folder, one row; its marker says the same. */
  "CREATE TABLE folder (id TEXT NOT NULL);",

  /* Jobs that a passing fault has ended are tried again: how often, from when (while queued), after what. */
  "ALTER TABLE jobs ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;"
  "ALTER TABLE jobs ADD COLUMN retry_at REAL;"
  "ALTER TABLE jobs ADD COLUMN fault TEXT;",
};

const int cm_schema_version = (int)(sizeof cm_schema_steps / sizeof *cm_schema_steps);
