#include "framework/model_file.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "onnx/write.h"

#include <string.h>
#include <unistd.h>

ys_status ys_framework_model_file(const struct ys_framework *framework, ys_json *plan)
{
    if (!framework->reads_onnx)
        return YS_OK;
    bool is_double = strcmp(ys_json_get_text(plan, "precision", "f32"), "f64") == 0;
    char *path = ys_path_join(ys_json_get_text(plan, "folder", "."), "model.onnx");
    if (!path)
        return ys_out_of_memory();
    ys_status status = ys_onnx_convert(ys_json_get_text(plan, "graph", ""), ys_json_get_text(plan, "weights", ""),
                                       is_double ? YS_F64 : YS_F32, path);
    if (status == YS_OK)
        status = ys_json_set_string(plan, "onnx", path);
    if (status == YS_EUNSUPPORTED) { /* the adapter answers a plan without the file; the study goes on */
        ys_json_remove(plan, "onnx");
        ys_log_warn("%s: %s", framework->spec, ys_error());
        status = YS_OK;
    }
    ys_free(path);
    return status;
}

void ys_framework_model_file_remove(const ys_json *plan)
{
    const char *path = ys_json_get_text(plan, "onnx", NULL);
    if (path)
        unlink(path);
}
