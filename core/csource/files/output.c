/* Files of C into a folder, or an archive. */
#include "core/csource/csource.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

void cm_c_files_free(cm_c_file files[CM_C_FILES])
{
  for (int k = 0; k < CM_C_FILES; k++) {
    free(files[k].text);
    files[k].text = NULL;
  }
}

static cm_status write_file(const char *path, void (*write)(const void *what, FILE *out), const void *what, cm_error *error)
{
  cm_file file = {0};
  cm_status status = cm_file_create(&file, path, error);
  if (status == CM_OK)
    write(what, file.stream); /* the commit says whether all could be written */
  CM_THEN(status, cm_file_commit(&file, error));
  cm_file_discard(&file);
  return status;
}

static void write_text(const void *what, FILE *out)
{
  const cm_c_file *file = what;
  (void)fwrite(file->text, 1, file->size, out);
}

cm_status cm_c_write_folder(const cm_c_file files[CM_C_FILES], const char *folder, cm_error *error)
{
  char path[CM_PATH_MAX];
  cm_status status = cm_folder_make(folder, error);
  for (int k = 0; status == CM_OK && k < CM_C_FILES; k++)
    if (files[k].text != NULL) {
      status = cm_path(path, error, "%s/%s", folder, files[k].name);
      CM_THEN(status, write_file(path, write_text, &files[k], error));
    }
  return status;
}

/* ---- an archive (POSIX ustar) ---- */

enum { TAR_BLOCK = 512, TAR_CHECKSUM = 148 };

typedef struct archive {
  const cm_c_file *files;
  const char *name;
} archive;

/* The header of a file: of nobody, of no time, so that the same files are the same bytes. */
static void tar_header(const archive *a, const cm_c_file *file, char block[TAR_BLOCK])
{
  unsigned sum = 0;
  memset(block, 0, TAR_BLOCK);
  (void)snprintf(block, 100, "%s/%s", a->name, file->name);
  (void)snprintf(block + 100, 8, "0000644");
  (void)snprintf(block + 108, 8, "0000000");
  (void)snprintf(block + 116, 8, "0000000");
  (void)snprintf(block + 124, 12, "%011llo", (unsigned long long)file->size);
  (void)snprintf(block + 136, 12, "00000000000");
  memset(block + TAR_CHECKSUM, ' ', 8);
  block[156] = '0';
  (void)snprintf(block + 257, 6, "ustar");
  (void)snprintf(block + 263, 3, "00");
  for (int i = 0; i < TAR_BLOCK; i++)
    sum += (unsigned char)block[i];
  (void)snprintf(block + TAR_CHECKSUM, 7, "%06o", sum);
}

static void write_tar(const void *what, FILE *out)
{
  static const char zeros[2 * TAR_BLOCK];
  const archive *a = what;
  char block[TAR_BLOCK];
  for (int k = 0; k < CM_C_FILES; k++)
    if (a->files[k].text != NULL) {
      tar_header(a, &a->files[k], block);
      (void)fwrite(block, 1, TAR_BLOCK, out);
      (void)fwrite(a->files[k].text, 1, a->files[k].size, out);
      (void)fwrite(zeros, 1, (TAR_BLOCK - a->files[k].size % TAR_BLOCK) % TAR_BLOCK, out);
    }
  (void)fwrite(zeros, 1, sizeof zeros, out);
}

cm_status cm_c_write_archive(const cm_c_file files[CM_C_FILES], const char *name, const char *path, cm_error *error)
{
  return write_file(path, write_tar, &(archive){files, name}, error);
}
