/* base/file: whole files or none. */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>

START_TEST(files_are_there_whole_or_not_at_all)
{
  cm_error error;
  char folder[CM_PATH_MAX], path[CM_PATH_MAX];
  test_folder(folder);
  ck_ok(cm_path(path, &error, "%s/deep/down", folder));
  ck_ok(cm_folder_make(path, &error));
  ck_ok(cm_path(path, &error, "%s/deep/down/file", folder));
  cm_file file;
  ck_ok(cm_file_create(&file, path, &error));
  fputs("one", file.stream);
  ck_assert_int_ne(access(path, F_OK), 0);
  ck_ok(cm_file_commit(&file, &error));
  ck_ok(cm_file_create(&file, path, &error));
  fputs("two", file.stream);
  cm_file_discard(&file);
  char *text;
  size_t size;
  ck_ok(cm_file_read(path, 100, &text, &size, &error));
  ck_assert_str_eq(text, "one");
  free(text);
  ck_fails(cm_file_read(path, 2, &text, &size, &error), CM_TOO_LARGE);
  ck_ok(cm_folder_remove(folder, &error));
  ck_fails(cm_file_read(path, 2, &text, &size, &error), CM_NOT_FOUND);
}
END_TEST

static mode_t mode_of(const char *path)
{
  struct stat about;
  ck_assert_int_eq(stat(path, &about), 0);
  return about.st_mode & 07777;
}

static void write_to(const char *path, const char *text)
{
  cm_error error;
  cm_file file;
  ck_ok(cm_file_create(&file, path, &error));
  fputs(text, file.stream);
  ck_ok(cm_file_commit(&file, &error));
}

/* Modes and links outlive a replacement, and a new file has the rights that the process gives. */
/* What a thread says of its files is its own affair, and they stand all the same; a folder is synced with all that is in it. */
START_TEST(files_that_pass_are_written_too)
{
  char root[CM_PATH_MAX], path[CM_PATH_MAX], *text;
  size_t size;
  cm_error error;
  cm_file file;
  test_folder(root);
  ck_ok(cm_path(path, &error, "%s/a/b", root));
  ck_ok(cm_folder_make(path, &error));
  ck_ok(cm_path(path, &error, "%s/a/b/c", root));
  ck_assert(cm_files_last(false));
  ck_ok(cm_file_create(&file, path, &error));
  ck_assert_int_ge(fputs("passing", file.stream), 0);
  ck_ok(cm_file_commit(&file, &error));
  ck_assert(!cm_files_last(true));
  ck_ok(cm_file_read(path, 100, &text, &size, &error));
  ck_assert_str_eq(text, "passing");
  free(text);
  ck_ok(cm_folder_sync_files(root, &error));
  ck_fails(cm_folder_sync_files(path, &error), CM_IO); /* a file */
  ck_ok(cm_folder_remove(root, &error));
  ck_fails(cm_folder_sync_files(root, &error), CM_NOT_FOUND);
}
END_TEST

START_TEST(replaced_files_keep_their_mode_and_links)
{
  char folder[CM_PATH_MAX], path[CM_PATH_MAX], link[CM_PATH_MAX], dangling[CM_PATH_MAX], *text;
  cm_error error;
  size_t size;
  test_folder(folder);
  ck_ok(cm_path(path, &error, "%s/file", folder));
  ck_ok(cm_path(link, &error, "%s/link", folder));
  ck_ok(cm_path(dangling, &error, "%s/later", folder));
  mode_t mask = umask(027);
  write_to(path, "one");
  umask(mask);
  ck_assert_uint_eq(mode_of(path), 0640);
  ck_assert_int_eq(chmod(path, 0604), 0);
  ck_assert_int_eq(symlink("file", link), 0);
  write_to(link, "two");
  ck_assert_uint_eq(mode_of(path), 0604);
  struct stat about;
  ck_assert_int_eq(lstat(link, &about), 0);
  ck_assert(S_ISLNK(about.st_mode));
  ck_ok(cm_file_read(path, 100, &text, &size, &error));
  ck_assert_str_eq(text, "two");
  free(text);
  ck_assert_int_eq(symlink("new", dangling), 0);
  write_to(dangling, "three");
  ck_assert(lstat(dangling, &about) == 0 && S_ISLNK(about.st_mode));
  ck_ok(cm_file_read(dangling, 100, &text, &size, &error));
  ck_assert_str_eq(text, "three");
  free(text);
  cm_file file;
  ck_fails(cm_file_create(&file, folder, &error), CM_IO);
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

/* What is no regular file is written through and stays what it was; a discarded file leaves nothing in it. */
START_TEST(pipes_and_devices_are_written_through)
{
  char folder[CM_PATH_MAX], path[CM_PATH_MAX], got[16] = "";
  cm_error error;
  cm_file file;
  int pair[2];
  test_folder(folder);
  ck_ok(cm_path(path, &error, "%s/fifo", folder));
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  int reader = open(path, O_RDONLY | O_NONBLOCK);
  ck_assert_int_ge(reader, 0);
  ck_ok(cm_file_create(&file, path, &error));
  fputs("lost", file.stream);
  cm_file_discard(&file);
  write_to(path, "through");
  ck_assert_int_eq(read(reader, got, sizeof got), 7);
  ck_assert_str_eq(got, "through");
  struct stat about;
  ck_assert(stat(path, &about) == 0 && S_ISFIFO(about.st_mode));
  (void)close(reader);
  ck_assert_int_eq(pipe(pair), 0);
  snprintf(path, sizeof path, "/dev/fd/%d", pair[1]);
  write_to(path, "piped");
  ck_assert_int_eq(read(pair[0], got, sizeof got), 5);
  ck_assert_int_eq(memcmp(got, "piped", 5), 0);
  (void)close(pair[0]);
  (void)close(pair[1]);
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

/* Standard output that was sent to a file goes on where it stands. */
START_TEST(a_descriptor_is_written_where_it_stands)
{
  char folder[CM_PATH_MAX], path[CM_PATH_MAX], name[40], *text;
  cm_error error;
  size_t size;
  test_folder(folder);
  ck_ok(cm_path(path, &error, "%s/file", folder));
  int descriptor = open(path, O_WRONLY | O_CREAT, 0600);
  ck_assert_int_eq(write(descriptor, "before ", 7), 7);
  snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  write_to(name, "after");
  (void)close(descriptor);
  ck_ok(cm_file_read(path, 100, &text, &size, &error));
  ck_assert_str_eq(text, "before after");
  free(text);
  ck_ok(cm_folder_remove(folder, &error));
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("base file");
  TCase *tests = tcase_create("base file");
  tcase_add_test(tests, files_are_there_whole_or_not_at_all);
  tcase_add_test(tests, files_that_pass_are_written_too);
  tcase_add_test(tests, replaced_files_keep_their_mode_and_links);
  tcase_add_test(tests, pipes_and_devices_are_written_through);
  tcase_add_test(tests, a_descriptor_is_written_where_it_stands);
  suite_add_tcase(suite, tests);
  return test_main(suite);
}
