/* Happy path: windows of the source go to expat, which calls back. What can fail: the XML, the reader's own refusals (the parser
 * is stopped, the reason kept), tokens that grow without end. */
#include "core/network/xml/xml.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/network/formats/source.h"

/* expat reads a token again with every piece of it, and keeps it. */
enum { TOKEN_MAX = 1 << 20 };

cm_status cm_xml_bad(const cm_xml *xml, const char *what, cm_error *error)
{
  unsigned long line = xml->parser != NULL ? XML_GetCurrentLineNumber(xml->parser) : xml->line;
  cm_fail(error, CM_BAD_NETWORK, "%s, line %lu: %s", xml->format, line, what);
  return cm_fail_at(error, "line %lu", line);
}

static const char *local_name(const char *name)
{
  const char *colon = strrchr(name, ':');
  return colon != NULL ? colon + 1 : name;
}

const char *cm_xml_attribute(const char *const *attributes, const char *name)
{
  for (; attributes[0] != NULL; attributes += 2)
    if (strcmp(local_name(attributes[0]), name) == 0)
      return attributes[1];
  return NULL;
}

static void stop(cm_xml *xml, cm_status status)
{
  if (xml->status == CM_OK)
    xml->status = status;
  (void)XML_StopParser(xml->parser, XML_FALSE);
}

static void XMLCALL on_start(void *user, const XML_Char *name, const XML_Char **attributes)
{
  cm_xml *xml = user;
  if (xml->status != CM_OK) /* a stopped parser may still call */
    return;
  xml->text_length = 0;
  cm_status status = ++xml->depth > CM_XML_DEPTH_MAX ? cm_xml_bad(xml, "elements are nested more than 64 deep", xml->error)
                                                     : xml->start(xml, local_name(name), (const char *const *)attributes,
                                                                  xml->error);
  if (status != CM_OK)
    stop(xml, status);
}

static void XMLCALL on_end(void *user, const XML_Char *name)
{
  cm_xml *xml = user;
  size_t begin = 0;
  if (xml->status != CM_OK)
    return;
  while (xml->text_length > 0 && isspace((unsigned char)xml->text[xml->text_length - 1]))
    xml->text_length--;
  while (begin < xml->text_length && isspace((unsigned char)xml->text[begin]))
    begin++;
  memmove(xml->text, xml->text + begin, xml->text_length - begin);
  xml->text[xml->text_length - begin] = '\0';
  xml->depth--;
  cm_status status = xml->end(xml, local_name(name), xml->error);
  xml->text_length = 0;
  if (status != CM_OK)
    stop(xml, status);
}

static void XMLCALL on_text(void *user, const XML_Char *text, int length)
{
  cm_xml *xml = user;
  size_t room = sizeof xml->text - 1 - xml->text_length, taken = (size_t)length < room ? (size_t)length : room;
  memcpy(xml->text + xml->text_length, text, taken);
  xml->text_length += taken;
}

static void XMLCALL on_entity(void *user, const XML_Char *name, int parameter, const XML_Char *value, int length,
                              const XML_Char *base, const XML_Char *system, const XML_Char *public, const XML_Char *notation)
{
  cm_xml *xml = user;
  (void)parameter, (void)value, (void)length, (void)base, (void)system, (void)public, (void)notation;
  char what[160];
  (void)snprintf(what, sizeof what, "it declares the entity '%.40s'; files with entities of their own are not read", name);
  stop(xml, cm_xml_bad(xml, what, xml->error));
}

static void XMLCALL on_skipped(void *user, const XML_Char *name, int parameter)
{
  cm_xml *xml = user;
  char what[120];
  if (parameter != 0)
    return;
  (void)snprintf(what, sizeof what, "the entity '%.40s' is not known", name);
  stop(xml, cm_xml_bad(xml, what, xml->error));
}

static cm_status parse(cm_xml *xml, cm_source *source, cm_error *error)
{
  for (bool last = false; !last;) {
    CM_TRY_IF(source->at == source->end && !source->ended, cm_source_fill(source, error));
    last = source->ended;
    int length = (int)(source->end - source->at); /* at most a window */
    enum XML_Status parsed = XML_Parse(xml->parser, (const char *)source->at, length, last);
    if (xml->status != CM_OK)
      return xml->status;
    if (parsed != XML_STATUS_OK) {
      enum XML_Error why = XML_GetErrorCode(xml->parser);
      if (why == XML_ERROR_NO_MEMORY)
        return cm_whole(false, source->path, error);
      return cm_xml_bad(xml, cm_say("the XML is damaged or cut off: %s", XML_ErrorString(why)).text, error);
    }
    source->at = source->end;
    XML_Index done = XML_GetCurrentByteIndex(xml->parser);
    if (!last && (done < 0 ? source->plain_bytes > TOKEN_MAX : source->plain_bytes - (uint64_t)done > TOKEN_MAX))
      return cm_xml_bad(xml, "a tag has more than a million bytes", error);
  }
  return CM_OK;
}

cm_status cm_xml_read(cm_xml *xml, cm_source *source, cm_error *error)
{
  xml->parser = XML_ParserCreate(NULL);
  if (xml->parser == NULL)
    return cm_whole(false, source->path, error);
  xml->error = error;
  xml->status = CM_OK;
  XML_SetUserData(xml->parser, xml);
  XML_SetElementHandler(xml->parser, on_start, on_end);
  XML_SetCharacterDataHandler(xml->parser, on_text);
  XML_SetEntityDeclHandler(xml->parser, on_entity);
  XML_SetSkippedEntityHandler(xml->parser, on_skipped);
  cm_status status = parse(xml, source, error);
  XML_ParserFree(xml->parser);
  xml->parser = NULL;
  return status;
}
