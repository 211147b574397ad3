/* Orders for qsort and bsearch. */
#ifndef CM_BASE_ORDER_H
#define CM_BASE_ORDER_H

/* Of uint32_t, ascending. */
int cm_ascending(const void *a, const void *b);

/* Of double, ascending; none of them NaN. */
int cm_ascending_long(const void *a, const void *b); /* uint64_t */
int cm_ascending_real(const void *a, const void *b);

#endif
