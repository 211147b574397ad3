/* Some of the cores of a mapping, ?box=X,Y,COLUMNS,ROWS, and what blocks of them hold, ?block=N: cut from the stored view at each request. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/handlers.h"
#include "base/number.h"
#include "library/private/base.h"
#include "library/private/stored.h"

enum { BLOCK_MAX = 65536, BOX_NUMBERS = 4 };

/* Four whole numbers with commas between; nothing: all are 0. */
static bool read_box(const char *text, uint32_t box[BOX_NUMBERS])
{
  int end = 0;
  memset(box, 0, BOX_NUMBERS * sizeof *box);
  return text == NULL || (strlen(text) < 44 && strspn(text, "0123456789,") == strlen(text) &&
                          sscanf(text, "%9u,%9u,%9u,%9u%n", &box[0], &box[1], &box[2], &box[3], &end) == BOX_NUMBERS && text[end] == '\0' && box[2] > 0);
}

static bool read_asked(cm_request *request, const char *view, uint32_t box[BOX_NUMBERS], uint64_t *block)
{
  const char *each = cm_request_query(request, "block"), *wrong = NULL;
  *block = 0;
  if (strcmp(view, "cores.csv") == 0)
    wrong = "box and block come with format=bin or json";
  else if (!read_box(cm_request_query(request, "box"), box))
    wrong = "box must be X,Y,COLUMNS,ROWS: four whole numbers, as box=128,0,64,64";
  else if (each != NULL && (!cm_whole_parse(each, block) || *block == 0 || *block > BLOCK_MAX))
    wrong = "block must be a whole number from 1 to 65536: cores each way";
  if (wrong != NULL)
    CM_REPLY_BAD(request, "%s", wrong);
  return wrong == NULL;
}

static cm_status cut(int file, const uint32_t box[BOX_NUMBERS], uint32_t block, int *made, cm_error *error)
{
  coremap_error *why = NULL;
  *made = memfd_create("cores", MFD_CLOEXEC);
  if (*made < 0)
    return cm_fail_errno(error, errno, "cannot make", "a file in memory");
  cm_status status = library_status(library_cores_cut(file, box, block, *made, &why), &why, error);
  if (status == CM_OK && lseek(*made, 0, SEEK_SET) == 0)
    return CM_OK;
  close(*made);
  return status != CM_OK ? status : cm_fail_errno(error, errno, "cannot read", "a file in memory");
}

void cm_cores_reply(cm_request *request, const char *view, const char *type)
{
  cm_mapping_row mapping;
  uint32_t box[BOX_NUMBERS];
  uint64_t block;
  int file, made = -1;
  char etag[CM_ID_MAX + 80];
  if (!read_asked(request, view, box, &block))
    return;
  if (!cm_reply_ok(request, cm_mappings_get(request->store, request->param[0], &mapping, &request->error)))
    return;
  (void)snprintf(etag, sizeof etag, "%s-%s-%u-%u-%u-%u-%u", mapping.id, view, box[0], box[1], box[2], box[3], (unsigned)block);
  if (cm_reply_known(request, type, etag, "Accept"))
    return;
  cm_status status = cm_mappings_open(request->store, mapping.id, view, &file, &request->error);
  if (status == CM_OK) {
    status = cut(file, box, (uint32_t)block, &made, &request->error);
    close(file);
  }
  if (cm_reply_ok(request, status))
    cm_reply_opened(request, made, type, etag, "Accept");
}
