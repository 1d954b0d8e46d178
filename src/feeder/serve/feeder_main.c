/* yardstick-feeder: turns files of images into rows, and rows into batches. A process of its own: what is in such files
 * is a stranger's work, and decoding it is no part of what a framework spends. */
#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "data/listed_images.h"
#include "feeder/batches.h"
#include "feeder/draw_photos.h"
#include "feeder/image.h"
#include "feeder/image_rows.h"
#include "feeder/serve/feeder_protocol.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
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
    "  yardstick-feeder check --list FILE --out FILE [--threads N]\n"
    "                                        decodes each of those images and keeps a SHA-256 of its file, 32 bytes; "
    "lines\n"
    "                                        of those that cannot be decoded as above\n"
    "  yardstick-feeder rows --list FILE --out FILE --size CHANNELSxHEIGHTxWIDTH --augment NAME\n"
    "                   [--seed N] [--epoch N] [--first ROW] [--count ROWS] [--half train|test] [--threads N]\n"
    "                                        rows of that list as training gets them in an epoch, or with --half test "
    "as\n"
    "                                        evaluation does: floats, [n, channels, height, width]\n"
    "  yardstick-feeder batches --data FILE --out FILE [--order FILE] [--augment NAME] [--seed N] [--crop SIDE]\n"
    "                   [--dtype uint8|float32] [--decode full|reduced] [--half train|test]\n"
    "                                        the batches of an order as training gets them, or without one every row,\n"
    "                                        as a prepared file\n"
    "  yardstick-feeder draw --out FOLDER --size CHANNELSxHEIGHTxWIDTH --count N [--classes N]\n"
    "                                        a folder of N drawn JPEG images to train on, and a tenth to test on, of "
    "10\n"
    "                                        classes or as many as are said\n"
    "  yardstick-feeder serve                fills a ring of batches, as yardstick asks for it over YARDSTICK_FD\n"
    "  yardstick-feeder --version | --help\n";

struct feeder_options {
    const char *list, *out, *size, *threads;
    const char *augment, *seed, *epoch, *first, *count, *half; /* of rows */
    const char *data, *order, *crop, *dtype, *decode;          /* of batches */
    const char *classes;                                       /* of draw */
};

static ys_status read_options(char **words, struct feeder_options *options)
{
    const struct {
        const char *name;
        const char **value;
    } known[] = {{"--list", &options->list},       {"--out", &options->out},         {"--size", &options->size},
                 {"--threads", &options->threads}, {"--augment", &options->augment}, {"--seed", &options->seed},
                 {"--epoch", &options->epoch},     {"--first", &options->first},     {"--count", &options->count},
                 {"--half", &options->half},       {"--data", &options->data},       {"--order", &options->order},
                 {"--crop", &options->crop},       {"--dtype", &options->dtype},     {"--decode", &options->decode},
                 {"--classes", &options->classes}};
    const size_t count = sizeof known / sizeof known[0];
    for (; *words; words += 2) {
        size_t i = 0;
        while (i < count && strcmp(*words, known[i].name) != 0)
            i++;
        if (i == count || !words[1])
            return ys_fail(YS_EINVAL, "%s: no such option, or its value is missing", *words);
        *known[i].value = words[1];
    }
    return YS_OK;
}

