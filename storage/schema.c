/* The schema, version by version: entry N of the table brings a database from user_version N to N + 1. */
#include "storage/schema.h"

/* ---- what triggers keep for the queue ---- */

/* A queued job that a worker may take now: it waits for no identical one and for no retry's time. */
#define READY(row) "(" row ".state = 'queued' AND " row ".waits_for IS NULL AND " row ".retry_at IS NULL)"

#define ADD_STATE(row, jobs) \
  "INSERT INTO job_totals(state, jobs) VALUES(" row ".state, " jobs ")" \
  " ON CONFLICT(state) DO UPDATE SET jobs = jobs + excluded.jobs;"
/* Counts of ready jobs per user, lane and priority in blocks of 64, 64^2, ... sequence numbers: how many come before a job is
 * a sum of at most 64 numbers on each level. */
#define RANKS(row, jobs) \
  "(" row ".user, " row ".lane, " row ".priority, 0, " row ".sequence >> 6, " jobs ")," \
  "(" row ".user, " row ".lane, " row ".priority, 1, " row ".sequence >> 12, " jobs ")," \
  "(" row ".user, " row ".lane, " row ".priority, 2, " row ".sequence >> 18, " jobs ")," \
  "(" row ".user, " row ".lane, " row ".priority, 3, " row ".sequence >> 24, " jobs ")," \
  "(" row ".user, " row ".lane, " row ".priority, 4, " row ".sequence >> 30, " jobs ")"
#define ADD_RANKS(row, jobs) \
  "INSERT INTO queue_ranks(user, lane, priority, level, bucket, jobs) VALUES " RANKS(row, jobs) \
  " ON CONFLICT(user, lane, priority, level, bucket) DO UPDATE SET jobs = jobs + excluded.jobs;"
#define DROP_RANK(row, level, shift) \
  "DELETE FROM queue_ranks WHERE user = " row ".user AND lane = " row ".lane AND priority = " row ".priority" \
  " AND level = " level " AND bucket = " row ".sequence >> " shift " AND jobs = 0;"
#define DROP_RANKS(row) \
  DROP_RANK(row, "0", "6") DROP_RANK(row, "1", "12") DROP_RANK(row, "2", "18") \
  DROP_RANK(row, "3", "24") DROP_RANK(row, "4", "30")
#define ADD_TOTALS(row, ready, ready_ms, queued) \
  "INSERT INTO queue_totals(user, lane, priority, ready, ready_ms, queued)" \
  " VALUES(" row ".user, " row ".lane, " row ".priority, " ready ", " ready_ms ", " queued ")" \
  " ON CONFLICT(user, lane, priority) DO UPDATE SET ready = ready + excluded.ready," \
  " ready_ms = ready_ms + excluded.ready_ms, queued = queued + excluded.queued;"
#define DROP_TOTALS(row) \
  "DELETE FROM queue_totals WHERE user = " row ".user AND lane = " row ".lane AND priority = " row ".priority AND queued = 0;"
/* As storage/holders.h has it. */
#define JOB_SOURCE \
  "CASE WHEN json_valid(options) THEN json_extract(options, CASE kind WHEN 'simulate' THEN '$.mapping' ELSE '$.from' END) END"
#define JOB_LEVELS "CASE WHEN json_valid(options) THEN json_extract(options, '$.levels_from') END"
#define OLD(what, name) "DROP " what " IF EXISTS " name ";"
#define TRIGGER(name, event, condition, steps) \
  "CREATE TRIGGER " name " AFTER " event " ON jobs WHEN " condition " BEGIN " steps " END;"

/* How many things of a kind, and how many bytes of them, each user has stored; a kind is named like its table. */
#define ADD_STORED(table, size, row, sign) \
  "INSERT INTO stored_totals(user, kind, things, bytes) VALUES(" row ".user, '" table "', " sign "1, " sign row "." size ")" \
  " ON CONFLICT(user, kind) DO UPDATE SET things = things + excluded.things, bytes = bytes + excluded.bytes;"
#define DROP_STORED(table, row) \
  "DELETE FROM stored_totals WHERE user = " row ".user AND kind = '" table "' AND things = 0;"
