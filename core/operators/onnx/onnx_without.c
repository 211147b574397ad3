/* In place of what reads and writes ONNX files, where the program is configured --without-onnx: all is refused. */
#include "core/operators/control.h"
#include "core/operators/onnx/onnx.h"

static cm_status refuse(cm_error *error)
{
  return cm_fail(error, CM_BAD_NETWORK,
                 "this program was built without ONNX models; to have them, install protobuf-c and ONNX's description of its format (Debian: "
                 "libprotobuf-c-dev, protobuf-c-compiler, libonnx-dev), and configure it without --without-onnx");
}

cm_status cm_onnx_read(CM_UNUSED const char *path, CM_UNUSED cm_run *run, CM_UNUSED cm_model **made, cm_error *error)
{
  return refuse(error);
}

cm_status cm_onnx_read_beside(const char *path, cm_run *run, cm_model **made, cm_error *error)
{
  return cm_onnx_read(path, run, made, error);
}

cm_status cm_onnx_write(CM_UNUSED const cm_model *model, CM_UNUSED const char *path, cm_error *error)
{
  return refuse(error);
}

/* Subgraphs are models inside a file. */
cm_status cm_model_unroll(CM_UNUSED cm_model *model, CM_UNUSED cm_run *run, cm_error *error)
{
  return refuse(error);
}
