/* A graph and its weights as one ONNX file, for inference: docs/onnx.md says what each operator becomes.
 *
 * Operator set 19, IR version 9. The input keeps its name, type and shape, the batch being the symbolic dimension "N";
 * values and parameters keep their names. Source: onnx.proto and the operators' pages at onnx.ai. */
#ifndef YS_ONNX_WRITE_ONNX_WRITE_H
#define YS_ONNX_WRITE_ONNX_WRITE_H

#include "base/stored/safetensors.h"
#include "graph/fold.h"
#include "graph/scales.h"

#define YS_ONNX_VERSION                                                                                                \
    2 /* raise it when the same graph gives another file: proofs that read one are then made anew                      \
       */

/** Writes `graph` with the float32 values of `weights` to `path`, atomically. `dtype` is YS_F32 or YS_F64: the type of
 * weights, constants and values in the file. YS_EUNSUPPORTED: it would take 2 GiB or more, or a name stands for two
 * things that ONNX does not keep apart; YS_ENOTFOUND and YS_EFORMAT: `weights` has not what the graph asks for; YS_EIO.
 */
ys_status ys_onnx_write(const struct ys_graph *graph, const struct ys_safetensors *weights, enum ys_dtype dtype,
                        const char *path) YS_MUST_CHECK;
/** The same from the files of a plan. */
ys_status ys_onnx_convert(const char *graph_path, const char *weights_path, enum ys_dtype dtype,
                          const char *path) YS_MUST_CHECK;

/** A folded network as one QDQ file: QuantizeLinear and DequantizeLinear around what quant/quant_plan.h says is
 * computed in integers (rule static), DynamicQuantizeLinear in front of each product and ConvInteger or MatMulInteger
 * (dynamic), or weights of signed bytes behind DequantizeLinear (weights). Parameters keep their names, values too; a
 * quantised output is called as what its integers stand for. Errors as above, and those of ys_quant_plan_make() and
 * ys_quant_plan_check(). */
ys_status ys_onnx_write_quantised(const struct ys_folded *network, const struct ys_scales *scales,
                                  const char *path) YS_MUST_CHECK;
/** The same from the files of a plan. */
ys_status ys_onnx_convert_quantised(const char *graph_path, const char *weights_path, const char *scales_path,
                                    const char *path) YS_MUST_CHECK;

#endif
