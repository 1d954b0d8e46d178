#include "framework/network_file.h"

#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "framework/converter.h"
#include "onnx/write/onnx_write.h"

#include <unistd.h>

ys_status ys_framework_model_file(const struct ys_framework *framework, struct ys_plan *plan)
{
    if (plan->stored)
        return YS_OK;
    if (framework->converter && !plan->quantise)
        return ys_converter_convert(framework->converter, plan);
    if (!framework->reads_onnx)
        return plan->quantise && framework->quantiser ? ys_converter_convert(framework->quantiser, plan) : YS_OK;
    char *path = ys_path_join(plan->folder, "model.onnx");
    ys_status status = plan->scales
                           ? ys_onnx_convert_quantised(plan->graph, plan->weights, plan->scales, path)
                           : ys_onnx_convert(plan->graph, plan->weights, ys_format_of(plan->precision)->dtype, path);
    ys_free(plan->onnx);
    plan->onnx = status == YS_OK ? path : NULL;
    if (status == YS_OK)
        return plan->quantise && framework->quantiser ? ys_converter_convert(framework->quantiser, plan) : YS_OK;
    ys_free(path);
    if (status != YS_EUNSUPPORTED)
        return status;
    ys_log_warn("%s: %s", framework->spec, ys_error()); /* the adapter answers a plan without the file */
    return YS_OK;
}

void ys_framework_model_file_remove(const struct ys_plan *plan)
{
    if (plan->onnx)
        unlink(plan->onnx);
    if (plan->converted && plan->converted->path)
        unlink(plan->converted->path);
}
