/* {"upload": ID} as the value of an option: a file that a server was sent. */
#pragma once

#include "base/option.h"

enum { CM_UPLOAD_ID_MAX = 64 };

/* Its id; false: the value is not of that form, and `id` stays. */
bool cm_option_upload(const json_t *value, char id[CM_UPLOAD_ID_MAX]);

/* How an option is read that is nothing else; its field is a char [CM_UPLOAD_ID_MAX]. */
extern const cm_option_own cm_option_of_upload;
