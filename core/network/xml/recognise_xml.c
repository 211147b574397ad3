/* What an XML file is, by its outermost element. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "core/network/formats/source.h"
#include "core/network/recognise.h"

/* Where the first `<` stands, behind a byte order mark and blanks; `size` when something else does. */
static size_t first_bracket(const uint8_t *bytes, size_t size)
{
  size_t at = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (at < size && (bytes[at] == ' ' || (bytes[at] >= '\t' && bytes[at] <= '\r')))
    at++;
  return at < size && bytes[at] == '<' ? at : size;
}

bool cm_is_xml(const uint8_t *bytes, size_t size)
{
  return first_bracket(bytes, size) < size;
}

/* Behind a declaration, a comment or a document type, which begins at `at`. */
static size_t skip(const uint8_t *bytes, size_t size, size_t at)
{
  const char *text = (const char *)bytes + at, *end = NULL;
  size_t left = size - at;
  if (left >= 4 && memcmp(text, "<!--", 4) == 0)
    end = memmem(text, left, "-->", 3);
  else if (left >= 2 && text[1] == '?')
    end = memmem(text, left, "?>", 2);
  else {
    int open = 0;
    for (size_t i = 0; i < left && end == NULL; i++) {
      open += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
      if (text[i] == '>' && open <= 0)
        return at + i + 1;
    }
  }
  return end == NULL ? size : at + (size_t)(end - text) + (text[1] == '?' ? 2 : 3);
}

static const struct {
  const char *name, *what, *advice;
} elements[] = {
  {"html", "HTML", "it holds no network"},
  {"svg", "an SVG picture", "it holds no network"},
  {"neuroml", "NeuroML", "simulate or export it with a tool that writes SONATA edges or a csv of source,target,weight "
                         "(NetPyNE, pyNeuroML)"},
};

cm_status cm_recognise_xml(cm_source *source, const cm_network_format **found, cm_error *error)
{
  size_t size = (size_t)(source->end - source->at), at = first_bracket(source->at, size), length = 0;
  static const char html[] = "<!doctype html";
  char name[60] = "";
  while (at + 1 < size && source->at[at] == '<' && (source->at[at + 1] == '?' || source->at[at + 1] == '!')) {
    if (size - at >= sizeof html - 1 && strncasecmp((const char *)source->at + at, html, sizeof html - 1) == 0)
      return cm_refuse_as(elements[0].what, elements[0].advice, error);
    at = skip(source->at, size, at);
    while (at < size && isspace(source->at[at]))
      at++;
  }
  for (size_t i = at + 1; at < size && i < size && length + 1 < sizeof name; i++) {
    int c = source->at[i];
    if (c == ':')
      length = 0;
    else if (isalnum(c) || c == '_' || c == '-' || c == '.')
      name[length++] = (char)c;
    else
      break;
  }
  name[length] = '\0';
  *found = strcmp(name, "graphml") == 0 ? &cm_network_formats[CM_FORMAT_GRAPHML]
           : strcmp(name, "gexf") == 0  ? &cm_network_formats[CM_FORMAT_GEXF]
                                        : NULL;
  if (*found != NULL)
    return CM_OK;
  for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
    if (strcasecmp(elements[i].name, name) == 0)
      return cm_refuse_as(elements[i].what, elements[i].advice, error);
  return cm_refuse_as(cm_say("XML%s%s%s", length > 0 ? " (its outermost element is " : "", name, length > 0 ? ")" : "").text,
                      "of XML, GraphML and GEXF are read; or export its connections as csv, source,target,weight a line", error);
}
