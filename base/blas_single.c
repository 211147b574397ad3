/* For programs: OpenBLAS starts a thread a processor before main, takes memory for each, and where one cannot be started
 * (a small limit on address space) interrupts the process and spins. cm_gemm wants one thread, and the library asks the
 * scheduler how many processors it may use, once, while it is loaded: until then the answer is one.
 *
 * Not in libcoremap: a shared library has no way to run before another. */
#include <sched.h>
#include <stdbool.h>

static cpu_set_t allowed;
static bool narrowed;

/* Runs before the initialisers of all shared libraries. */
static void narrow(void)
{
  cpu_set_t one;
  size_t first = 0;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return;
  while (first < CPU_SETSIZE && !CPU_ISSET(first, &allowed))
    first++;
  if (first == CPU_SETSIZE)
    return;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  narrowed = sched_setaffinity(0, sizeof one, &one) == 0;
}

/* And this after them, before main. */
__attribute__((constructor)) static void widen(void)
{
  if (narrowed)
    (void)sched_setaffinity(0, sizeof allowed, &allowed);
}

__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = narrow;
