/* What a file is, by its bytes. */
#pragma once

#include "core/network/formats/table.h"
#include "core/network/formats/source.h"

/* The format of what stands at the beginning of `source`, which is left there (behind a byte order mark). `named` is
 * what the file's name says, for texts that could be several formats; NULL: nothing. CM_BAD_NETWORK names what else it
 * is, as far as is known. Reads the file at most three times. */
cm_status cm_recognise(cm_source *source, const cm_network_format *named, cm_memory *memory,
                       const cm_network_format **found, cm_error *error);

/* The same for text: its first words, its name's ending, or the shape of its rows. Two formats that it could be are both named
 * (CM_BAD_NETWORK), with what says which (recognise_text.c). */
cm_status cm_text_format(cm_source *source, const cm_network_format *named, cm_memory *memory,
                         const cm_network_format **found, cm_error *error);

/* METIS graph or hMETIS hypergraph; *found NULL: neither. */
cm_status cm_recognise_metis(cm_source *source, cm_memory *memory, const cm_network_format **found, cm_error *error);

/* Whether the bytes begin as an HDF5 file does; and which format such a file is: opens it with libhdf5. */
bool cm_is_hdf5(const uint8_t *bytes, size_t size);
cm_status cm_recognise_hdf5(cm_source *source, cm_memory *memory, const cm_network_format **found, cm_error *error);

/* Whether the bytes begin as an array of NumPy does; as a tar; as a zip; as a topology file of ours does, which is a zip too. */
bool cm_is_numpy(const uint8_t *bytes, size_t size);
bool cm_is_tar(const uint8_t *bytes, size_t size);
bool cm_is_zip(const uint8_t *bytes, size_t size);
bool cm_is_topology(const uint8_t *bytes, size_t size);

/* Which format a tar is, or a zip that does not begin as ours: opens it. CM_BAD_NETWORK: it holds no network. */
cm_status cm_recognise_zip(cm_source *source, cm_memory *memory, const cm_network_format **found, cm_error *error);

/* Whether the bytes begin as XML does; and which format it is, by its outermost element. CM_BAD_NETWORK: none. */
bool cm_is_xml(const uint8_t *bytes, size_t size);
cm_status cm_recognise_xml(cm_source *source, const cm_network_format **found, cm_error *error);

/* CM_BAD_NETWORK: the file is `what`; `advice` says what to do. */
cm_status cm_refuse_as(const char *what, const char *advice, cm_error *error);

/* CM_BAD_NETWORK: JSON that is no network. */
cm_status cm_refuse_json(cm_error *error);

void cm_skip_byte_order_mark(cm_source *source);

/* CM_BAD_NETWORK, with what to do, when the bytes begin as files of other programs do (PDF, xz); else CM_OK.
 * `weak`: looks at magic numbers of less than five bytes, else at the longer ones; at text either way. */
cm_status cm_refuse_foreign(const uint8_t *bytes, size_t size, bool weak, cm_error *error);

/* Whether bytes begin like a list of pairs as Python prints it: "[(" or "[[". */
bool cm_is_tuple_list(const uint8_t *bytes, size_t size);
