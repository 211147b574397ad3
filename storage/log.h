/* The server's own log: standard error, which a service manager keeps. */
#ifndef CM_STORAGE_LOG_H
#define CM_STORAGE_LOG_H

/* One line, "coremapd: ..."; whole also when several threads log. */
void cm_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
