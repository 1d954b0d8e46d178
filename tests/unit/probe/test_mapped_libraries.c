#include "probe/mapped_libraries.h"
#include "machine.h"

static void libraries_are_known_by_their_names(void)
{
    CHECK_TEXT(ys_maps_kind("libopenblas.so.0"), "blas");
    CHECK_TEXT(ys_maps_kind("libscipy_openblas64_-8fb3d286.so"), "blas");
    CHECK_TEXT(ys_maps_kind("libblas.so.3.11.0"), "blas");
    CHECK_TEXT(ys_maps_kind("libmkl_core.so.2"), "blas");
    CHECK_TEXT(ys_maps_kind("libblis.so.4"), "blas");
    CHECK_TEXT(ys_maps_kind("libgomp-a34b3233.so.1.0.0"), "openmp");
    CHECK_TEXT(ys_maps_kind("libiomp5.so"), "openmp");
    CHECK_TEXT(ys_maps_kind("libomp.so.5"), "openmp");
    CHECK_TEXT(ys_maps_kind("libdnnl.so.2"), "primitives");
    CHECK_TEXT(ys_maps_kind("libmkldnn.so"), "primitives");
    CHECK_TEXT(ys_maps_kind("libcublasLt.so.12"), "device");
    CHECK_TEXT(ys_maps_kind("libcudart.so.12"), "device");
    CHECK_TEXT(ys_maps_kind("libtorch_cpu.so"), "framework");
}

static void other_files_are_not(void)
{
    CHECK(ys_maps_kind("libc.so.6") == NULL);
    CHECK(ys_maps_kind("libcompression.so") == NULL); /* holds "omp" */
    CHECK(ys_maps_kind("blas-notes.txt") == NULL);
    CHECK(ys_maps_kind("") == NULL);
}

static void what_hides_inside_is_said(void)
{
    CHECK_HAS(ys_maps_note("libtorch_cpu.so"), "MKL");
    CHECK(ys_maps_note("libtorch_python.so") == NULL);
    CHECK(ys_maps_note("libopenblas.so.0") == NULL);
}

static void each_library_is_listed_once_in_order(void)
{
    ys_json *libraries = ys_json_array();
    const char *root = machine_new();
    machine_file("/proc/7/maps", "55d0-55d1 r--p 00000000 fe:00 1 /usr/bin/python3.11\n"
                                 "7f00-7f01 r--p 00000000 fe:00 2 /opt/my env/libopenblas.so.0\n"
                                 "7f01-7f02 r-xp 00001000 fe:00 2 /opt/my env/libopenblas.so.0\n"
                                 "7f02-7f03 rw-p 00000000 00:00 0 \n"
                                 "7f03-7f04 r-xp 00000000 fe:00 3 /usr/lib/libgomp.so.1 (deleted)\n"
                                 "7f04-7f05 r-xp 00000000 fe:00 3 /usr/lib/libc.so.6\n"
                                 "7f05-7f06 rw-p 00000000 fe:00 2 /opt/my env/libopenblas.so.0\n"
                                 "7ffd-7ffe rw-p 00000000 00:00 0 [stack]\n");
    CHECK_INT(ys_maps_libraries(root, 7, libraries), YS_OK);
    CHECK_INT(ys_maps_libraries(root, 7, libraries), YS_OK); /* a second process of the same libraries adds nothing */
    CHECK_INT(ys_json_size(libraries), 2);
    CHECK_TEXT(ys_json_text(ys_json_at(libraries, 0), NULL), "libgomp.so.1");
    CHECK_TEXT(ys_json_text(ys_json_at(libraries, 1), NULL), "libopenblas.so.0");
    ys_json_free(libraries);
}

static void a_process_that_is_gone_is_told(void)
{
    ys_json *libraries = ys_json_array();
    CHECK_INT(ys_maps_libraries(machine_new(), 7, libraries), YS_ENOTFOUND);
    ys_json_free(libraries);
}

static void our_own_maps_are_readable(void)
{
    ys_json *libraries = ys_json_array();
    CHECK_INT(ys_maps_libraries("", getpid(), libraries), YS_OK);
    for (size_t i = 0; i < ys_json_size(libraries); i++)
        CHECK(ys_maps_kind(ys_json_text(ys_json_at(libraries, i), "")) != NULL);
    ys_json_free(libraries);
}

TAP_MAIN(TAP_CASE(libraries_are_known_by_their_names), TAP_CASE(other_files_are_not),
         TAP_CASE(what_hides_inside_is_said), TAP_CASE(each_library_is_listed_once_in_order),
         TAP_CASE(a_process_that_is_gone_is_told), TAP_CASE(our_own_maps_are_readable))
