#include "base/process/steering.h"

#include "base/mem.h"

#include <fnmatch.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

#define THREADS "how many threads: that is `threads` of the job"
#define PLACES  "on which CPUs threads run: that are `cpus` and `threads` of the job"
#define FORMAT  "the format of numbers: that is `precision` of the job"
#define LIBRARY "a numerical library"

/* Exports show their values to others, so a beginning that other programs share is spelled out further: TF_ is
 * Terraform's too (TF_CLI_CONFIG_FILE, TF_TOKEN_...), PYTHON_, CUDA_ and NVIDIA_ those of images (PYTHON_SHA256). */
const struct ys_steering ys_steerings[] = {
    {"ONEDNN_MAX_CPU_ISA", YS_STEERING_EVERYWHERE, "the instructions that oneDNN and the built-in engine compute with"},
    {"DNNL_MAX_CPU_ISA", YS_STEERING_EVERYWHERE, "the same, where that is not set"},
    {"ONEDNN_DEFAULT_FPMATH_MODE", YS_STEERING_RESET, FORMAT},
    {"DNNL_DEFAULT_FPMATH_MODE", YS_STEERING_RESET, FORMAT},
    {"TF_SET_ONEDNN_FPMATH_MODE", YS_STEERING_RESET, FORMAT},
    {"NVIDIA_TF32_OVERRIDE", YS_STEERING_RESET, FORMAT},
    {"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", YS_STEERING_RESET, FORMAT},
    {"TF_*AUTO_MIXED_PRECISION*", YS_STEERING_RESET, FORMAT},
    {"JAX_ENABLE_X64", YS_STEERING_RESET, FORMAT},
    {"JAX_DEFAULT_DTYPE_BITS", YS_STEERING_RESET, FORMAT},
    {"JAX_DEFAULT_MATMUL_PRECISION", YS_STEERING_RESET, FORMAT},
    {"JAX_NUMPY_DTYPE_PROMOTION", YS_STEERING_RESET, FORMAT},
    {"CHAINER_DTYPE", YS_STEERING_RESET, FORMAT},
    {"TF_FP16_*", YS_STEERING_RESET, FORMAT},
    {"DEFAULT_FLOAT", YS_STEERING_RESET, FORMAT},
    {"OMP_PROC_BIND", YS_STEERING_RESET, PLACES},
    {"OMP_PLACES", YS_STEERING_RESET, PLACES},
    {"GOMP_CPU_AFFINITY", YS_STEERING_RESET, PLACES},
    {"KMP_AFFINITY", YS_STEERING_RESET, PLACES},
    {"KMP_HW_SUBSET", YS_STEERING_RESET, PLACES},
    {"KMP_PLACE_THREADS", YS_STEERING_RESET, PLACES},
    {"OPENBLAS_MAIN_FREE", YS_STEERING_RESET, PLACES},
    {"GOTOBLAS_MAIN_FREE", YS_STEERING_RESET, PLACES},
    {"OMP_WAIT_POLICY", YS_STEERING_EVERYWHERE, "how threads of OpenMP wait: time, and nothing else"},
    {"*MP_STACKSIZE", YS_STEERING_RESET, "the stack of threads of OpenMP, which cannot start with too small a one"},
    {"OMP_DISPLAY_*", YS_STEERING_KEPT, "what OpenMP says of itself"},
    {"OMP_*", YS_STEERING_RESET, THREADS},
    {"GOMP_*", YS_STEERING_KEPT, "how threads of GNU OpenMP wait"},
    {"KMP_*THREAD*", YS_STEERING_RESET, THREADS},
    {"KMP_*DYNAMIC*", YS_STEERING_RESET, THREADS},
    {"KMP_*", YS_STEERING_KEPT, "how threads of Intel's OpenMP wait"},
    {"MKL_*NUM_THREADS", YS_STEERING_RESET, THREADS},
    {"MKL_*DYNAMIC", YS_STEERING_RESET, THREADS},
    {"MKL_*", YS_STEERING_KEPT, LIBRARY ": instructions and paths of MKL"},
    {"OPENBLAS_*NUM_THREADS", YS_STEERING_RESET, THREADS},
    {"OPENBLAS_*", YS_STEERING_KEPT, LIBRARY ": instructions of OpenBLAS"},
    {"GOTO_NUM_THREADS", YS_STEERING_RESET, THREADS},
    {"BLIS_*", YS_STEERING_RESET, THREADS},
    {"VECLIB_*", YS_STEERING_RESET, THREADS},
    {"NUMEXPR_*", YS_STEERING_RESET, THREADS},
    {"RAYON_NUM_THREADS", YS_STEERING_RESET, THREADS},
    {"NUMBA_NUM_THREADS", YS_STEERING_RESET, THREADS},
    {"NVPL_*", YS_STEERING_KEPT, LIBRARY},
    {"ARMPL_*", YS_STEERING_KEPT, LIBRARY},
    {"FLEXIBLAS*", YS_STEERING_KEPT, LIBRARY ": which one is BLAS"},
    {"TBB_*", YS_STEERING_KEPT, "threads of TBB"},
    {"ONEDNN_*", YS_STEERING_KEPT, LIBRARY ": what oneDNN says and keeps"},
    {"DNNL_*", YS_STEERING_KEPT, LIBRARY ": what oneDNN says and keeps"},
    {"MKLDNN_*", YS_STEERING_KEPT, LIBRARY ": what oneDNN says and keeps"},
    {"NPY_*", YS_STEERING_KEPT, LIBRARY ": instructions of NumPy"},
    {"ATEN_*", YS_STEERING_KEPT, "PyTorch"},
    {"TORCH*", YS_STEERING_KEPT, "PyTorch"},
    {"PYTORCH_*", YS_STEERING_KEPT, "PyTorch"},
    {"TF_NUM_*", YS_STEERING_RESET, THREADS},
    {"TF_OVERRIDE_*", YS_STEERING_RESET, THREADS},
    {"TF2_*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_CPP_*", YS_STEERING_KEPT, "what TensorFlow says"},
    {"TF_AUTOTUNE_*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_CPU_*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_CUDA_*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_CUDNN_*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_DETERMINISTIC_OPS", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_DISABLE_*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_EAGER_*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_ENABLE_*", YS_STEERING_KEPT, "TensorFlow: oneDNN among others"},
    {"TF_FORCE_*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_GPU_*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_GRAPPLER_*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_KERAS*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_LAYOUT_*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_MKL_*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_MLIR_*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_ONEDNN_*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_RUN_*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_USE_*", YS_STEERING_KEPT, "TensorFlow"},
    {"TF_FUNCTION_JIT_*", YS_STEERING_KEPT, "XLA: what it compiles, and how"},
    {"TF_XLA_*", YS_STEERING_KEPT, "XLA: what it compiles, and how"},
    {"XLA_*", YS_STEERING_KEPT, "XLA: what it compiles, and how"},
    {"TRITON_*", YS_STEERING_KEPT, "Triton: code that is generated"},
    {"PJRT_NPROC", YS_STEERING_RESET, THREADS},
    {"JAX_*", YS_STEERING_KEPT, "JAX"},
    {"KERAS_BACKEND", YS_STEERING_RESET, "which engine Keras works by: that is an option of the job"},
    {"KERAS_*", YS_STEERING_KEPT, "Keras"},
    {"CHAINER_*", YS_STEERING_KEPT, "Chainer"},
    {"MXNET_*", YS_STEERING_KEPT, "MXNet"},
    {"FLAGS_*", YS_STEERING_KEPT, "Paddle"},
    {"THEANO*", YS_STEERING_KEPT, "Theano"},
    {"NCCL_*", YS_STEERING_KEPT, "how ranks exchange"},
    {"GLOO_*", YS_STEERING_KEPT, "how ranks exchange"},
    {"UCX_*", YS_STEERING_KEPT, "how ranks exchange"},
    {"OMPI_MCA_*", YS_STEERING_KEPT, "how ranks exchange"},
    {"MPICH_*", YS_STEERING_KEPT, "how ranks exchange"},
    {"I_MPI_*", YS_STEERING_KEPT, "how ranks exchange"},
    {"CUDA_VISIBLE_DEVICES", YS_STEERING_KEPT, "which GPUs there are"},
    {"CUDA_LAUNCH_BLOCKING", YS_STEERING_KEPT, "whether work of a GPU is waited for"},
    {"CUDA_DEVICE_*", YS_STEERING_KEPT, "GPUs"},
    {"CUDA_MODULE_LOADING", YS_STEERING_KEPT, "when code of a GPU is loaded"},
    {"CUDA_CACHE_*", YS_STEERING_KEPT, "code of a GPU that is kept"},
    {"CUBLAS_*", YS_STEERING_KEPT, LIBRARY},
    {"CUDNN_*", YS_STEERING_KEPT, LIBRARY},
    {"MALLOC_*", YS_STEERING_KEPT, "the allocator"},
    {"TCMALLOC_*", YS_STEERING_KEPT, "the allocator"},
    {"MIMALLOC_*", YS_STEERING_KEPT, "the allocator"},
    {"GLIBC_TUNABLES", YS_STEERING_KEPT, "the C library: allocator, instructions of its functions"},
    {"LD_PRELOAD", YS_STEERING_KEPT, "which libraries are loaded"},
    {"LD_LIBRARY_PATH", YS_STEERING_KEPT, "which libraries are loaded"},
    {"LD_AUDIT", YS_STEERING_KEPT, "which libraries are loaded"},
    {"LD_BIND_NOW", YS_STEERING_KEPT, "when functions of libraries are looked for"},
    {"LD_HWCAP_MASK", YS_STEERING_KEPT, "which of its forms of a library the loader takes"},
    {"LD_DEBUG*", YS_STEERING_KEPT, "what the loader says"},
    {"PYTHON_CPU_COUNT", YS_STEERING_RESET, THREADS},
    {"PYTHON_GIL", YS_STEERING_KEPT, "the interpreter"},
    {"PYTHON_JIT", YS_STEERING_KEPT, "the interpreter"},
    {"PYTHON[!_]*", YS_STEERING_RESET, "the interpreter, and which modules it finds"},
    {"LUA_PATH*", YS_STEERING_RESET, "the interpreter, and which modules it finds"},
    {"LUA_CPATH*", YS_STEERING_RESET, "the interpreter, and which modules it finds"},
    {"LUA_INIT*", YS_STEERING_RESET, "the interpreter, and which modules it finds"},
    {"LANG", YS_STEERING_RESET, "how numbers and texts are written"},
    {"LC_*", YS_STEERING_RESET, "how numbers and texts are written"},
    {0},
};

const struct ys_steering *ys_steering_of(const char *variable)
{
    char name[128]; /* no row fits a longer one by more than its beginning, which is here */
    snprintf(name, sizeof name, "%.*s", (int)strcspn(variable, "="), variable);
    for (const struct ys_steering *row = ys_steerings; row->names; row++)
        if (fnmatch(row->names, name, 0) == 0)
            return row;
    return NULL;
}

bool ys_steering_passes(const char *variable, enum ys_steered_program program)
{
    const struct ys_steering *row = program == YS_PROGRAM_OTHER ? NULL : ys_steering_of(variable);
    return !row || row->rule == YS_STEERING_EVERYWHERE ||
           (row->rule == YS_STEERING_KEPT && program == YS_PROGRAM_MEASURED);
}

static void put(const char **merged, size_t *count, const char *variable)
{
    const size_t length = strcspn(variable, "=") + 1;
    size_t i = 0;
    while (i < *count && strncmp(merged[i], variable, length) != 0)
        i++;
    merged[i] = variable;
    *count += i == *count;
}

const char **ys_surroundings(enum ys_steered_program program, const char *const *const *lists)
{
    size_t capacity = 1, count = 0;
    for (size_t i = 0; environ && environ[i]; i++)
        capacity++;
    for (size_t l = 0; lists[l]; l++)
        for (size_t i = 0; lists[l][i]; i++)
            capacity++;
    const char **merged = ys_alloc(capacity, sizeof *merged);
    for (size_t i = 0; merged && environ && environ[i]; i++)
        if (ys_steering_passes(environ[i], program))
            put(merged, &count, environ[i]);
    for (size_t l = 0; merged && lists[l]; l++)
        for (size_t i = 0; lists[l][i]; i++)
            put(merged, &count, lists[l][i]);
    return merged;
}
