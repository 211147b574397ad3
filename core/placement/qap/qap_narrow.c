#define INTEGER int32_t
#define KERNEL cm_qap_narrow
#include "core/placement/qap/qap_kernel.h"
