#include "core/measure/haste.h"

#include <math.h>

#include "core/measure/measure.h"

cm_status cm_measure_haste(const cm_mapped *mapped, cm_run *run, cm_haste *found, cm_error *error)
{
  cm_metrics metrics;
  cm_metrics_detail detail;
  double longest = -1;
  CM_TRY(cm_metrics_compute(mapped, run, &metrics, &detail, error));
  *found = (cm_haste){.step_ns = metrics.step_ns, .saturation = metrics.saturation_load};
  for (uint32_t p = 0; p < mapped->parts; p++) {
    double ns = cm_core_ns(&mapped->chip->costs, detail.core[p].receive_ns, detail.core[p].send_ns);
    if (ns > longest)
      found->synapses = detail.core[p].synapses;
    longest = fmax(longest, ns);
  }
  cm_metrics_detail_free(&detail);
  return CM_OK;
}
