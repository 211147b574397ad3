/* Files of other programs, by the bytes they begin with: named for what they are, with what to do. */
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "core/network/recognise.h"

typedef enum advice_id {
  EXPORT, UNPACK, RESAVE, MODEL, OTHER_INPUT, NO_NETWORK, MATLAB, MATLAB_HDF5, PARQUET, FEATHER, SQLITE,
  PICKLE, TORCH, R_DATA, PROGRAM, LFS, ADVICES
} advice_id;

/* What is certain in a line to copy is written out; FILE, NAME and TABLE are the reader's. */
#define MATRIX(array) "python3 -c \"import numpy, scipy.io, scipy.sparse as s; scipy.io.mmwrite('net.mtx', s.coo_matrix(" array "))\""
#define TABLE(frame) "python3 -c \"import pandas; pandas." frame ".to_csv('net.csv', index=False)\""

static const char *const advices[ADVICES] = {
  [EXPORT] = "export its connections as csv, source,target,weight a line, or as MatrixMarket",
  [UNPACK] = "unpack it first; only gzip is unpacked on the way",
  [RESAVE] = "save it as UTF-8",
  [MODEL] = "operator-level models are compiled (kind compile, coremap compile), not mapped",
  [OTHER_INPUT] = ("name the network itself here; this line converts a table of synapses, as NEST writes it: "
                   TABLE("read_json('FILE')")),
  [NO_NETWORK] = "it holds no network",
  [LFS] = "git lfs pull fetches it",
  [PROGRAM] = "coremap run and coremap disassemble take it",
  [MATLAB] = "this line converts a square matrix: " MATRIX("scipy.io.loadmat('FILE')['NAME']"),
  [MATLAB_HDF5] = ("this line converts a square matrix: "
                   "python3 -c \"import h5py, scipy.io, scipy.sparse as s; "
                   "scipy.io.mmwrite('net.mtx', s.coo_matrix(h5py.File('FILE')['NAME'][()].T))\""),
  [PARQUET] = "this line converts a table of synapses: " TABLE("read_parquet('FILE')"),
  [FEATHER] = "this line converts a table of synapses: " TABLE("read_feather('FILE')"),
  [PICKLE] = "this line converts a data frame of synapses, and runs what the pickle says: " TABLE("read_pickle('FILE')"),
  [SQLITE] = "this line converts a table of synapses: sqlite3 -header -csv FILE 'select pre, post, weight from TABLE' > net.csv",
  [TORCH] = ("write the network as NIR (snnTorch, Sinabs, Norse and Rockpool export it); this line converts one square weight: "
             "python3 -c \"import torch, numpy; numpy.save('net.npy', torch.load('FILE', weights_only=True)['NAME'].T.numpy())\""),
  [R_DATA] = "this line converts a data frame of synapses: Rscript -e \"write.csv(readRDS('FILE'), 'net.csv', row.names=FALSE)\"",
};

/* The magic number `bytes` stands at `offset`. Text is compared without regard to case. */
typedef struct foreign {
  const char *bytes;
  size_t size, offset;
  const char *name;
  advice_id advice;
  bool text;
} foreign;

#define MAGIC(bytes, offset, name, advice) {bytes, sizeof bytes - 1, offset, name, advice, false}
#define TEXT(bytes, name, advice) {bytes, sizeof bytes - 1, 0, name, advice, true}

