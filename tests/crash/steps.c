/* Prints the steps of the schema, each ended by a NUL: what the folders of earlier releases are made by (tests/crash/formats.py). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/schema.h"

int main(void)
{
  for (int i = 0; i < cm_schema_version; i++)
    if (fwrite(cm_schema_steps[i], 1, strlen(cm_schema_steps[i]) + 1, stdout) == 0)
      return EXIT_FAILURE;
  return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
