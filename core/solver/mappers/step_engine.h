/* The methods for objectives time, energy and edp (docs/explanation/step-time.md). */
#pragma once

#include "core/solver/mappers/engine.h"

extern const cm_engine cm_engine_time, cm_engine_energy, cm_engine_edp;
