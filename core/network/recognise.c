/* Happy path: a magic number says the format, or the first line of text does. What can fail: the bytes are of another
 * program's format, which is then named, or of none. docs/reference/network-formats.md states the rules. */
#include "core/network/recognise.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "core/network/formats/source.h"
#include "core/network/import_limits.h"

static uint32_t u32(const uint8_t *bytes)
{
  uint32_t value;
  memcpy(&value, bytes, sizeof value);
  return le32toh(value);
}

/* Why the header and the first hyperedge of what may be .snn make no sense, and where; "": they do. */
static cm_phrase no_snn(const uint8_t *bytes, size_t size, bool ended, size_t *where)
{
  *where = size;
  enum { HEAD = 8, ROW_HEAD = 8 };
  if (size < HEAD)
    return cm_say("it ends inside the header, at byte %zu", size);
  uint32_t neurons = u32(bytes), hyperedges = u32(bytes + 4), most = cm_import_limits_default().vertices_max;
  if (neurons > most) { /* as the magic numbers of others are when they are read so */
    *where = 0;
    return cm_say("it announces %u neurons; the limit is %u", neurons, most);
  }
  if (hyperedges == 0) {
    if (ended && size == HEAD)
      return (cm_phrase){.text = ""};
    *where = HEAD;
    return cm_say("bytes follow 0 hyperedges");
  }
  if (size < HEAD + ROW_HEAD)
    return cm_say("it ends inside the first of %u hyperedges, at byte %zu", hyperedges, size);
  uint32_t targets = u32(bytes + HEAD), source = u32(bytes + HEAD + 4);
  if (source >= neurons) {
    *where = HEAD + 4;
    return cm_say("its first hyperedge has source %u of %u neurons", source, neurons);
  }
  uint64_t rate_at = HEAD + ROW_HEAD + (uint64_t)targets * 4;
  if (ended && rate_at + 4 > size) {
    *where = HEAD + ROW_HEAD;
    return cm_say("the first hyperedge announces %u targets, and the file ends at byte %zu", targets, size);
  }
  const uint8_t *at = bytes + HEAD + ROW_HEAD, *end = bytes + size;
  for (uint32_t i = 0; i < targets && end - at >= 4; i++, at += 4)
    if (u32(at) >= neurons) {
      *where = (size_t)(at - bytes);
      return cm_say("its first hyperedge has target %u of %u neurons", u32(at), neurons);
    }
  if (rate_at + 4 <= size) {
    uint32_t bits = u32(bytes + rate_at);
    float rate;
    memcpy(&rate, &bits, sizeof rate);
    if (!isfinite(rate) || rate < 0) {
      *where = (size_t)rate_at;
      return cm_say("its first hyperedge has rate %g", (double)rate);
    }
  }
  return (cm_phrase){.text = ""};
}

bool cm_is_hdf5(const uint8_t *bytes, size_t size)
{
  static const uint8_t magic[] = "\x89HDF\r\n\x1a\n";
  return size >= sizeof magic - 1 && memcmp(bytes, magic, sizeof magic - 1) == 0;
}

static cm_status refuse_empty(cm_error *error)
{
  char formats[CM_FORMAT_NAMES_MAX];
  cm_fail(error, CM_BAD_NETWORK, "the file is empty; expected is one of: %s", cm_network_formats_about(formats));
  return cm_fail_at(error, "byte 0");
}

cm_status cm_recognise(cm_source *source, const cm_network_format *named, cm_memory *memory,
                       const cm_network_format **found, cm_error *error)
{
  size_t size = (size_t)(source->end - source->at);
  cm_reading_why(&source->reading, "its first bytes");
  if (size == 0)
    return refuse_empty(error);
  if (cm_is_hdf5(source->at, size))
    return cm_recognise_hdf5(source, memory, found, error);
  if (cm_is_numpy(source->at, size) || cm_is_topology(source->at, size)) {
    *found = &cm_network_formats[cm_is_numpy(source->at, size) ? CM_FORMAT_NUMPY : CM_FORMAT_TOPOLOGY];
    return CM_OK;
  }
  bool text = cm_is_text(source->at, size); /* an .snn of 60 neurons begins with a <, too */
  if (text && cm_is_xml(source->at, size))
    return cm_recognise_xml(source, found, error) == CM_OK ? CM_OK : cm_fail_at(error, "byte 0");
  if (cm_is_tar(source->at, size))
    return cm_recognise_zip(source, memory, found, error);
  if (!(text && cm_is_tuple_list(source->at, size)) && cm_refuse_foreign(source->at, size, false, error) != CM_OK)
    return cm_fail_at(error, "byte 0");
  if (cm_is_zip(source->at, size))
    return cm_recognise_zip(source, memory, found, error);
  size_t where = 0;
  char formats[CM_FORMAT_NAMES_MAX];
  cm_phrase why = {.text = ""};
  if (!text)
    why = no_snn(source->at, size, source->ended, &where);
  if (!text && why.text[0] == '\0') {
    *found = &cm_network_formats[CM_FORMAT_SNN];
    return CM_OK;
  }
  if (!(text && cm_is_tuple_list(source->at, size)) && cm_refuse_foreign(source->at, size, true, error) != CM_OK)
    return cm_fail_at(error, "byte 0");
  if (!text) {
    cm_fail(error, CM_BAD_NETWORK, "the file is of no known format (%s); if it is meant to be .snn, byte %zu: %s",
            cm_network_formats_about(formats), where, why.text);
    return cm_fail_at(error, "byte %zu", where);
  }
  cm_skip_byte_order_mark(source);
  return cm_text_format(source, named, memory, found, error);
}
