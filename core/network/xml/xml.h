/* XML of strangers, element by element, by expat: nothing outside the file is read, entities of the file's own are refused.
 * In a confined process (cm_network_needs_confinement). */
#pragma once

#include <expat.h>

#include "base/status.h"
#include "core/network/formats/source.h"

enum { CM_XML_TEXT_MAX = 4096, CM_XML_DEPTH_MAX = 64 };

typedef struct cm_xml cm_xml;

/* What is called for each element: `name` without its prefix, `attributes` name, value, ..., NULL. */
struct cm_xml {
  const char *format; /* for messages: "GraphML" */
  void *user;
  cm_status (*start)(cm_xml *xml, const char *name, const char *const *attributes, cm_error *error);
  cm_status (*end)(cm_xml *xml, const char *name, cm_error *error);
  char text[CM_XML_TEXT_MAX]; /* of the innermost element, once it ends: without blanks around it, cut to what fits */
  size_t text_length;
  unsigned depth;     /* of elements that are open */
  XML_Parser parser;  /* NULL: what is read is no XML, and `line` is where */
  unsigned long line;
  cm_error *error;
  cm_status status;
};

/* Reads a source to its end; the first four members of `xml` are set. CM_BAD_NETWORK with the line: not well formed, entities,
 * nested too deep. */
cm_status cm_xml_read(cm_xml *xml, cm_source *source, cm_error *error);

/* The value of an attribute, whatever its prefix; NULL: there is none. */
const char *cm_xml_attribute(const char *const *attributes, const char *name);

/* CM_BAD_NETWORK with format and line. */
cm_status cm_xml_bad(const cm_xml *xml, const char *what, cm_error *error);
