/* coremap: everything. */
#ifndef COREMAP_COREMAP_H
#define COREMAP_COREMAP_H

#include <coremap/arrays.h>
#include <coremap/check.h>
#include <coremap/client.h>
#include <coremap/compile.h>
#include <coremap/deploy.h>
#include <coremap/fabric.h>
#include <coremap/generate.h>
#include <coremap/map.h>
#include <coremap/options.h>
#include <coremap/partition.h>
#include <coremap/profile.h>
#include <coremap/program.h>
#include <coremap/routes.h>
#include <coremap/schedule.h>
#include <coremap/simulate.h>
#include <coremap/solve.h>
#include <coremap/tables.h>
#include <coremap/train.h>

#endif
