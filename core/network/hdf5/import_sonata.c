/* SONATA: a file of edges, or a circuit in an archive. */
#include "core/network/hdf5/sonata.h"
#include "core/network/formats/entries.h"
#include "core/network/formats/readers.h"
#include "core/network/formats/source.h"
#include "core/network/recognise.h"

/* A file of edges alone. */
static cm_status import_edges(sonata *s, cm_source *source, cm_error *error)
{
  CM_TRY(cm_h5_open(&s->h5, source, s->limits, s->run, "SONATA edges", error));
  cm_status status = sonata_survey(s, error);
  CM_THEN(status, sonata_leave_out(s, error));
  CM_THEN(status, sonata_number(s, error));
  CM_THEN(status, sonata_read(s, error));
  cm_h5_close(&s->h5);
  return status == CM_OK ? cm_entries_close(&s->entries, s->made, error) : status;
}

cm_status cm_import_sonata(const cm_reading_of *in, cm_error *error)
{
  sonata s;
  const cm_source *source = in->source;
  const size_t size = (size_t)(source->end - source->at);
  const bool archive = cm_is_zip(source->at, size) || cm_is_tar(source->at, size);
  cm_status status = sonata_open(&s, in, error);
  CM_THEN(status, archive ? sonata_circuit(&s, in->source, error) : import_edges(&s, in->source, error));
  sonata_close(&s);
  return status;
}
