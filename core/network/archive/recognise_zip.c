/* What a zip or tar archive is, by the names of its members. */
#include <stdio.h>
#include <string.h>

#include "core/network/archive/archive.h"
#include "core/network/formats/source.h"
#include "core/network/recognise.h"

#define MANIFEST "manifest.json"

bool cm_is_numpy(const uint8_t *bytes, size_t size)
{
  static const char magic[] = "\x93NUMPY";
  return size >= sizeof magic - 1 && memcmp(bytes, magic, sizeof magic - 1) == 0;
}

/* The manifest is the first member; of those that are stored the last, and the first is one of these of midnight, 1980-01-01. */
bool cm_is_topology(const uint8_t *bytes, size_t size)
{
  static const char *const first[] = {"edges/000000", "labels", "signs", "delays", "populations", "scenarios", "parents"};
  static const char midnight[] = "\0\0\x21\0";
  enum { METHOD_AT = 8, LENGTH_AT = 26, NAME_AT = 30 };
  if (size < NAME_AT || memcmp(bytes, "PK\3\4", 4) != 0)
    return false;
  const size_t left = size - NAME_AT, length = bytes[LENGTH_AT] | (size_t)bytes[LENGTH_AT + 1] << 8;
  if (left >= sizeof MANIFEST - 1 && memcmp(bytes + NAME_AT, MANIFEST, sizeof MANIFEST - 1) == 0)
    return true;
  bool known = false;
  for (size_t i = 0; i < sizeof first / sizeof *first; i++)
    known |= length == strlen(first[i]) && left >= length && memcmp(bytes + NAME_AT, first[i], length) == 0;
  return known && bytes[METHOD_AT] == 0 && memcmp(bytes + METHOD_AT + 2, midnight, 4) == 0;
}

/* Members that say what else an archive is. */
static const struct {
  const char *name;
  bool at_end; /* of a member's name; else its beginning */
  const char *what, *advice;
} members[] = {
  {"/data.pkl", true, "a PyTorch file",
   "write the network as NIR (snnTorch, Sinabs, Norse and Rockpool export it); this line converts one square weight: "
   "python3 -c \"import torch, numpy; numpy.save('net.npy', torch.load('FILE', weights_only=True)['NAME'].T.numpy())\""},
  {"[Content_Types].xml", false, "a Microsoft Office document", "save the sheet of synapses as csv, with a header source,target,weight"},
  {"mimetype", false, "an OpenDocument or EPUB file", "save the sheet of synapses as csv, with a header source,target,weight"},
  {"META-INF/", false, "a Java archive", "it holds no network"},
  {".onnx", true, "an archive with an ONNX model", "unpack it: operator-level models are compiled (kind compile, coremap compile)"},
};

static cm_status refuse(const cm_archive *archive, cm_error *error)
{
  char list[200] = "nothing";
  for (uint64_t i = 0; i < archive->count; i++) {
    const char *name = cm_archive_name(archive, i);
    for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
      size_t length = strlen(name), part = strlen(members[k].name);
      if (length >= part && memcmp(members[k].at_end ? name + length - part : name, members[k].name, part) == 0)
        return cm_refuse_as(members[k].what, members[k].advice, error);
    }
  }
  for (uint64_t i = 0, used = 0; i < archive->count && used < sizeof list; i++)
    used += (uint64_t)snprintf(list + used, sizeof list - used, "%s%.60s", i == 0 ? "" : ", ", cm_archive_name(archive, i));
  for (char *c = list; *c != '\0'; c++)
    *c = (unsigned char)*c < ' ' ? '?' : *c;
  return cm_refuse_as(cm_say("a %s archive (%s)", archive->zip != NULL ? "zip" : "tar", list).text,
                      "unpack it, and name the network in it; only gzip is unpacked on the way", error);
}

cm_status cm_recognise_zip(cm_source *source, cm_memory *memory, const cm_network_format **found, cm_error *error)
{
  const cm_import_limits limits = cm_import_limits_default();
  cm_archive archive;
  cm_run run;
  cm_run_init(&run);
  run.memory = memory;
  CM_TRY(cm_archive_open(&archive, source, &limits, &run, error));
  *found = archive.zip != NULL && zip_name_locate(archive.zip, MANIFEST, 0) >= 0 ? &cm_network_formats[CM_FORMAT_TOPOLOGY] : NULL;
  for (uint64_t i = 0; i < archive.count && *found == NULL; i++) {
    const char *name = cm_archive_name(&archive, i);
    if (archive.zip != NULL && cm_path_ends(name, strlen(name), ".npy"))
      *found = &cm_network_formats[CM_FORMAT_NUMPY];
    else if (cm_path_ends(name, strlen(name), ".h5"))
      *found = &cm_network_formats[CM_FORMAT_SONATA];
  }
  cm_status status = *found == NULL ? refuse(&archive, error) : CM_OK;
  cm_archive_close(&archive);
  return status != CM_OK ? cm_fail_at(error, "byte 0") : cm_source_rewind(source, error);
}
