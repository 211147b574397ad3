/* The file of a structure: 8 bytes of name, how many elements each section has, and the sections, each at a multiple of 8 bytes.
 * What can fail: a file that is damaged, or of another release. */
#include "core/output/structure/structure.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static const char magic[8] = "CMSTRUC1";

enum {
#define SECTION(name, type) SECTION_##name,
#include "core/output/structure/structure.def"
#undef SECTION
  SECTIONS
};

static const size_t element[SECTIONS] = {
#define SECTION(name, type) sizeof(type),
#include "core/output/structure/structure.def"
#undef SECTION
};

static size_t padding(uint64_t bytes)
{
  return (size_t)(-bytes & 7);
}

void cm_structure_clear(cm_structure *s)
{
  if (s->mapped != NULL)
    (void)munmap(s->mapped, s->mapped_bytes);
  else {
#define SECTION(name, type) cm_free(s->name);
#include "core/output/structure/structure.def"
#undef SECTION
  }
  memset(s, 0, sizeof *s);
}

void cm_structure_write(const cm_structure *s, FILE *stream)
{
  static const char zeros[8];
  const uint64_t count[SECTIONS] = {
#define SECTION(name, type) s->name##_count,
#include "core/output/structure/structure.def"
#undef SECTION
  };
  const void *const section[SECTIONS] = {
#define SECTION(name, type) s->name,
#include "core/output/structure/structure.def"
#undef SECTION
  };
  (void)fwrite(magic, 1, sizeof magic, stream);
  (void)fwrite(count, sizeof *count, SECTIONS, stream);
  for (int k = 0; k < SECTIONS; k++) {
    if (count[k] > 0)
      (void)fwrite(section[k], element[k], count[k], stream);
    (void)fwrite(zeros, 1, padding(count[k] * element[k]), stream);
  }
}

/* ---- reading ---- */

static bool all_below(const uint32_t *value, uint64_t count, uint64_t limit)
{
  bool below = true;
  for (uint64_t i = 0; i < count; i++)
    below &= value[i] < limit;
  return below;
}

/* Whether places ascend from 0 to `end`. */
static bool ascends(const uint64_t *first, uint64_t count, uint64_t end)
{
  bool up = count > 0 && first[0] == 0 && first[count - 1] == end;
  for (uint64_t i = 1; i < count; i++)
    up &= first[i] >= first[i - 1];
  return up;
}

static uint64_t strings_in(const char *text, uint64_t bytes)
{
  uint64_t strings = 0;
  for (uint64_t i = 0; i < bytes; i++)
    strings += text[i] == '\0';
  return bytes > 0 && text[bytes - 1] != '\0' ? UINT64_MAX : strings;
}

static bool axons_fit(const cm_structure *s)
{
  const uint64_t neurons = s->part_count, parts = s->core_count, axons = s->source_count, pairs = s->pair_part_count;
  const bool directed = s->in_first_count > 0;
  bool fit = s->axon_first_count == parts + 1 && s->load_count == parts && s->axon_first[0] == 0 && s->axon_first[parts] == axons &&
             s->weight_count == (directed ? axons : 0) && s->pair_weight_count == (directed ? 0 : pairs) && s->pair_first_count == axons + 1 &&
             s->pair_synapses_count == pairs;
  for (uint64_t p = 0; fit && p < parts; p++)
    fit = s->axon_first[p] <= s->axon_first[p + 1];
  return fit && all_below(s->part, neurons, parts) && all_below(s->source, axons, neurons) && ascends(s->pair_first, axons + 1, pairs) &&
         all_below(s->pair_part, pairs, parts);
}

static bool fits(const cm_structure *s)
{
  const uint64_t neurons = s->part_count, populations = strings_in(s->population_name, s->population_name_count);
  const uint64_t fold = populations == 0 ? 1 : (populations + CM_MATRIX_SIDE_MAX - 1) / CM_MATRIX_SIDE_MAX, side = (populations + fold - 1) / fold;
  return axons_fit(s) && s->fan_in_count == neurons && s->link_load_count == s->link_count && s->entries_count == s->router_count && s->unit_count == 1 && s->unit[0] > 0 &&
         (s->in_first_count == 0 || (s->in_first_count == neurons + 1 && ascends(s->in_first, neurons + 1, s->in_count))) &&
         (s->population_count == 0 || (s->population_count == neurons && populations != UINT64_MAX && s->matrix_count == side * side &&
                                       all_below(s->population, neurons, populations))) &&
         (s->label_first_count == 0 ||
          (s->label_first_count == neurons + 1 && ascends(s->label_first, neurons + 1, s->label_count) && strings_in(s->label, s->label_count) >= neurons &&
           strings_in(s->label, s->label_count) != UINT64_MAX)) &&
         s->chip_count > 0 && s->chip[s->chip_count - 1] == '\0';
}

/* Points at the sections; false: they are not there whole. */
static bool lay_out(cm_structure *s)
{
  const uint64_t *count = (const uint64_t *)((const char *)s->mapped + sizeof magic);
  uint64_t used = sizeof magic + SECTIONS * sizeof *count;
  void *section[SECTIONS];
  if (s->mapped_bytes < used || memcmp(s->mapped, magic, sizeof magic) != 0)
    return false;
  for (int k = 0; k < SECTIONS; k++) {
    if (count[k] > (s->mapped_bytes - used) / element[k])
      return false;
    section[k] = (char *)s->mapped + used;
    used += count[k] * element[k];
    if (padding(used) > s->mapped_bytes - used)
      return false;
    used += padding(used);
  }
#define SECTION(name, type) s->name = section[SECTION_##name], s->name##_count = count[SECTION_##name];
#include "core/output/structure/structure.def"
#undef SECTION
  return used == s->mapped_bytes;
}

cm_status cm_structure_open(int descriptor, cm_structure *s, cm_error *error)
{
  struct stat about;
  memset(s, 0, sizeof *s);
  if (fstat(descriptor, &about) != 0)
    return cm_fail_errno(error, errno, "cannot read", "the structure of a mapping");
  void *mapped = about.st_size > 0 ? mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
  if (mapped == MAP_FAILED)
    return cm_fail(error, CM_DAMAGED, "the structure of a mapping is empty, or cannot be read now");
  s->mapped = mapped;
  s->mapped_bytes = (size_t)about.st_size;
  if (lay_out(s) && fits(s))
    return CM_OK;
  cm_structure_clear(s);
  return cm_fail(error, CM_DAMAGED, "the structure of a mapping is damaged, or of another release");
}
