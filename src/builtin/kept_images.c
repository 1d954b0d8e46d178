#include "builtin/kept_images.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/stop.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define IMAGES_NAME "images" /* of each image a struct ys_crafted and its pixels, as they lie in memory */

enum { SHOWN = 100 }; /* at once */

/* The text of the last failure, for who keeps nothing more. */
static void give_up(struct ys_kept_images *kept)
{
    char *found = ys_path_join(kept->folder, YS_KEPT_FOUND);
    if (!kept->reason)
        kept->reason = ys_strdup(ys_error());
    if (kept->file)
        fclose(kept->file);
    kept->file = NULL;
    if (ys_fs_remove_tree(kept->folder) != YS_OK)
        unlink(found);
    ys_free(found);
}

static ys_status fail_to_write(const struct ys_kept_images *kept)
{
    return ys_fail(YS_EIO, "%s/" IMAGES_NAME ": %s", kept->folder, strerror(errno));
}

static ys_status copy(const char *from, const char *to)
{
    struct ys_buf bytes = {0};
    ys_status status = ys_fs_read(from, SIZE_MAX, &bytes);
    if (status == YS_OK)
        status = ys_fs_write(to, bytes.data, bytes.size);
    ys_buf_free(&bytes);
    return status;
}

static ys_status begin(struct ys_kept_images *kept, const char *graph, const char *weights)
{
    char *own_graph = ys_path_join(kept->folder, YS_KEPT_GRAPH), *images = ys_path_join(kept->folder, IMAGES_NAME),
         *own_weights = ys_path_join(kept->folder, YS_KEPT_WEIGHTS);
    ys_status status = ys_fs_make_dirs(kept->folder);
    if (status == YS_OK)
        status = copy(graph, own_graph);
    if (status == YS_OK && link(weights, own_weights) != 0)
        status = copy(weights, own_weights);
    if (status == YS_OK) {
        kept->file = fopen(images, "wbe");
        status = kept->file ? YS_OK : fail_to_write(kept);
    }
    ys_free(own_graph);
    ys_free(own_weights);
    ys_free(images);
    return status;
}

void ys_kept_images_begin(const char *folder, const char *graph, const char *weights, const int64_t *labels,
                          size_t pixels, struct ys_kept_images *kept)
{
    *kept = (struct ys_kept_images){.folder = ys_strdup(folder), .labels = labels, .pixels = pixels};
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is no room, and not the end */
    if (begin(kept, graph, weights) != YS_OK)
        give_up(kept);
}

ys_status ys_kept_images_add(void *of, size_t attack, size_t row, const float *image)
{
    struct ys_kept_images *kept = of;
    const struct ys_crafted crafted = {(int64_t)attack, (int64_t)row, kept->labels[row]};
    if (!kept->file)
        return YS_OK;
    if (fwrite(&crafted, sizeof crafted, 1, kept->file) != 1 ||
        fwrite(image, sizeof *image, kept->pixels, kept->file) != kept->pixels) {
        (void)fail_to_write(kept);
        give_up(kept);
    }
    return YS_OK;
}

void ys_kept_images_end(struct ys_kept_images *kept, const struct ys_robustness *found)
{
    char *path = kept->folder ? ys_path_join(kept->folder, YS_KEPT_FOUND) : NULL;
    FILE *file = kept->file;
    kept->file = NULL;
    if (file) {
        ys_json *json = found ? ys_record_json(&ys_robustness_record, found) : NULL;
        ys_status status = fclose(file) == 0 ? YS_OK : fail_to_write(kept);
        if (status == YS_OK && found)
            status = ys_json_write(path, json);
        if (status != YS_OK || !found)
            give_up(kept);
        ys_json_free(json);
    }
    ys_free(path);
    ys_free(kept->folder);
    kept->folder = NULL;
}

/* *count: those that were read, fewer at the end. */
static ys_status read_some(FILE *file, const char *path, size_t pixels, struct ys_crafted *crafted, float *images,
                           size_t *count)
{
    for (*count = 0; *count < SHOWN; ++*count) {
        const size_t got = fread(&crafted[*count], 1, sizeof *crafted, file);
        if (got == 0 && feof(file))
            return YS_OK;
        if (got != sizeof *crafted || fread(images + *count * pixels, sizeof *images, pixels, file) != pixels)
            return ys_fail(YS_EFORMAT, "%s: it ends within an image of %zu pixels", path, pixels);
    }
    return YS_OK;
}

ys_status ys_kept_images_show(const char *folder, struct ys_transfer *transfer)
{
    char *path = ys_path_join(folder, IMAGES_NAME);
    struct ys_crafted *crafted = ys_alloc(SHOWN, sizeof *crafted);
    float *images = ys_alloc(SHOWN, transfer->pixels * sizeof *images);
    FILE *file = fopen(path, "rbe");
    size_t count = SHOWN;
    ys_status status = !file                 ? ys_fail(YS_EIO, "%s: %s", path, strerror(errno))
                       : !crafted || !images ? ys_out_of_memory()
                                             : YS_OK;
    while (status == YS_OK && count == SHOWN) {
        status = ys_stop_signal() ? ys_stopped() : read_some(file, path, transfer->pixels, crafted, images, &count);
        if (status == YS_OK)
            status = ys_transfer_show(transfer, crafted, images, count);
    }
    if (file)
        fclose(file);
    ys_free(crafted);
    ys_free(images);
    ys_free(path);
    return status;
}

ys_status ys_kept_images_found(const char *folder, struct ys_robustness *found)
{
    char *path = ys_path_join(folder, YS_KEPT_FOUND);
    ys_json *json = NULL;
    ys_status status = ys_json_read(path, &json);
    if (status == YS_OK)
        status = ys_record_read(&ys_robustness_record, json, path, found);
    ys_json_free(json);
    ys_free(path);
    return status;
}