static ys_status need(const char *value, const char *name)
{
    return value ? YS_OK : ys_fail(YS_EINVAL, "%s is needed", name);
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

static ys_status read_augment(const char *name, const struct ys_augmentation **augmentation)
{
    *augmentation = ys_augmentation_find(name);
    return *augmentation
               ? YS_OK
               : ys_fail(YS_EINVAL, "--augment %s: write centre, flip, crop+flip, place, area, area+colour or cifar",
                         name);
}

/* One of two, the first where nothing is said. */
static ys_status read_word(const char *name, const char *said, const char *first, const char *second, bool *is_second)
{
    *is_second = said && strcmp(said, second) == 0;
    return !said || *is_second || strcmp(said, first) == 0
               ? YS_OK
               : ys_fail(YS_EINVAL, "%s %s: write %s or %s", name, said, first, second);
}

/* What `rows` says beside `prepare`; the paths are those of the whole list. */
static ys_status read_draw(const struct feeder_options *options, struct ys_feeder_preparation *p)
{
    uint64_t first = 0, count = UINT64_MAX;
    YS_TRY(read_augment(options->augment, &p->augmentation));
    YS_TRY(read_number(options->seed, "--seed", &p->draw.seed));
    YS_TRY(read_number(options->epoch, "--epoch", &p->draw.epoch));
    YS_TRY(read_number(options->first, "--first", &first));
    YS_TRY(read_number(options->count, "--count", &count));
    YS_TRY(read_word("--half", options->half, "train", "test", &p->draw.evaluates));
    if (first > p->count)
        return ys_fail(YS_EINVAL, "--first %llu: the list has %zu rows", (unsigned long long)first, p->count);
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
static void split_list(const struct ys_buf *list, struct ys_feeder_preparation *p, const char ***paths)
{
    const char *text = ys_buf_text(list);
    for (size_t i = 0; i < list->size; i++)
        p->count += text[i] == '\0';
    *paths = ys_alloc(p->count, sizeof **paths);
    for (size_t i = 0; i < p->count; i++, text += strlen(text) + 1)
        (*paths)[i] = text;
    p->paths = *paths;
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
    FILE *answers = context;
    fprintf(answers, "%zu ", row);
    for (; *message; message++)
        fputc(*message == '\n' || *message == '\r' ? '?' : *message, answers);
    fputc('\n', answers);
}

static size_t bytes_of_rows(const struct ys_feeder_preparation *p)
{
    const size_t values = (size_t)p->channels * (size_t)(p->height * p->width);
    return p->count * (p->checks ? (size_t)YS_LISTED_SUM_BYTES : values * (p->augmentation ? sizeof(float) : 1));
}

/* Bytes, or with `draws` floats that are drawn by lot, or with `checks` sums. */
static ys_status make_rows(char **words, bool draws, bool checks)
{
    struct feeder_options options = {0};
    struct ys_feeder_preparation p = {.on_bad = say_bad, .context = ys_child_answers(), .checks = checks};
    struct ys_buf list = {0};
    const char **paths = NULL;
    uint8_t *pixels = NULL;
    YS_TRY(read_options(words, &options));
    YS_TRY(need(options.list, "--list"));
    YS_TRY(need(options.out, "--out"));
    YS_TRY(checks ? YS_OK : need(options.size, "--size"));
    YS_TRY(checks ? YS_OK : read_size(options.size, &p));
    if (draws != (options.augment != NULL))
        return ys_fail(YS_EINVAL, draws ? "rows needs --augment" : "nothing is drawn: write rows --augment");
    p.threads = threads_of(options.threads);
    ys_status status = ys_fs_read(options.list, LIST_LIMIT, &list);
    if (status == YS_OK)
        split_list(&list, &p, &paths);
    if (status == YS_OK && draws)
        status = read_draw(&options, &p);
    if (status == YS_OK && p.count > 0)
        status = map_out(options.out, bytes_of_rows(&p), &pixels);
    if (status == YS_OK && p.count > 0)
        status = ys_feeder_prepare(&p, pixels);
    if (status == YS_OK && (fflush(p.context) != 0 || ferror(p.context)))
        status = ys_fail(YS_EIO, "cannot say which images are bad: %s", strerror(errno));
    ys_free(paths);
    ys_buf_free(&list);
    return status; /* what is mapped ends with the process */
}

static ys_status write_batches(char **words)
{
    struct feeder_options options = {0};
    struct ys_batches *batches = NULL;
    uint64_t crop = 0;
    YS_TRY(read_options(words, &options));
    YS_TRY(need(options.data, "--data"));
    YS_TRY(need(options.out, "--out"));
    struct ys_batches_asked asked = {.data = options.data, .order = options.order, .augment = options.augment};
    YS_TRY(read_number(options.seed, "--seed", &asked.seed));
    YS_TRY(read_number(options.crop, "--crop", &crop));
    YS_TRY(crop <= SIDE_LIMIT ? YS_OK : ys_fail(YS_EINVAL, "--crop %s: write at most %d", options.crop, SIDE_LIMIT));
    YS_TRY(read_word("--dtype", options.dtype, "uint8", "float32", &asked.floats));
    YS_TRY(read_word("--decode", options.decode, "full", "reduced", &asked.reduces));
    YS_TRY(read_word("--half", options.half, "train", "test", &asked.evaluates));
    asked.crop = (int64_t)crop;
    YS_TRY(ys_batches_open(&asked, &batches));
    ys_status status = ys_batches_write(batches, options.out);
    ys_batches_close(batches);
    return status;
}

static ys_status draw_folder(char **words)
{
    struct feeder_options options = {0};
    struct ys_feeder_preparation p = {0};
    uint64_t count = 0, classes = 10;
    YS_TRY(read_options(words, &options));
    YS_TRY(need(options.out, "--out"));
    YS_TRY(need(options.size, "--size"));
    YS_TRY(need(options.count, "--count"));
    YS_TRY(read_size(options.size, &p));
    YS_TRY(read_number(options.count, "--count", &count));
    YS_TRY(read_number(options.classes, "--classes", &classes));
    YS_TRY(count <= INT32_MAX && classes <= INT32_MAX ? YS_OK : ys_fail(YS_EINVAL, "so many images are not drawn"));
    const struct ys_feeder_drawing drawing = {.folder = options.out,
                                              .channels = p.channels,
                                              .height = p.height,
                                              .width = p.width,
                                              .classes = (int64_t)classes,
                                              .count = (int64_t)count};
    return ys_feeder_draw(&drawing);
}

/* Rows and what they are made from are of one size after the other: given back to the kernel each time, they would come
 * back as zeroed pages each time. */
static void keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 256 << 20);
    mallopt(M_TRIM_THRESHOLD, 512 << 20);
}

static ys_status run(const char *word, char **words)
{
    if (strcmp(word, "draw") == 0)
        return draw_folder(words);
    if (strcmp(word, "batches") == 0)
        return write_batches(words);
    return make_rows(words, strcmp(word, "rows") == 0, strcmp(word, "check") == 0);
}

int main(int argc, char **argv)
{
    static const char *const verbs[] = {"prepare", "check", "rows", "batches", "draw"};
    const char *word = argc > 1 ? argv[1] : "";
    bool is_verb = false;
    if (strcmp(word, "--help") == 0)
        return fputs(help, stdout) < 0;
    if (strcmp(word, "--version") == 0)
        return printf("yardstick-feeder %s, %s\n", YS_VERSION, ys_image_decoders()) < 0;
    keep_memory();
    ys_memory_must_suffice("yardstick-feeder");
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is then an error that can be said */
    if (strcmp(word, "serve") == 0)
        return ys_feeder_serve();
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        is_verb = is_verb || strcmp(word, verbs[i]) == 0;
    if (!is_verb) {
        fprintf(stderr,
                "yardstick-feeder: write prepare, check, rows, batches, draw, serve, --version or --help, not "
                "\"%s\"\n",
                word);
        return 2;
    }
    ys_status status = run(word, argv + 2);
    if (status == YS_OK)
        return 0;
    fprintf(stderr, "yardstick-feeder: %s\n", ys_error());
    return status == YS_EINVAL ? 2 : 1;
}
