/* yardstick-feeder: turns files of images into rows, and rows into batches. A process of its own: what is in such files
 * is a stranger's work, and decoding it is no part of what a framework spends. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "feeder/batches.h"
#include "feeder/image.h"
#include "feeder/prepare.h"
#include "feeder/serve.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LIST_LIMIT ((size_t)4 << 30) /* bytes of all paths */
#define SIDE_LIMIT 16384             /* pixels of a row's side */

static const char help[] =
    "yardstick-feeder: decodes images and makes batches for yardstick\n"
    "\n"
    "  yardstick-feeder prepare --list FILE --out FILE --size CHANNELSxHEIGHTxWIDTH [--threads N]\n"
    "                                        the images whose paths are in FILE, each ended by a 0 byte, as bytes:\n"
    "                                        [n, channels, height, width]; a line \"ROW MESSAGE\" for each that "
    "cannot\n"
    "                                        be decoded\n"
    "  yardstick-feeder rows --list FILE --out FILE --size CHANNELSxHEIGHTxWIDTH --augment NAME\n"
    "                   [--seed N] [--epoch N] [--first ROW] [--count ROWS] [--half train|test] [--threads N]\n"
    "                                        rows of that list as training gets them in an epoch, or with --half test "
    "as\n"
    "                                        evaluation does: floats, [n, channels, height, width]\n"
    "  yardstick-feeder batches DATA ORDER AUGMENT SEED OUT\n"
    "                                        the batches of an order, as training gets them, as a prepared file; "
    "AUGMENT\n"
    "                                        may be none\n"
    "  yardstick-feeder serve                fills a ring of batches, as yardstick asks for it over YARDSTICK_FD\n"
    "  yardstick-feeder --version | --help\n";

struct options {
    const char *list, *out, *size, *threads;
    const char *augment, *seed, *epoch, *first, *count, *half; /* of rows alone */
};

static ys_status read_options(char **words, struct options *options)
{
    const struct {
        const char *name;
        const char **value;
    } known[] = {{"--list", &options->list},       {"--out", &options->out},         {"--size", &options->size},
                 {"--threads", &options->threads}, {"--augment", &options->augment}, {"--seed", &options->seed},
                 {"--epoch", &options->epoch},     {"--first", &options->first},     {"--count", &options->count},
                 {"--half", &options->half}};
    const size_t count = sizeof known / sizeof known[0];
    for (; *words; words += 2) {
        size_t i = 0;
        while (i < count && strcmp(*words, known[i].name) != 0)
            i++;
        if (i == count || !words[1])
            return ys_fail(YS_EINVAL, "%s: no such option, or its value is missing", *words);
        *known[i].value = words[1];
    }
    return options->list && options->out && options->size ? YS_OK
                                                          : ys_fail(YS_EINVAL, "--list, --out and --size are needed");
}

static ys_status read_size(const char *text, struct ys_feeder_preparation *p)
{
    char rest = 0;
    const bool is_read =
        sscanf(text, "%1dx%5" SCNd64 "x%5" SCNd64 "%c", &p->channels, &p->height, &p->width, &rest) == 3;
    const bool is_color = p->channels == 1 || p->channels == 3;
    if (is_read && is_color && p->height >= 1 && p->width >= 1 && p->height <= SIDE_LIMIT && p->width <= SIDE_LIMIT)
        return YS_OK;
    return ys_fail(YS_EINVAL, "--size %s: write 3x224x224: 1 or 3 channels, height and width up to %d", text,
                   SIDE_LIMIT);
}

static ys_status read_number(const char *text, const char *name, uint64_t *number)
{
    char *rest = NULL;
    if (!text)
        return YS_OK;
    errno = 0;
    *number = strtoull(text, &rest, 10);
    if (*text >= '0' && *text <= '9' && !*rest && errno == 0)
        return YS_OK;
    return ys_fail(YS_EINVAL, "%s %s: write a whole number from 0", name, text);
}

/* What `rows` says beside `prepare`; the paths are those of the whole list. */
static ys_status read_draw(const struct options *options, struct ys_feeder_preparation *p)
{
    uint64_t first = 0, count = UINT64_MAX;
    p->augmentation = ys_augmentation_find(options->augment);
    if (!p->augmentation)
        return ys_fail(YS_EINVAL, "--augment %s: write centre, flip, crop+flip, place, area or cifar",
                       options->augment);
    YS_TRY(read_number(options->seed, "--seed", &p->draw.seed));
    YS_TRY(read_number(options->epoch, "--epoch", &p->draw.epoch));
    YS_TRY(read_number(options->first, "--first", &first));
    YS_TRY(read_number(options->count, "--count", &count));
    if (options->half && strcmp(options->half, "train") != 0 && strcmp(options->half, "test") != 0)
        return ys_fail(YS_EINVAL, "--half %s: write train or test", options->half);
    if (first > p->count)
        return ys_fail(YS_EINVAL, "--first %llu: the list has %zu rows", (unsigned long long)first, p->count);
    p->draw.evaluates = options->half && strcmp(options->half, "test") == 0;
    p->draw.row = first;
    p->paths += first;
    p->count = p->count - first < count ? p->count - (size_t)first : (size_t)count;
    return YS_OK;
}

