/* Kinds of cores: classes of a chip's cores with limits of their own, and the labels (names or models of populations) that may
 * run on them. Kind 0 are the cores of no class, which have the chip's own limits and take every label; kind k is class
 * k - 1. */
#pragma once

#include "core/chip/chip.h"

enum { CM_KINDS_MAX = 64 }; /* bits of a word: a chip file has fewer, constraints split them */

/* Kinds, 1 where the chip has no classes. O(1). */
static inline uint32_t cm_chip_kinds(const cm_chip *chip) { return chip->class_count + 1; }

/* The kind of a core. O(1). */
static inline uint32_t cm_chip_kind_of(const cm_chip *chip, uint32_t core)
{
  return chip->class_of == NULL ? 0 : chip->class_of[core];
}

/* Whether cores of a chip differ, so that neurons are given out to kinds of them first; those of no chip do not. O(1). */
static inline bool cm_cores_differ(const cm_chip *chip)
{
  return chip != NULL && chip->class_count > 0;
}

/* What a core of a kind holds at most. O(1). */
static inline const cm_limits *cm_chip_kind_limits(const cm_chip *chip, uint32_t kind)
{
  return kind == 0 || !chip->classes[kind - 1].own_limits ? &chip->limits : &chip->classes[kind - 1].limits;
}

static inline const cm_limits *cm_chip_core_limits(const cm_chip *chip, uint32_t core)
{
  return cm_chip_kind_limits(chip, cm_chip_kind_of(chip, core));
}

/* How a kind is called in messages: a class by its name; cores of no class "other". */
const char *cm_chip_kind_name(const cm_chip *chip, uint32_t kind);

/* Whether a population with such a name, of such a model, may run on cores of a kind. O(labels of the class). */
bool cm_chip_kind_takes(const cm_chip *chip, uint32_t kind, const char *name, const char *model);

/* Kinds whose cores only neurons that constraints pin may use, as bits. O(kinds). */
uint64_t cm_chip_pinned_kinds(const cm_chip *chip);

/* The classes as a list of a chip file; NULL where there are none, and when out of memory. */
json_t *cm_classes_json(const cm_chip *chip);