#define STORED_TRIGGER(table, name, event, steps) "CREATE TRIGGER " table "_" name " AFTER " event " ON " table " BEGIN " steps " END;"
#define STORED(table, size) \
  "INSERT INTO stored_totals SELECT user, '" table "', count(*), sum(" size ") FROM " table " GROUP BY user;" \
  STORED_TRIGGER(table, "stored_in", "INSERT", ADD_STORED(table, size, "new", "")) \
  STORED_TRIGGER(table, "stored_out", "DELETE", ADD_STORED(table, size, "old", "-") DROP_STORED(table, "old")) \
  STORED_TRIGGER(table, "stored_move", "UPDATE OF user, " size, \
                 ADD_STORED(table, size, "new", "") ADD_STORED(table, size, "old", "-") DROP_STORED(table, "old"))

/* What a user has stored, in this month's row of the ledger. */
#define LEDGER_TRIGGER(name, event) \
  "CREATE TRIGGER " name " AFTER " event " ON stored_totals BEGIN" \
  " INSERT INTO ledger(user, month, bytes) SELECT new.user, strftime('%Y-%m', 'now'), sum(bytes) FROM stored_totals WHERE user = new.user" \
  " ON CONFLICT(user, month) DO UPDATE SET bytes = excluded.bytes; END;"

