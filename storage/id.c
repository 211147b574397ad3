#include "storage/store.h"

#include <sodium.h>

void cm_store_id(char *id)
{
  unsigned char bytes[10];
  randombytes_buf(bytes, sizeof bytes);
  sodium_bin2hex(id, CM_ID_MAX, bytes, sizeof bytes);
}
