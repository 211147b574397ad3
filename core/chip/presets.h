/* Presets of chips as the build embeds them. */
#pragma once

/* Presets as the build embeds them (presets.awk writes presets.c), ended by a NULL name. */
typedef struct cm_chip_preset {
  const char *name;
  const char *text;
} cm_chip_preset;
extern const cm_chip_preset cm_chip_preset_table[];
extern const char *const cm_chip_preset_names[];
