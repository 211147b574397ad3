bin_PROGRAMS += coremapd
libcoremapd_a_SOURCES += \
  daemon/config.h daemon/config.c daemon/command.h daemon/command.c daemon/admin.h daemon/admin.c daemon/admin_words.c daemon/admin_words.h daemon/admin_users.c daemon/admin_import.c daemon/admin_tokens.c daemon/limits.h daemon/limits.c daemon/usage.h daemon/usage.c daemon/owner.h daemon/owner.c daemon/drain.h daemon/drain.c daemon/health.h daemon/health.c daemon/backup.h daemon/backup.c daemon/manual.h daemon/manual.c daemon/log.h daemon/log.c daemon/manager.h daemon/manager.c daemon/workers.h daemon/workers.c \
  daemon/running.h daemon/running.c daemon/running_made.c daemon/running_told.c daemon/prepare.c daemon/refusal.h daemon/refusal.c daemon/import.h daemon/import.c \
  daemon/follower.h daemon/follower.c daemon/executor.h daemon/executor.c daemon/in_thread.c daemon/child.c daemon/told.h daemon/told.c daemon/child_limits.h daemon/child_limits.c daemon/fork_server.h daemon/fork_server.c daemon/fork_calls.c daemon/fork_wire.h daemon/fork_wire.c \
  daemon/job/work.h daemon/job/work_parts.h daemon/job/work.c daemon/job/work_parts.c daemon/job/folder.c \
  daemon/job/map.c daemon/job/compile.c daemon/job/quantize.c daemon/job/simulate.c daemon/job/solve.c daemon/job/profile.c daemon/job/deploy.c daemon/job/import.c \
  daemon/job/main.c \
  daemon/slurm/wire.h daemon/slurm/cluster.h daemon/slurm/cluster.c daemon/slurm/shared.c daemon/slurm/bridge.c daemon/slurm/queue.h daemon/slurm/queue.c \
  daemon/slurm/command.h daemon/slurm/command.c daemon/slurm/node.c daemon/slurm/submit.h daemon/slurm/submit.c daemon/slurm/probe.h daemon/slurm/probe.c
coremapd_SOURCES = daemon/main.c
coremapd_LDADD = $(SERVER_LIBS) -linih