/* What a list is filtered and sorted by, beside what there was. */
#define ADD_LISTED(table) \
  "ALTER TABLE " table " ADD COLUMN label_set TEXT NOT NULL DEFAULT '';" \
  "ALTER TABLE " table " ADD COLUMN preset TEXT;" "ALTER TABLE " table " ADD COLUMN objective TEXT;" \
  "ALTER TABLE " table " ADD COLUMN seed INTEGER;" "ALTER TABLE " table " ADD COLUMN cores_used INTEGER;" \
  "ALTER TABLE " table " ADD COLUMN cores_gap REAL;" "ALTER TABLE " table " ADD COLUMN step_ns REAL;" \
  "ALTER TABLE " table " ADD COLUMN step_gap REAL;" "ALTER TABLE " table " ADD COLUMN energy_pj REAL;" \
  "ALTER TABLE " table " ADD COLUMN energy_step_pj REAL;" "ALTER TABLE " table " ADD COLUMN time_ns REAL;" \
  "ALTER TABLE " table " ADD COLUMN time_gap REAL;"

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

  /* The queue at a cost that does not grow with it: an index for every question, and counters that triggers keep,
     whoever writes. A job that waits for an identical one is ready again when that one has stopped running. */
  "DROP INDEX jobs_chip;"
  "CREATE INDEX jobs_chip_state ON jobs(chip, state);"
  "CREATE INDEX jobs_network_state ON jobs(network, state);"
  "CREATE INDEX jobs_by_state ON jobs(state);"
  "CREATE INDEX jobs_by_user ON jobs(user);"
  "CREATE INDEX jobs_waiting ON jobs(waits_for) WHERE waits_for IS NOT NULL;"
  "CREATE INDEX jobs_retry ON jobs(retry_at) WHERE retry_at IS NOT NULL;"
  "UPDATE jobs SET waits_for = NULL WHERE waits_for IS NOT NULL AND NOT (state = 'queued'"
  "  AND EXISTS (SELECT 1 FROM jobs o WHERE o.id = jobs.waits_for AND o.state = 'running'));"

  "CREATE TABLE job_totals (state TEXT PRIMARY KEY, jobs INTEGER NOT NULL) WITHOUT ROWID;"

  "INSERT INTO job_totals SELECT state, count(*) FROM jobs GROUP BY 1;"

  TRIGGER("jobs_total_in", "INSERT", "true", ADD_STATE("new", "1"))
  TRIGGER("jobs_total_out", "DELETE", "true", ADD_STATE("old", "-1"))
  TRIGGER("jobs_total_move", "UPDATE OF state", "old.state <> new.state", ADD_STATE("old", "-1") ADD_STATE("new", "1"))
  TRIGGER("jobs_twin_over", "UPDATE OF state", "old.state = 'running' AND new.state <> 'running'",
          "UPDATE jobs SET waits_for = NULL WHERE waits_for = new.id AND state = 'queued';"),

  /* What is added to the time since boot, one row (storage/clock.h). */
  "CREATE TABLE clock (offset REAL NOT NULL);",

  /* Size and digest of every stored file, by its path below the data folder. */
  "CREATE TABLE blobs (path TEXT PRIMARY KEY, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL) WITHOUT ROWID;",

  /* Users and their tokens; as long as there are no users, whoever reaches the server may do all. */
  "CREATE TABLE users ("
  "  name TEXT PRIMARY KEY, role TEXT NOT NULL, team TEXT NOT NULL, disabled INTEGER NOT NULL, created REAL NOT NULL,"
  "  CHECK (role IN ('user','operator','admin'))) WITHOUT ROWID;"
  "CREATE TABLE tokens ("
  "  id TEXT PRIMARY KEY, user TEXT NOT NULL REFERENCES users(name), name TEXT NOT NULL, scopes INTEGER NOT NULL,"
  "  hash TEXT NOT NULL, created REAL NOT NULL, expires REAL NOT NULL, used REAL) WITHOUT ROWID;"
  "CREATE INDEX tokens_user ON tokens(user);",

  /* What networks have beside neurons and synapses; of those stored before it nothing was kept. */
  "ALTER TABLE networks ADD COLUMN zeros INTEGER NOT NULL DEFAULT 0;"
  "ALTER TABLE networks ADD COLUMN inputs INTEGER NOT NULL DEFAULT 0;"
  "ALTER TABLE networks ADD COLUMN inhibitory INTEGER NOT NULL DEFAULT 0;"
  "ALTER TABLE networks ADD COLUMN populations INTEGER NOT NULL DEFAULT 0;"
  "ALTER TABLE networks ADD COLUMN delays INTEGER NOT NULL DEFAULT 0;",

  /* Who sees what: everything had one owner, nobody, and was everybody's. Networks that not all see do not go by the hash of
     their bytes. */
  "ALTER TABLE networks ADD COLUMN visibility TEXT NOT NULL DEFAULT 'lab';"
  "ALTER TABLE networks ADD COLUMN team TEXT NOT NULL DEFAULT '';"
  "ALTER TABLE networks ADD COLUMN sha256 TEXT NOT NULL DEFAULT '';"
  "UPDATE networks SET sha256 = id;"
  "CREATE INDEX networks_sha256 ON networks(sha256);"
  "ALTER TABLE chips ADD COLUMN visibility TEXT NOT NULL DEFAULT 'lab';"
  "ALTER TABLE chips ADD COLUMN team TEXT NOT NULL DEFAULT '';"
  "ALTER TABLE leases ADD COLUMN visibility TEXT NOT NULL DEFAULT 'lab';"
  "ALTER TABLE leases ADD COLUMN team TEXT NOT NULL DEFAULT '';"
  "ALTER TABLE jobs ADD COLUMN visibility TEXT NOT NULL DEFAULT 'lab';"
  "ALTER TABLE jobs ADD COLUMN team TEXT NOT NULL DEFAULT '';"
  "ALTER TABLE mappings ADD COLUMN visibility TEXT NOT NULL DEFAULT 'lab';"
  "ALTER TABLE mappings ADD COLUMN team TEXT NOT NULL DEFAULT '';"
  "ALTER TABLE uploads ADD COLUMN visibility TEXT NOT NULL DEFAULT 'lab';"
  "ALTER TABLE uploads ADD COLUMN team TEXT NOT NULL DEFAULT '';",

  /* The same bytes can be read in several ways: with which options they were. */
  "ALTER TABLE networks ADD COLUMN read_as TEXT NOT NULL DEFAULT '';",

  /* Fair shares and lanes: what jobs are expected to take, what like ones took, and whose use of the workers is how much.
     Ranks and totals are kept by lane (0: short, 1: long); jobs that were queued before wait with the long ones. */
  "ALTER TABLE jobs ADD COLUMN lane INTEGER NOT NULL DEFAULT 1;"
  "ALTER TABLE jobs ADD COLUMN expected_ms INTEGER NOT NULL DEFAULT 10000;"
  "ALTER TABLE jobs ADD COLUMN likeness TEXT NOT NULL DEFAULT '';"
  "ALTER TABLE jobs ADD COLUMN size REAL NOT NULL DEFAULT 0;"
  "ALTER TABLE jobs ADD COLUMN cpu_seconds REAL;"
  "ALTER TABLE users ADD COLUMN share INTEGER NOT NULL DEFAULT 1;"
  "CREATE TABLE usage (user TEXT PRIMARY KEY, amount_ms REAL NOT NULL, at REAL NOT NULL) WITHOUT ROWID;"
  "CREATE TABLE job_times ("
  "  id INTEGER PRIMARY KEY AUTOINCREMENT, class TEXT NOT NULL, likeness TEXT NOT NULL, chip TEXT NOT NULL,"
  "  size REAL NOT NULL, seconds REAL NOT NULL);"
  "CREATE INDEX job_times_class ON job_times(class, id);"

  /* What a release without lanes kept in their place. */
  OLD("TRIGGER", "jobs_queued_in") OLD("TRIGGER", "jobs_queued_out") OLD("TRIGGER", "jobs_queued_on") OLD("TRIGGER", "jobs_queued_off")
  OLD("TRIGGER", "jobs_ready_in") OLD("TRIGGER", "jobs_ready_out") OLD("TRIGGER", "jobs_ready_on") OLD("TRIGGER", "jobs_ready_off")
  OLD("TABLE", "queue_ranks") OLD("TABLE", "queue_totals") OLD("INDEX", "jobs_ready")
  "CREATE INDEX jobs_ready ON jobs(user, lane, priority)"
  "  WHERE state = 'queued' AND waits_for IS NULL AND retry_at IS NULL;"
  "CREATE TABLE queue_ranks ("
  "  user TEXT NOT NULL, lane INTEGER NOT NULL, priority INTEGER NOT NULL, level INTEGER NOT NULL,"
  "  bucket INTEGER NOT NULL, jobs INTEGER NOT NULL, PRIMARY KEY (user, lane, priority, level, bucket)) WITHOUT ROWID;"
  "CREATE TABLE queue_totals ("
  "  user TEXT NOT NULL, lane INTEGER NOT NULL, priority INTEGER NOT NULL, ready INTEGER NOT NULL,"
  "  ready_ms INTEGER NOT NULL, queued INTEGER NOT NULL, PRIMARY KEY (user, lane, priority)) WITHOUT ROWID;"
  "CREATE INDEX queue_priority ON queue_totals(priority, lane) WHERE ready > 0;"
  "WITH level(level, shift) AS (VALUES (0, 6), (1, 12), (2, 18), (3, 24), (4, 30))"
  "  INSERT INTO queue_ranks SELECT user, lane, priority, level, sequence >> shift, count(*) FROM jobs, level"
  "  WHERE " READY("jobs") " GROUP BY 1, 2, 3, 4, 5;"
  "INSERT INTO queue_totals SELECT user, lane, priority, sum(" READY("jobs") "), sum(" READY("jobs") " * expected_ms),"
  "  count(*) FROM jobs WHERE state = 'queued' GROUP BY 1, 2, 3;"
  TRIGGER("jobs_queued_in", "INSERT", "new.state = 'queued'", ADD_TOTALS("new", "0", "0", "1"))
  TRIGGER("jobs_queued_out", "DELETE", "old.state = 'queued'", ADD_TOTALS("old", "0", "0", "-1") DROP_TOTALS("old"))
  TRIGGER("jobs_queued_on", "UPDATE OF state", "old.state <> 'queued' AND new.state = 'queued'",
          ADD_TOTALS("new", "0", "0", "1"))
  TRIGGER("jobs_queued_off", "UPDATE OF state", "old.state = 'queued' AND new.state <> 'queued'",
          ADD_TOTALS("old", "0", "0", "-1") DROP_TOTALS("old"))
  TRIGGER("jobs_ready_in", "INSERT", READY("new"),
          ADD_RANKS("new", "1") ADD_TOTALS("new", "1", "new.expected_ms", "0"))
  TRIGGER("jobs_ready_out", "DELETE", READY("old"),
          ADD_RANKS("old", "-1") DROP_RANKS("old") ADD_TOTALS("old", "-1", "-old.expected_ms", "0")
          DROP_TOTALS("old"))
  TRIGGER("jobs_ready_on", "UPDATE OF state, waits_for, retry_at", "NOT " READY("old") " AND " READY("new"),
          ADD_RANKS("new", "1") ADD_TOTALS("new", "1", "new.expected_ms", "0"))
  TRIGGER("jobs_ready_off", "UPDATE OF state, waits_for, retry_at", READY("old") " AND NOT " READY("new"),
          ADD_RANKS("old", "-1") DROP_RANKS("old") ADD_TOTALS("old", "-1", "-old.expected_ms", "0")
          DROP_TOTALS("old")),

  /* Quotas, and what counts for those on a time. */
  "CREATE TABLE quotas (is_group INTEGER NOT NULL, name TEXT NOT NULL, quota TEXT NOT NULL, most REAL NOT NULL,"
  "  PRIMARY KEY (is_group, name, quota)) WITHOUT ROWID;"
  "CREATE TABLE cpu_use (user TEXT NOT NULL, hour INTEGER NOT NULL, seconds REAL NOT NULL,"
  "  PRIMARY KEY (user, hour)) WITHOUT ROWID;"
  "CREATE TABLE lease_use (lease TEXT PRIMARY KEY, user TEXT NOT NULL, cores INTEGER NOT NULL, began REAL NOT NULL,"
  "  ends REAL NOT NULL) WITHOUT ROWID;"
  "CREATE INDEX lease_use_user ON lease_use(user, ends);"
  "CREATE INDEX networks_user ON networks(user);"
  "CREATE INDEX mappings_user ON mappings(user);"
  "CREATE INDEX uploads_user ON uploads(user);",

  /* Who changed what; only ever added to. */
  "CREATE TABLE audit (sequence INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, user TEXT NOT NULL,"
  "  address TEXT NOT NULL, action TEXT NOT NULL, object TEXT NOT NULL);"
  "CREATE INDEX audit_user ON audit(user);"
  "CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT raise(ABORT, 'the audit trail is only added to'); END;"
  "CREATE TRIGGER audit_lasts BEFORE DELETE ON audit BEGIN SELECT raise(ABORT, 'the audit trail is only added to'); END;",

  /* By which request a job, or a change, came to be. */
  "ALTER TABLE jobs ADD COLUMN request TEXT NOT NULL DEFAULT '';"
  "ALTER TABLE audit ADD COLUMN request TEXT NOT NULL DEFAULT '';",

  /* How long the oldest job of a lane has waited. */
  "CREATE INDEX jobs_queued_lane ON jobs(lane) WHERE state = 'queued';",

  /* Small results are one value in place of a folder; folders of releases before are packed while the server runs (form 0). */
  "ALTER TABLE mappings ADD COLUMN form INTEGER NOT NULL DEFAULT 0;"
  "CREATE INDEX mappings_old ON mappings(form) WHERE form = 0;"
  "CREATE TABLE packs (mapping TEXT PRIMARY KEY, sha256 TEXT NOT NULL, content BLOB NOT NULL);",

  /* The bin, pins, rules of how long things stay, and who owns a network beside the one in its row. */
  "CREATE TABLE bin (id TEXT PRIMARY KEY, kind TEXT NOT NULL, user TEXT NOT NULL, team TEXT NOT NULL, visibility TEXT NOT NULL,"
  "  name TEXT NOT NULL, bytes INTEGER NOT NULL, deleted REAL NOT NULL, content TEXT NOT NULL);"
  "CREATE INDEX bin_user ON bin(user);"
  "CREATE INDEX bin_deleted ON bin(deleted);"
  "ALTER TABLE networks ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;"
  "ALTER TABLE mappings ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;"
  "CREATE TABLE retention (name TEXT NOT NULL, what TEXT NOT NULL, most REAL NOT NULL, PRIMARY KEY (name, what)) WITHOUT ROWID;"
  "CREATE TABLE network_owners (network TEXT NOT NULL, user TEXT NOT NULL, PRIMARY KEY (network, user)) WITHOUT ROWID;"
  "CREATE INDEX network_owners_user ON network_owners(user);",

  /* What users have stored, at a cost that does not grow with it. */
  "CREATE TABLE stored_totals (user TEXT NOT NULL, kind TEXT NOT NULL, things INTEGER NOT NULL, bytes INTEGER NOT NULL,"
  "  PRIMARY KEY (user, kind)) WITHOUT ROWID;"
  STORED("networks", "bytes") STORED("mappings", "bytes") STORED("uploads", "size") STORED("bin", "bytes"),

  /* Mappings and programs have owners beside the first as networks had; each shows and pins for himself. Who was given the result of
     an equal job owns it from now on. Lists of mappings and programs, and of the jobs that need one. */
  "CREATE TABLE owners (thing TEXT NOT NULL, user TEXT NOT NULL, team TEXT NOT NULL, visibility TEXT NOT NULL, pinned INTEGER NOT NULL,"
  "  created REAL NOT NULL, PRIMARY KEY (thing, user)) WITHOUT ROWID;"
  "CREATE INDEX owners_user ON owners(user);"
  "INSERT INTO owners SELECT n.id, o.user, n.team, n.visibility, n.pinned, n.created FROM network_owners o, networks n WHERE n.id = o.network;"
  "DROP TABLE network_owners;"
  "INSERT OR IGNORE INTO owners SELECT m.id, j.user, m.team, m.visibility, 0, j.finished FROM jobs j, mappings m WHERE m.id = j.mapping"
  "  AND j.state = 'done' AND j.kind <> 'simulate' AND j.user <> '' AND m.user <> '' AND j.user <> m.user;"
  "CREATE INDEX mappings_kind ON mappings(kind);"
  "CREATE INDEX mappings_network ON mappings(network);"
  "CREATE INDEX jobs_source ON jobs(" JOB_SOURCE ") WHERE state IN ('queued', 'running');",

  /* What a change did: ids that it made, old and new values; why one was refused. */
  "ALTER TABLE audit ADD COLUMN effect TEXT NOT NULL DEFAULT '';",

  /* What users have used by month: of the time before, the processor time of jobs whose records are kept, the leases of a week, and what
     is stored now. */
  "CREATE TABLE ledger (user TEXT NOT NULL, month TEXT NOT NULL, core_seconds REAL NOT NULL DEFAULT 0, cpu_seconds REAL NOT NULL DEFAULT 0,"
  "  bytes INTEGER, PRIMARY KEY (user, month)) WITHOUT ROWID;"
  "INSERT INTO ledger(user, month, bytes) SELECT user, strftime('%Y-%m', 'now'), sum(bytes) FROM stored_totals GROUP BY user;"
  "INSERT INTO ledger(user, month, cpu_seconds) SELECT user, strftime('%Y-%m', finished, 'unixepoch'), sum(cpu_seconds) FROM jobs"
  "  WHERE cpu_seconds > 0 AND finished IS NOT NULL GROUP BY 1, 2 ON CONFLICT(user, month) DO UPDATE SET cpu_seconds = excluded.cpu_seconds;"
  LEDGER_TRIGGER("ledger_stored_in", "INSERT") LEDGER_TRIGGER("ledger_stored_move", "UPDATE"),

  /* Whether somebody has shown a job to more than what it is made of: then what it makes is shown to them too. */
  "ALTER TABLE jobs ADD COLUMN widened INTEGER NOT NULL DEFAULT 0;",

  /* What was understood of a network's file. */
  "ALTER TABLE networks ADD COLUMN reading TEXT NOT NULL DEFAULT '';",

  /* Whose point a job is: sweeps are jobs of kind 'sweep', which run as long as theirs. */
  "ALTER TABLE jobs ADD COLUMN sweep TEXT;"
  "CREATE INDEX jobs_sweep ON jobs(sweep, sequence) WHERE sweep IS NOT NULL;"
  "CREATE INDEX jobs_mapping ON jobs(mapping) WHERE mapping IS NOT NULL;",

  /* What lists show, and are filtered and sorted by: labels, and what was asked for and made. Rows of jobs are long: an index has all
     that their lists look for. Batches: the first job of those that came in one request. Points of Pareto sets: the first of their set. */
  "ALTER TABLE networks ADD COLUMN label_set TEXT NOT NULL DEFAULT '';"
  "ALTER TABLE owners ADD COLUMN label_set TEXT NOT NULL DEFAULT '';"
  ADD_LISTED("jobs") ADD_LISTED("mappings")
  "ALTER TABLE jobs ADD COLUMN batch TEXT;"
  "CREATE INDEX jobs_batch ON jobs(batch, sequence) WHERE batch IS NOT NULL;"
  "ALTER TABLE mappings ADD COLUMN pareto TEXT;"
  "ALTER TABLE mappings ADD COLUMN point INTEGER;"
  "CREATE INDEX mappings_pareto ON mappings(pareto, point) WHERE pareto IS NOT NULL;"
  "UPDATE jobs SET preset = json_extract(options, '$.preset'), objective = json_extract(options, '$.objective'),"
  "  seed = json_extract(options, '$.seed') WHERE kind = 'map' AND json_valid(options);"
  "UPDATE jobs SET cores_used = json_extract(report, '$.metrics.cores_used'),"
  "  cores_gap = 1.0 * json_extract(report, '$.metrics.cores_used') / nullif(json_extract(report, '$.bound.parts'), 0) - 1,"
  "  step_ns = json_extract(report, '$.metrics.step_ns'), step_gap = json_extract(report, '$.mapper.step_bound.gap_percent') / 100.0,"
  "  energy_pj = json_extract(report, '$.metrics.energy_pj'), energy_step_pj = json_extract(report, '$.metrics.energy_step_pj'),"
  "  time_ns = json_extract(report, '$.program.time.total_ns'),"
  "  time_gap = 1.0 * json_extract(report, '$.program.time.total_ns') / nullif(json_extract(report, '$.program.time.lower_bound_ns'), 0) - 1"
  "  WHERE state = 'done' AND kind IN ('map', 'compile') AND json_valid(report);"
  "UPDATE mappings SET (preset, objective, seed, cores_used, cores_gap, step_ns, step_gap, energy_pj, energy_step_pj, time_ns, time_gap) ="
  "  (SELECT preset, objective, seed, cores_used, cores_gap, step_ns, step_gap, energy_pj, energy_step_pj, time_ns, time_gap FROM jobs"
  "  WHERE jobs.id = mappings.job);"
  "CREATE INDEX jobs_named ON jobs(id, name, user, team, visibility);"
  "CREATE INDEX jobs_listed ON jobs(sequence, id, user, team, visibility, state, kind, network, chip, name, sweep, created, finished, label_set,"
  "  preset, objective, seed, cores_used, cores_gap, step_ns, step_gap, energy_pj, energy_step_pj, time_ns, time_gap);",

  /* How a job's progress went (storage/progress.h). */
  "ALTER TABLE jobs ADD COLUMN history TEXT;",

  /* Where a running job is carried out: incoming/FOLDER.job, which outlives the server. */
  "ALTER TABLE jobs ADD COLUMN folder TEXT;"
  "CREATE INDEX jobs_folder ON jobs(folder) WHERE folder IS NOT NULL;",

  /* The memory that like jobs took, at most at once. */
  "ALTER TABLE job_times ADD COLUMN bytes REAL;",

  /* The network whose levels a job carries over, which stays until then. */
  "CREATE INDEX jobs_levels ON jobs(" JOB_LEVELS ") WHERE state IN ('queued', 'running') AND " JOB_LEVELS " IS NOT NULL;",
};

const int cm_schema_version = (int)(sizeof cm_schema_steps / sizeof *cm_schema_steps);
