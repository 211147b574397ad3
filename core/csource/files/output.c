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

enum { TAR_BLOCK = 512, TAR_CHECKSUM = 148 };

/* The header of a file in an archive (POSIX ustar): of nobody, of no time, so that the same files are the same bytes. */
static void tar_header(const char *folder, const cm_c_file *file, char block[TAR_BLOCK])
{
  static const struct {
    int at;
    const char *text;
  } fields[] = {{100, "0000644"}, {108, "0000000"}, {116, "0000000"}, {136, "00000000000"}, {TAR_CHECKSUM, "        0"}, {257, "ustar"}, {263, "00"}};
  unsigned sum = 0;
  memset(block, 0, TAR_BLOCK);
  (void)snprintf(block, 100, "%s/%s", folder, file->name);
  (void)snprintf(block + 124, 12, "%011llo", (unsigned long long)file->size);
  for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
    memcpy(block + fields[k].at, fields[k].text, strlen(fields[k].text));
  for (int i = 0; i < TAR_BLOCK; i++)
    sum += (unsigned char)block[i];
  (void)snprintf(block + TAR_CHECKSUM, 7, "%06o", sum);
}

/* One file as it is, or all as an archive with a folder. */
static cm_status write_files(const cm_c_file *files, int count, const char *folder, const char *path, cm_error *error)
{
  static const char zeros[2 * TAR_BLOCK];
  cm_file file = {0};
  char block[TAR_BLOCK] = "";
  CM_TRY(cm_file_create(&file, path, error)); /* the commit says whether all could be written */
  for (const cm_c_file *f = files; f < files + count; f++) {
    if (f->text == NULL)
      continue;
    if (folder != NULL)
      tar_header(folder, f, block);
    (void)fwrite(block, 1, folder != NULL ? TAR_BLOCK : 0, file.stream);
    (void)fwrite(f->text, 1, f->size, file.stream);
    (void)fwrite(zeros, 1, folder != NULL ? (TAR_BLOCK - f->size % TAR_BLOCK) % TAR_BLOCK : 0, file.stream);
  }
  (void)fwrite(zeros, 1, folder != NULL ? sizeof zeros : 0, file.stream);
  return cm_file_end(&file, CM_OK, error);
}

cm_status cm_c_write_folder(const cm_c_file files[CM_C_FILES], const char *folder, cm_error *error)
{
  char path[CM_PATH_MAX];
  CM_TRY(cm_folder_make(folder, error));
  for (int k = 0; k < CM_C_FILES; k++) {
    CM_TRY_IF(files[k].text != NULL, cm_path(path, error, "%s/%s", folder, files[k].name));
    CM_TRY_IF(files[k].text != NULL, write_files(&files[k], 1, NULL, path, error));
  }
  return CM_OK;
}

cm_status cm_c_write_archive(const cm_c_file files[CM_C_FILES], const char *name, const char *path, cm_error *error)
{
  return write_files(files, CM_C_FILES, name, path, error);
}
