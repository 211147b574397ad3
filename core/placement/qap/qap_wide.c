#define INTEGER int64_t
#define KERNEL cm_qap_wide
#include "core/placement/qap/qap_kernel.h"
