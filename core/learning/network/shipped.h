/* The bytes of the policy file that ships with the program, made at build time; inside this room only. */
#ifndef CM_LEARNING_NETWORK_SHIPPED_H
#define CM_LEARNING_NETWORK_SHIPPED_H

#include <stddef.h>

extern const unsigned char cm_shipped_policy[];
extern const size_t cm_shipped_policy_size;

#endif