/* The weakest magic numbers could as well be the numbers that .snn begins with; they are looked at when it is not that. */
static const foreign table[] = {
  MAGIC("MATLAB 7.3 MAT-file", 0, "a MATLAB 7.3 file", MATLAB_HDF5),
  MAGIC("MATLAB 5.0 MAT-file", 0, "a MATLAB file", MATLAB),
  MAGIC("\x80\x02\x8a\nl\xfc\x9c" "F\xf9 j\xa8P\x19", 0, "a PyTorch file of before 1.6", TORCH),
  MAGIC("CMPROG\r\n", 0, "a program for a chip (coremap compile)", PROGRAM),
  MAGIC("PAR1", 0, "a Parquet file", PARQUET),
  MAGIC("ARROW1", 0, "an Arrow file", FEATHER),
  MAGIC("FEA1", 0, "a Feather file", FEATHER),
  MAGIC("SQLite format 3", 0, "an SQLite database", SQLITE),
  MAGIC("\x80\x02", 0, "a Python pickle", PICKLE),
  MAGIC("\x80\x03", 0, "a Python pickle", PICKLE),
  MAGIC("\x80\x04\x95", 0, "a Python pickle", PICKLE),
  MAGIC("\x80\x05\x95", 0, "a Python pickle", PICKLE),
  MAGIC("RDX2\n", 0, "an R data file", R_DATA),
  MAGIC("RDX3\n", 0, "an R data file", R_DATA),
  MAGIC("\xfd" "7zXZ\0", 0, "an xz archive", UNPACK),
  MAGIC("\x28\xb5\x2f\xfd", 0, "a zstd archive", UNPACK),
  MAGIC("BZh", 0, "a bzip2 archive", UNPACK),
  MAGIC("7z\xbc\xaf\x27\x1c", 0, "a 7-Zip archive", UNPACK),
  MAGIC("\x04\x22\x4d\x18", 0, "an lz4 archive", UNPACK),
  MAGIC("Rar!\x1a\x07", 0, "a RAR archive", UNPACK),
  MAGIC("\x1f\x9d", 0, "a compress (.Z) archive", UNPACK),
  MAGIC("%PDF-", 0, "a PDF document", NO_NETWORK),
  MAGIC("%!PS", 0, "a PostScript document", NO_NETWORK),
  MAGIC("\x89PNG\r\n\x1a\n", 0, "a PNG picture", NO_NETWORK),
  MAGIC("\xff\xd8\xff", 0, "a JPEG picture", NO_NETWORK),
  MAGIC("GIF8", 0, "a GIF picture", NO_NETWORK),
  MAGIC("\x7f" "ELF", 0, "a program (ELF)", NO_NETWORK),
  MAGIC("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0, "a Microsoft Office document", EXPORT),
  MAGIC("\xff\xfe", 0, "text in UTF-16", RESAVE),
  MAGIC("\xfe\xff", 0, "text in UTF-16", RESAVE),
  TEXT("version https://git-lfs.github.com", "a pointer of Git LFS, which stands for the file", LFS),
  TEXT("[", "JSON", OTHER_INPUT),
  TEXT("digraph ", "a Graphviz graph", EXPORT),
  TEXT("graph {", "a Graphviz graph", EXPORT),
  TEXT("graph G {", "a Graphviz graph", EXPORT),
};

cm_status cm_refuse_as(const char *what, const char *advice, cm_error *error)
{
  char formats[CM_FORMAT_NAMES_MAX];
  return cm_fail(error, CM_BAD_NETWORK, "the file is %s, not a network that can be read (%s): %s", what,
                 cm_network_formats_about(formats), advice);
}

cm_status cm_refuse_json(cm_error *error)
{
  return cm_refuse_as("JSON", advices[OTHER_INPUT], error);
}

/* MATLAB 4: type, rows, columns, imaginary or not, length of the name, the name. */
static bool is_matlab_4(const uint8_t *bytes, size_t size)
{
  uint32_t head[5];
  enum { NAME_MAX_4 = 64, TYPE_MAX = 4052 };
  if (size <= sizeof head)
    return false;
  memcpy(head, bytes, sizeof head);
  for (int i = 0; i < 5; i++)
    head[i] = le32toh(head[i]);
  return head[0] < TYPE_MAX && head[0] % 10 <= 2 && head[3] <= 1 && head[4] > 1 && head[4] < NAME_MAX_4 && size >= sizeof head + head[4] &&
         bytes[sizeof head + head[4] - 1] == 0 && memchr(bytes + sizeof head, 0, head[4] - 1) == NULL;
}

/* Protobuf of a ModelProto: ir_version, then its producer, graph or opset. */
static bool is_onnx(const uint8_t *bytes, size_t size)
{
  return size >= 3 && bytes[0] == 0x08 && bytes[1] > 0 && bytes[1] < 32 &&
         (bytes[2] == 0x12 || bytes[2] == 0x3a || bytes[2] == 0x42);
}

cm_status cm_refuse_foreign(const uint8_t *bytes, size_t size, bool weak, cm_error *error)
{
  enum { WEAK = 5 };
  bool text = cm_is_text(bytes, size);
  size_t begin = 0; /* of text */
  if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
    begin = 3;
  while (begin < size && (bytes[begin] == ' ' || (bytes[begin] >= '\t' && bytes[begin] <= '\r')))
    begin++;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const foreign *f = &table[i];
    size_t at = f->text ? begin : f->offset;
    if (size < at || size - at < f->size || (f->text && !text) || (!f->text && (f->size < WEAK) != weak))
      continue;
    if (f->text ? strncasecmp((const char *)bytes + at, f->bytes, f->size) == 0 : memcmp(bytes + at, f->bytes, f->size) == 0)
      return cm_refuse_as(f->name, advices[f->advice], error);
  }
  if (weak && !text && is_matlab_4(bytes, size))
    return cm_refuse_as("a MATLAB 4 file", advices[MATLAB], error);
  if (weak && is_onnx(bytes, size))
    return cm_refuse_as("an ONNX model", advices[MODEL], error);
  return CM_OK;
}
