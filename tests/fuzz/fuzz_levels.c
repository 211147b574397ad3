/* Coarsened levels as the cache keeps them. An even first byte: the manifest of an entry. An odd one: a level's file, as
 * the JSON of its manifest, a NUL, and its members one after another, of which the archive is made with checksums that are
 * right, so that what lies behind them is reached. */
#include <jansson.h>
#include <sodium.h>
#include <sys/stat.h>
#include <zip.h>

#include "base/file.h"
#include "core/levels/cache.h"
#include "core/partition/graph.h"
#include "old.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds, const char *what)
{
  if (!holds) {
    fprintf(stderr, "%s\n", what);
    abort();
  }
}

static void add(zip_t *zip, const char *name, const void *bytes, size_t size)
{
  void *copy = malloc(size + 1);
  demand(copy != NULL, "no memory");
  memcpy(copy, bytes, size);
  zip_source_t *source = zip_source_buffer(zip, copy, size, 1);
  zip_int64_t at = zip_file_add(zip, name, source, ZIP_FL_OVERWRITE);
  if (at < 0)
    zip_source_free(source); /* a name that is none */
  else
    (void)zip_set_file_compression(zip, (zip_uint64_t)at, ZIP_CM_STORE, 0);
}

/* Takes the members' bytes off `data`, and makes their digests those of the bytes. */
static void add_members(zip_t *zip, json_t *members, const uint8_t *data, size_t size)
{
  json_t *member;
  size_t i;
  json_array_foreach(members, i, member)
  {
    unsigned char digest[32];
    char hex[65];
    const char *name = json_string_value(json_object_get(member, "name"));
    json_int_t bytes = json_integer_value(json_object_get(member, "bytes"));
    if (name == NULL || name[0] == '\0' || bytes <= 0 || (size_t)bytes > size)
      continue;
    crypto_generichash(digest, sizeof digest, data, (size_t)bytes, NULL, 0);
    sodium_bin2hex(hex, sizeof hex, digest, sizeof digest);
    (void)json_object_set_new(member, "blake2b", json_string(hex));
    add(zip, name, data, (size_t)bytes);
    data += bytes;
    size -= (size_t)bytes;
  }
}

static void try_level(const uint8_t *data, size_t size)
{
  const uint8_t *end = memchr(data, '\0', size);
  json_t *manifest = end == NULL ? NULL : json_loadb((const char *)data, (size_t)(end - data), 0, NULL);
  if (manifest == NULL)
    return;
  zip_source_t *archive = zip_source_buffer_create(NULL, 0, 0, NULL);
  zip_source_keep(archive);
  zip_t *zip = zip_open_from_source(archive, ZIP_CREATE | ZIP_TRUNCATE, NULL);
  demand(zip != NULL, "no archive");
  add_members(zip, json_object_get(manifest, "members"), end + 1, size - (size_t)(end + 1 - data));
  char *text = json_dumps(manifest, JSON_ENCODE_ANY);
  demand(text != NULL, "no memory");
  add(zip, "manifest.json", text, strlen(text));
  demand(zip_close(zip) == 0, "no archive");
  zip_stat_t about;
  demand(zip_source_stat(archive, &about) == 0 && zip_source_open(archive) == 0, "no archive");
  uint8_t *bytes = malloc(about.size);
  demand(bytes != NULL && zip_source_read(archive, bytes, about.size) == (zip_int64_t)about.size, "no archive");
  zip_source_close(archive);
  zip_source_free(archive);

  cm_error error = {.status = CM_OK};
  cm_memory memory;
  cm_run run;
  cm_graph *graph;
  uint32_t *parent, finer;
  char path[64];
  int handle;
  cm_memory_init(&memory, 64 << 20);
  cm_run_init(&run);
  run.memory = &memory;
  old_file(bytes, about.size, &handle, path);
  if (cm_graph_load(path, &run, &graph, &parent, &finer, &error) == CM_OK) {
    for (uint32_t v = 0; v < finer; v++)
      demand(parent[v] < graph->vertex_count, "a parent that is not there");
    for (uint64_t i = 0; i < graph->first[graph->vertex_count]; i++)
      demand(graph->neighbour[i] < graph->vertex_count, "a neighbour that is not there");
    cm_graph_free(graph);
    cm_free(parent);
  } else
    demand(error.status != CM_INTERNAL && error.detail[0] != '\0', "a failure without a reason");
  demand(memory.used_bytes == 0, "bytes are still on the account");
  close(handle);
  free(bytes);
  free(text);
  json_decref(manifest);
}

static char folder[64];

static void remove_folder(void)
{
  cm_error ignored;
  (void)cm_folder_remove(folder, &ignored);
}

static void try_manifest(const uint8_t *data, size_t size)
{
  static const char file[] = "a level";
  char path[128], found[CM_PATH_MAX];
  cm_error error;
  cm_cache *cache;
  cm_cache_counts counts;
  if (folder[0] == '\0') {
    (void)snprintf(folder, sizeof folder, "/tmp/cm-fuzz-levels-XXXXXX");
    demand(mkdtemp(folder) != NULL && atexit(remove_folder) == 0, "no folder");
  }
  (void)snprintf(path, sizeof path, "%s/abc-0", folder);
  (void)mkdir(path, 0700);
  for (int i = 0; i < 2; i++) {
    (void)snprintf(path, sizeof path, "%s/abc-0/%s", folder, i == 0 ? "level-1" : "manifest.json");
    FILE *stream = fopen(path, "wb");
    demand(stream != NULL, "no file");
    (void)fwrite(i == 0 ? (const void *)file : data, 1, i == 0 ? sizeof file - 1 : size, stream);
    (void)fclose(stream);
  }
  demand(cm_cache_open(folder, 1 << 20, &cache, &error) == CM_OK, "the cache does not open");
  cm_level_cache levels = cm_cache_levels(cache);
  cm_status status = levels.acquire(levels.user, "abc", found, &error);
  demand(status == CM_OK || (status == CM_NOT_FOUND && error.detail[0] != '\0'), "a failure without a reason");
  if (status == CM_OK)
    levels.release(levels.user, "abc");
  cm_cache_count(cache, &counts);
  demand(counts.bytes <= counts.bytes_max && counts.entries <= 1, "counts that are not so");
  cm_cache_close(cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size > 0 && data[0] % 2 == 1)
    try_level(data + 1, size - 1);
  else if (size > 0)
    try_manifest(data + 1, size - 1);
  return 0;
}
