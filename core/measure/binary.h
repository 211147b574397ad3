/* Binary files of what stands on cores and links; the stream keeps errors. docs/reference/mapping-formats.md describes them. */
#pragma once

#include <stdio.h>

#include "core/chip/chip.h"
#include "core/chip/router_window.h"

void cm_put_u32(FILE *stream, uint32_t value); /* little-endian, as all are */
void cm_put_f32(FILE *stream, double value);

/* Columns and rows from (x, y) on; along a torus they may go over the edge. */
typedef struct cm_binary_box {
  uint32_t x, y, columns, rows;
} cm_binary_box;

/* The head of a file of a grid, and what of the grid it holds. */
cm_binary_box cm_put_head(FILE *stream, const char *magic, uint32_t width, uint32_t height, cm_binary_box used);

/* Loads of links, load [cm_window_links]: of a grid the four of each router; of an interconnect from, to and load of each link. */
void cm_links_write_binary(const cm_chip *chip, const cm_window *window, const double *load, FILE *stream);
