#include "storage/clock.h"

#include <time.h>


static double read_clock(clockid_t which)
{
  struct timespec now;
  clock_gettime(which, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double real_wall(void)
{
  return read_clock(CLOCK_REALTIME);
}

static double real_steady(void)
{
  return read_clock(CLOCK_BOOTTIME);
}

static cm_clock source = {real_wall, real_steady};

void cm_clock_replace(const cm_clock *clock)
{
  source = clock != NULL ? *clock : (cm_clock){real_wall, real_steady};
}

double cm_store_time(void)
{
  return source.wall();
}

double cm_clock_steady(void)
{
  return source.steady();
}
