#include "probe/mapped_libraries.h"
#include "base/mem.h"
#include "probe/procfs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first pattern that a name contains decides; '^' ties it to the start of the name. */
static const struct {
    const char *pattern, *kind, *note;
} KNOWN[] = {
    {"^libtorch_cpu.", "framework",
     "libtorch_cpu holds oneDNN, and in PyTorch's own packages MKL, without files of their own"},
    {"^libtorch", "framework", NULL},
    {"^libc10", "framework", NULL},
    {"^libtensorflow", "framework", "TensorFlow's libraries hold Eigen and oneDNN without files of their own"},
    {"^_pywrap_tensorflow", "framework", "TensorFlow's libraries hold Eigen and oneDNN without files of their own"},
    {"^xla_extension", "framework", "jaxlib holds XLA, Eigen and oneDNN without files of their own"},
    {"^libjax", "framework", "jaxlib holds XLA, Eigen and oneDNN without files of their own"},
    {"^libmxnet", "framework",
     "libmxnet holds oneDNN, and in MXNet's own packages OpenBLAS, without files of their own"},
    {"^libpaddle", "framework", "Paddle's libraries hold Eigen and may hold oneDNN without files of their own"},
    {"^libonnxruntime", "framework",
     "ONNX Runtime holds its own kernels (MLAS) and may hold oneDNN without files of their own"},
    {"cublas", "device", NULL},
    {"^libcud", "device", NULL},
    {"^libcusolver", "device", NULL},
    {"^libcusparse", "device", NULL},
    {"^libcufft", "device", NULL},
    {"^libnvrtc", "device", NULL},
    {"^libamdhip", "device", NULL},
    {"mkldnn", "primitives", NULL},
    {"dnnl", "primitives", NULL},
    {"onednn", "primitives", NULL},
    {"xnnpack", "primitives", NULL},
    {"blas", "blas", NULL},
    {"libmkl", "blas", NULL},
    {"^libblis", "blas", NULL},
    {"^libatlas", "blas", NULL},
    {"^liblapack", "blas", NULL},
    {"^libgomp", "openmp", NULL},
    {"iomp5", "openmp", NULL},
    {"^libomp.", "openmp", NULL},
    {"^libomp-", "openmp", NULL},
    {"^libtbb", "threads", NULL},
    {"^libpthreadpool", "threads", NULL},
    {"jemalloc", "allocator", NULL},
    {"tcmalloc", "allocator", NULL},
    {"mimalloc", "allocator", NULL},
    {"^libnccl", "communication", NULL},
    {"^libmpi", "communication", NULL},
    {"^libgloo", "communication", NULL},
    {"^libyardstick", "framework", NULL},
};

static int known_index(const char *file_name)
{
    if (!strstr(file_name, ".so"))
        return -1;
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        const char *pattern = KNOWN[i].pattern;
        if (pattern[0] == '^' ? strncmp(file_name, pattern + 1, strlen(pattern + 1)) == 0
                              : strstr(file_name, pattern) != NULL)
            return (int)i;
    }
    return -1;
}

const char *ys_maps_kind(const char *file_name)
{
    int index = known_index(file_name);
    return index < 0 ? NULL : KNOWN[index].kind;
}

const char *ys_maps_note(const char *file_name)
{
    int index = known_index(file_name);
    return index < 0 ? NULL : KNOWN[index].note;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/** The file name at the end of a line of /proc/PID/maps, cut out of it in place; NULL when the line has no path. */
static char *file_of_line(char *line)
{
    char *path = strchr(line, '/');
    if (!path)
        return NULL;
    char *deleted = strstr(path, " (deleted)");
    if (deleted && !deleted[strlen(" (deleted)")])
        *deleted = 0;
    return strrchr(path, '/') + 1;
}

static void add_sorted(const char **names, size_t count, ys_json *libraries)
{
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++)
        if (!ys_json_lists(libraries, names[i]))
            ys_json_append(libraries, ys_json_string(names[i]));
}

ys_status ys_maps_libraries(const char *root, pid_t pid, ys_json *libraries)
{
    char path[YS_PROCFS_PATH];
    struct ys_buf text = {0};
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    ys_status status = ys_procfs_read_all(root, path, &text);
    const char *names[256], *last = "";
    size_t count = 0;
    for (char *line = text.data, *next; status == YS_OK && line && *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        const char *name = file_of_line(line);
        if (!name || strcmp(name, last) == 0 || !ys_maps_kind(name) || count == sizeof names / sizeof names[0])
            continue;
        names[count++] = last = name; /* the parts of one library lie side by side */
    }
    if (status == YS_OK)
        add_sorted(names, count, libraries);
    ys_buf_free(&text);
    return status;
}
