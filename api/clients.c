#include "api/clients.h"

#include <netinet/in.h>

void cm_address_key(const struct sockaddr *address, unsigned char key[CM_ADDRESS_KEY])
{
  memset(key, 0, CM_ADDRESS_KEY);
  if (address->sa_family == AF_INET) {
    memcpy(key, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
    key[7] = 4;
  } else if (address->sa_family == AF_INET6)
    memcpy(key, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 8);
  else
    key[7] = 1; /* all who come by unix sockets */
}

cm_client *cm_client_find(cm_client *all, const unsigned char key[CM_ADDRESS_KEY])
{
  cm_client *found;
  HASH_FIND(hh, all, key, CM_ADDRESS_KEY, found);
  return found;
}

cm_client *cm_client_enter(cm_client **all, const unsigned char key[CM_ADDRESS_KEY])
{
  cm_client *c = cm_client_find(*all, key);
  if (c == NULL && (c = calloc(1, sizeof *c)) != NULL) {
    memcpy(c->key, key, CM_ADDRESS_KEY);
    HASH_ADD(hh, *all, key, CM_ADDRESS_KEY, c);
    if (c->hh.tbl == NULL) {
      free(c);
      c = NULL;
    }
  }
  if (c != NULL)
    c->connections++;
  return c;
}

void cm_client_leave(cm_client **all, cm_client *c)
{
  if (c != NULL && --c->connections == 0) {
    HASH_DEL(*all, c);
    free(c);
  }
}
