/* Arrays in files: what does not fit a run's memory limit stands in unlinked files of its scratch folder and is read
 * and written there through mappings. The kernel keeps the pages at hand in its cache; how many of them are mapped at
 * once, and so count as the process's memory, is held below what the accounts leave (docs/how-to/memory-limit.md). */
#pragma once

#include "base/memory.h"

/* PAGEMAP_SCAN, by which the watch asks the kernel what is mapped: confined processes may. */
#define CM_SCAN_PAGES 0xc0606610

typedef struct cm_scratch cm_scratch;

/* Before a process is confined: what the watch reads of it can be opened no more afterwards. */
void cm_scratch_prepare(void);

/* A zeroed block of `bytes` in a file of memory->scratch_folder, whose space on the disk is taken at once. What the
 * account's limit leaves rules how much of its blocks is mapped, whatever other accounts and the process take. Errors: CM_DISK_FULL, CM_IO, CM_NO_MEMORY. */
cm_status cm_scratch_new(cm_memory *memory, size_t bytes, cm_scratch **scratch, cm_error *error);

/* Where the block is. */
void *cm_scratch_block(const cm_scratch *scratch);

/* Copies bytes from `offset` on, without mapping them. Errors: CM_IO. */
cm_status cm_scratch_read(const cm_scratch *scratch, uint64_t offset, size_t bytes, void *into, cm_error *error);

/* Waits while too much is mapped, so that no thread maps faster than the watch unmaps. Called by cm_run_check. */
void cm_scratch_pause(void);

/* Grows or shrinks the block; it may move. New bytes are zero. On failure it stays as it is. */
cm_status cm_scratch_resize(cm_scratch *scratch, size_t bytes, cm_error *error);

void cm_scratch_free(cm_scratch *scratch);
