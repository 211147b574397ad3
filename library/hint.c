/* How a network is to be read: what options say beside its bytes. */
#include "library/internal.h"

static cm_status read_hint(json_t *options, library_hint *hint, cm_error *error)
{
  const json_t *id = json_object_get(options, "id");
  if (id != NULL && !json_is_boolean(id))
    return cm_option_refuse(error, "id", "true or false");
  hint->id = !json_is_false(id);
  (void)json_object_del(options, "id");
  const json_t *confined = json_object_get(options, "confined");
  if (confined != NULL && !json_is_boolean(confined))
    return cm_option_refuse(error, "confined", "true or false");
  hint->confined = json_is_true(confined);
  (void)json_object_del(options, "confined");
  CM_TRY(library_take_text(options, "name", hint->text[CM_READ_OPTIONS + 1], error));
  if (hint->text[CM_READ_OPTIONS + 1][0] != '\0')
    hint->hint.name = hint->text[CM_READ_OPTIONS + 1];
  char (*text)[CM_PATH_MAX] = hint->text;
  CM_TRY(library_take_text(options, "format", text[CM_READ_OPTIONS], error));
  hint->hint.format = text[CM_READ_OPTIONS][0] != '\0' ? text[CM_READ_OPTIONS] : NULL;
  for (int i = 0; i < CM_READ_OPTIONS; i++) {
    const bool given = json_object_get(options, cm_read_options[i].name) != NULL;
    CM_TRY(library_take_text(options, cm_read_options[i].name, text[i], error));
    hint->hint.option[i] = text[i];
    if (given && !cm_read_options[i].file && cm_read_option_check((cm_read_option_id)i, text[i], error) != CM_OK)
      return error->status;
  }
  return library_nothing_left(options, "reading a network", error);
}

cm_status library_hint_read(json_t *options, const char *name, library_hint *hint, cm_error *error)
{
  library_hint made = {.hint.name = name, .text = calloc(CM_READ_OPTIONS + 2, sizeof *made.text)};
  CM_TRY(cm_whole(made.text != NULL, "options", error));
  cm_status status = read_hint(options, &made, error);
  CM_END(status, *hint = made, library_hint_clear(&made));
}

void library_hint_clear(library_hint *hint)
{
  free(hint->text);
}
