/* The database schema as a list of steps; private to storage. */
#ifndef CM_STORAGE_SCHEMA_H
#define CM_STORAGE_SCHEMA_H

extern const char *const cm_schema_steps[];
extern const int cm_schema_version;

#endif
