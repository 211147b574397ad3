/* Whole numbers as people write them on command lines, in configuration files and in options. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reads decimal digits, all of the text. False, and `value` untouched: anything else, or more than 64 bits. */
bool cm_whole_parse(const char *text, uint64_t *value);

/* Reads bytes: "1000", "512M", "1.5G", "2GiB"; K, M, G, T are powers of 1024. False, and `value` untouched: anything
 * else, or more than 64 bits. */
bool cm_bytes_parse(const char *text, uint64_t *value);
