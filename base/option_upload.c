#include "base/option_upload.h"

bool cm_option_upload(const json_t *value, char id[CM_UPLOAD_ID_MAX])
{
  const char *upload = json_string_value(json_object_get(value, "upload"));
  const size_t length = upload != NULL ? strlen(upload) : 0;
  if (json_object_size(value) != 1 || length == 0 || length >= CM_UPLOAD_ID_MAX ||
      strspn(upload, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != length)
    return false;
  (void)snprintf(id, CM_UPLOAD_ID_MAX, "%s", upload);
  return true;
}

static cm_status read_upload(const char *option, const json_t *value, void *field, cm_error *error)
{
  return cm_option_upload(value, field) ? CM_OK : cm_option_refuse(error, option, "{\"upload\": ID}, a file that the server was sent");
}

static json_t *upload_schema(void)
{
  return json_pack("{s:s, s:[s], s:{s:{s:s}}, s:b}", "type", "object", "required", "upload", "properties", "upload", "type", "string",
                   "additionalProperties", false);
}

const cm_option_own cm_option_of_upload = {"FILE", read_upload, upload_schema};
