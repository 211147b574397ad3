/* The database schema as a list of steps; private to storage. */
#pragma once

extern const char *const cm_schema_steps[];
extern const int cm_schema_version;