static int threads_of(const char *text)
{
    cpu_set_t allowed;
    const int asked = text ? atoi(text) : 0;
    if (asked >= 1 && asked <= 4096)
        return asked;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

/* Points into `list`. */
static ys_status split_list(const struct ys_buf *list, struct ys_feeder_preparation *p, const char ***paths)
{
    const char *text = ys_buf_text(list);
    for (size_t i = 0; i < list->size; i++)
        p->count += text[i] == '\0';
    *paths = ys_alloc(p->count, sizeof **paths);
    if (!*paths)
        return ys_out_of_memory();
    for (size_t i = 0; i < p->count; i++, text += strlen(text) + 1)
        (*paths)[i] = text;
    p->paths = *paths;
    return YS_OK;
}

/* Room on the disk is taken at once: later, where it is missing, the kernel can only end the process. */
static ys_status map_out(const char *path, size_t size, uint8_t **pixels)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return ys_fail(YS_EIO, "cannot write %s: %s", path, strerror(errno));
    int error = posix_fallocate(file, 0, (off_t)size);
    void *mapped = error ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    error = error ? error : errno;
    close(file);
    if (mapped == MAP_FAILED)
        return ys_fail(YS_EIO, "no room for %zu bytes of pixels in %s: %s", size, path, strerror(error));
    *pixels = mapped;
    return YS_OK;
}

static void say_bad(void *context, size_t row, const char *message)
{
    (void)context;
    printf("%zu ", row);
    for (; *message; message++)
        putchar(*message == '\n' || *message == '\r' ? '?' : *message);
    putchar('\n');
}

/* Bytes, or with `draws` floats that are drawn by lot. */
static ys_status make_rows(char **words, bool draws)
{
    struct options options = {0};
    struct ys_feeder_preparation p = {.on_bad = say_bad};
    struct ys_buf list = {0};
    const char **paths = NULL;
    uint8_t *pixels = NULL;
    YS_TRY(read_options(words, &options));
    YS_TRY(read_size(options.size, &p));
    if (draws != (options.augment != NULL))
        return ys_fail(YS_EINVAL, draws ? "rows needs --augment" : "prepare draws nothing: write rows --augment");
    p.threads = threads_of(options.threads);
    ys_status status = ys_fs_read(options.list, LIST_LIMIT, &list);
    if (status == YS_OK)
        status = split_list(&list, &p, &paths);
    if (status == YS_OK && draws)
        status = read_draw(&options, &p);
    const size_t value_bytes = draws ? sizeof(float) : 1;
    if (status == YS_OK && p.count > 0)
        status =
            map_out(options.out, p.count * (size_t)p.channels * (size_t)(p.height * p.width) * value_bytes, &pixels);
    if (status == YS_OK && p.count > 0)
        status = ys_feeder_prepare(&p, pixels);
    if (status == YS_OK && (fflush(stdout) != 0 || ferror(stdout)))
        status = ys_fail(YS_EIO, "cannot say which images are bad: %s", strerror(errno));
    ys_free(paths);
    ys_buf_free(&list);
    return status; /* what is mapped ends with the process */
}

static ys_status write_batches(int count, char **words)
{
    enum { DATA, ORDER, AUGMENT, SEED, OUT, WORDS };
    struct ys_batches *batches = NULL;
    if (count != WORDS)
        return ys_fail(YS_EINVAL, "batches needs DATA ORDER AUGMENT SEED OUT");
    struct ys_batches_asked asked = {.data = words[DATA], .order = words[ORDER]};
    if (strcmp(words[AUGMENT], "none") != 0)
        asked.augment = words[AUGMENT];
    YS_TRY(read_number(words[SEED], "SEED", &asked.seed));
    YS_TRY(ys_batches_open(&asked, &batches));
    ys_status status = ys_batches_write(batches, words[OUT]);
    ys_batches_close(batches);
    return status;
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "--help") == 0)
        return fputs(help, stdout) < 0;
    if (strcmp(word, "--version") == 0)
        return printf("yardstick-feeder %s, %s\n", YS_VERSION, ys_image_decoders()) < 0;
    const bool draws = strcmp(word, "rows") == 0, batches = strcmp(word, "batches") == 0;
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is then an error that can be said */
    if (strcmp(word, "serve") == 0)
        return ys_feeder_serve();
    if (!draws && !batches && strcmp(word, "prepare") != 0) {
        fprintf(stderr, "yardstick-feeder: write prepare, rows, batches, serve, --version or --help, not \"%s\"\n",
                word);
        return 2;
    }
    ys_status status = batches ? write_batches(argc - 2, argv + 2) : make_rows(argv + 2, draws);
    if (status == YS_OK)
        return 0;
    fprintf(stderr, "yardstick-feeder: %s\n", ys_error());
    return status == YS_EINVAL ? 2 : 1;
}
