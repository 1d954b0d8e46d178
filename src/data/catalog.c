#include "data/dataset.h"
#include "base/buf.h"
#include "base/files/fs.h"
#include "base/hash.h"
#include "base/json/shared_words.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stored/sealed.h"
#include "data/sets/bpe.h"
#include "data/sets/chars.h"
#include "data/sets/cifar.h"
#include "data/sets/decoded_images.h"
#include "data/sets/digits.h"
#include "data/sets/fire.h"
#include "data/sets/images.h"
#include "data/sets/mnist.h"
#include "data/sets/svhn.h"
#include "data/sets/synthetic.h"
#include "data/sets/text_bytes.h"
#include "data/sets/text_words.h"
#include "data/sets/tiny_imagenet.h"
#include <string.h>

static int64_t row_bytes_of(const struct ys_data_source *source)
{
    int64_t size_bytes = 0;
    for (size_t i = 0; i < source->rows.input_count; i++)
        size_bytes += (int64_t)ys_row_bytes(&source->rows.inputs[i]);
    return size_bytes;
}

static void draw_digits(const struct ys_data_source *source, const char *half, struct ys_data_rows *rows)
{
    (void)source;
    ys_digits_draw(half, rows->count, ys_data_pixels(rows), ys_data_labels(rows));
}

static void draw_chars(const struct ys_data_source *source, const char *half, struct ys_data_rows *rows)
{
    (void)source;
    (void)ys_chars_draw(half, rows->count, rows->array[0], ys_data_labels(rows));
}

static void draw_synthetic(const struct ys_data_source *source, const char *half, struct ys_data_rows *rows)
{
    ys_synthetic_draw(half, &source->rows, rows->count, rows->array);
}

static void draw_images(const struct ys_data_source *source, const char *half, struct ys_data_rows *rows)
{
    ys_images_draw(half, &source->rows, rows->count, ys_data_pixels(rows), ys_data_labels(rows));
}

static void draw_fire(const struct ys_data_source *source, const char *half, struct ys_data_rows *rows)
{
    (void)source;
    ys_fire_draw(half, rows->count, ys_data_pixels(rows), ys_data_labels(rows));
}

/* Sequences of `row` tokens, each followed by its class. */
#define YS_ROWS_OF_TOKENS(row, vocabulary)                                                                             \
    {                                                                                                                  \
        .unit = "sequences", .input_count = 1,                                                                         \
        .inputs = {{.name = "x", .dtype = YS_I32, .rank = 1, .shape = {row}, .below = (vocabulary)}},                  \
        .kind = YS_TARGET_CLASSES, .target = {.name = YS_TARGET_NAME, .dtype = YS_I64, .rank = 1, .shape = {row}},     \
        .classes = (vocabulary),                                                                                       \
    }

static const struct ys_data_source sources[] = {
    {
        .name = "digits",
        .title = "drawn digits, grey: learnt in a few steps",
        .rows = YS_ROWS_OF_IMAGES(1, YS_DIGITS_SIDE, YS_DIGITS_SIDE, 10),
        .train_count = YS_DIGITS_TRAIN,
        .test_count = YS_DIGITS_TEST,
        .edition = YS_DIGITS_TRAIN_HASH,
        .draw = draw_digits,
        .train_hash = YS_DIGITS_TRAIN_HASH,
        .test_hash = YS_DIGITS_TEST_HASH,
    },
    {
        .name = "chars",
        .title = "text of a grammar, tokens: no less than " YS_CHARS_FLOOR " bits a character",
        .rows = YS_ROWS_OF_TOKENS(YS_CHARS_ROW, YS_CHARS_VOCABULARY),
        .train_count = YS_CHARS_TRAIN,
        .test_count = YS_CHARS_TEST,
        .edition = "1",
        .draw = draw_chars,
    },
    {
        .name = "text",
        .title = "text of your own, its bytes as tokens: data fetch text --from FILE",
        .published = &ys_text_published,
        .rows = YS_ROWS_OF_TOKENS(YS_TEXT_ROW, YS_TEXT_VOCABULARY),
        .edition = "1",
        .is_stream = true,
    },
    {
        .name = "lines",
        .title = "text of your own, a line a row, its bytes as tokens: data fetch lines --from FILE",
        .published = &ys_lines_published,
        .rows = YS_ROWS_OF_TOKENS(YS_TEXT_ROW, YS_TEXT_VOCABULARY),
        .edition = "1",
        .hides_targets = true,
    },
    {
        .name = "words",
        .title = "text of your own, its words as tokens: data fetch words --from FILE",
        .published = &ys_words_published,
        .rows = YS_ROWS_OF_TOKENS(YS_WORDS_ROW, YS_WORDS_VOCABULARY),
        .edition = "1",
        .is_stream = true,
    },
    {
        .name = "bpe",
        .title = "text of your own in pieces of words, as GPT-2 has them: data fetch bpe --from DIR",
        .published = &ys_bpe_published,
        .rows = YS_ROWS_OF_TOKENS(YS_BPE_ROW, YS_BPE_VOCABULARY),
        .edition = "1",
        .is_stream = true,
    },
    {
        .name = "synthetic",
        .title = "random pixels and labels of the model's usual form: for speed, accuracy means nothing",
        .max_bytes = YS_SYNTHETIC_MAX_BYTES,
        .edition = YS_SYNTHETIC_EDITION,
        .is_stream = true, /* nothing in it says otherwise */
        .draw = draw_synthetic,
    },
    {
        .name = "images",
        .title = "drawn shapes with textures, of the model's usual form: images of any size that can be learnt",
        .max_bytes = YS_IMAGES_MAX_BYTES,
        .edition = YS_IMAGES_EDITION,
        .draw = draw_images,
        .needs_images = true,
    },
    {
        .name = "fire-small",
        .title = "drawn scenes with fire, smoke or neither, 224x224: few",
        .rows = YS_ROWS_OF_IMAGES(3, YS_FIRE_SIDE, YS_FIRE_SIDE, YS_FIRE_CLASSES),
        .train_count = YS_FIRE_SMALL_TRAIN,
        .test_count = YS_FIRE_SMALL_TEST,
        .edition = YS_FIRE_EDITION,
        .draw = draw_fire,
    },
    {
        .name = "fire-big",
        .title = "drawn scenes with fire, smoke or neither, 224x224: ten times as many",
        .rows = YS_ROWS_OF_IMAGES(3, YS_FIRE_SIDE, YS_FIRE_SIDE, YS_FIRE_CLASSES),
        .train_count = YS_FIRE_BIG_TRAIN,
        .test_count = YS_FIRE_BIG_TEST,
        .edition = YS_FIRE_EDITION,
        .draw = draw_fire,
    },
    {
        .name = "mnist",
        .title = "handwritten digits, grey",
        .published = &ys_mnist_published,
        .rows = YS_ROWS_OF_IMAGES(1, 28, 28, 10),
        .train_count = 60000,
        .test_count = 10000,
        .edition = "1",
    },
    {
        .name = "fashion-mnist",
        .title = "articles of clothing, grey",
        .published = &ys_fashion_mnist_published,
        .rows = YS_ROWS_OF_IMAGES(1, 28, 28, 10),
        .train_count = 60000,
        .test_count = 10000,
        .edition = "1",
    },
    {
        .name = "cifar10",
        .title = "photographs of animals and vehicles, colour",
        .published = &ys_cifar10_published,
        .rows = YS_ROWS_OF_IMAGES(3, 32, 32, 10),
        .train_count = 50000,
        .test_count = 10000,
        .edition = "1",
    },
    {
        .name = "cifar100",
        .title = "photographs in 100 classes, colour",
        .published = &ys_cifar100_published,
        .rows = YS_ROWS_OF_IMAGES(3, 32, 32, 100),
        .train_count = 50000,
        .test_count = 10000,
        .edition = "1",
    },
    {
        .name = "svhn",
        .title = "digits of house numbers, photographs, colour",
        .published = &ys_svhn_published,
        .rows = YS_ROWS_OF_IMAGES(3, YS_SVHN_SIDE, YS_SVHN_SIDE, 10),
        .train_count = 73257,
        .test_count = 26032,
        .edition = "1",
    },
    {
        .name = "tiny-imagenet",
        .title = "photographs in 200 classes, colour, 64x64",
        .published = &ys_tiny_published,
        .rows = YS_ROWS_OF_IMAGES(3, YS_TINY_SIDE, YS_TINY_SIDE, YS_TINY_CLASSES),
        .train_count = 100000,
        .test_count = 10000,
        .edition = "1",
    },
    {.name = NULL},
};

const struct ys_data_source *ys_data_sources(void)
{
    return sources;
}

const struct ys_data_source *ys_data_find(const char *name)
{
    for (const struct ys_data_source *source = sources; source->name; source++)
        if (strcmp(source->name, name) == 0)
            return source;
    return NULL;
}

const struct ys_data_source *ys_data_named(const char *name)
{
    const struct ys_data_source *found = ys_data_find(name);
    for (const struct ys_data_source *source = sources; !found && source->name; source++)
        if (ys_is_spelled(name, strlen(name), source->name))
            found = source;
    return found;
}

bool ys_data_is_path(const char *folder, const char *text)
{
    if (ys_data_find(text))
        return false;
    char *path = ys_path_join(folder, text);
    const bool is_path = strchr(text, '/') || (*text && path && ys_fs_exists(path));
    ys_free(path);
    return is_path;
}

static ys_status need_source(const char *name, const struct ys_data_source **source)
{
    *source = ys_data_named(name);
    return *source ? YS_OK : ys_fail(YS_EINVAL, "there is no data set \"%s\": see `yardstick list datasets`", name);
}

static ys_status generate(const struct ys_data_source *source)
{
    struct ys_data_rows train, test;
    ys_data_rows_init(&train, &source->rows, source->train_count);
    ys_data_rows_init(&test, &source->rows, source->test_count);
    source->draw(source, "train", &train);
    source->draw(source, "test", &test);
    ys_status status = ys_prepared_write(source, &train, &test, "generated by yardstick", true);
    ys_data_rows_fini(&train);
    ys_data_rows_fini(&test);
    return status;
}

static bool has_known_sums(const struct ys_data_source *source, const struct ys_dataset *dataset)
{
    return !source->train_hash ||
           (strcmp(dataset->train_hash, source->train_hash) == 0 && strcmp(dataset->test_hash, source->test_hash) == 0);
}

/* Files of an earlier yardstick that are damaged do not matter where they can be made again. */
static ys_status adopt(const struct ys_data_source *source)
{
    ys_status status = ys_prepared_adopt(source);
    if (status != YS_EFORMAT || source->published)
        return status;
    ys_log_warn("%s: made again", ys_error());
    return YS_OK;
}

static ys_status load_or_generate(const struct ys_data_source *source, const struct ys_data_wanted *wanted,
                                  struct ys_dataset *dataset)
{
    YS_TRY(adopt(source));
    ys_status status = ys_prepared_load(source, wanted, dataset);
    if (status == YS_OK && has_known_sums(source, dataset))
        return YS_OK;
    if (status == YS_EFORMAT)
        ys_log_warn("%s: made again", ys_error());
    if (status == YS_OK)
        ys_dataset_fini(dataset);
    else if (status != YS_ENOTFOUND && status != YS_EFORMAT)
        return status;
    YS_TRY(generate(source));
    return ys_prepared_load(source, wanted, dataset);
}

static ys_status prepare_generated(const struct ys_data_source *source, const struct ys_data_wanted *wanted,
                                   struct ys_dataset *dataset)
{
    struct ys_dataset fresh = {0};
    ys_status status = load_or_generate(source, wanted, &fresh);
    if (status == YS_ENOTFOUND && wanted)
        return ys_fail(status,
                       "the study began with other rows of the data set %s than this yardstick makes (SHA-256 %s to "
                       "train, %s to test): run it anew",
                       source->name, wanted->train_hash, wanted->test_hash);
    if (status == YS_OK && !has_known_sums(source, &fresh))
        status = ys_fail(YS_EINTERNAL, "this machine generates other digits than it should: SHA-256 %s and %s",
                         fresh.train_hash, fresh.test_hash);
    if (status == YS_OK)
        *dataset = fresh;
    else
        ys_dataset_fini(&fresh);
    return status;
}

/* What is left of `room_bytes` beside one row of the array; below 1 where it does not fit, or has no extent. */
static int64_t room_beside(const struct ys_row_array *array, int64_t room_bytes)
{
    int64_t most = room_bytes / (int64_t)ys_dtype_size(array->dtype);
    for (size_t i = 0; i < array->rank; i++)
        most = array->shape[i] >= 1 ? most / array->shape[i] : 0;
    return most < 1 ? 0 : room_bytes - (int64_t)ys_row_bytes(array) + 1;
}

/* "x 3x224x224 U8, y I64": each input, then the target. */
static void describe_form(const struct ys_rows *form, struct ys_buf *text)
{
    for (size_t i = 0; i <= form->input_count; i++) {
        const struct ys_row_array *array = ys_rows_array(form, i);
        ys_buf_printf(text, "%s%s ", i ? ", " : "", array->name);
        for (size_t d = 0; d < array->rank; d++)
            ys_buf_printf(text, "%s%lld", d ? "x" : "", (long long)array->shape[d]);
        ys_buf_printf(text, "%s%s", array->rank ? " " : "", ys_dtype_name(array->dtype));
        if (array->below)
            ys_buf_printf(text, " below %lld", (long long)array->below);
        if (array->padded)
            ys_buf_printf(text, " padded");
    }
}

static bool is_of_images(const struct ys_rows *form)
{
    const struct ys_row_array *x = &form->inputs[0];
    return form->input_count == 1 && x->dtype == YS_U8 && x->rank == 3 && (x->shape[0] == 1 || x->shape[0] == 3) &&
           form->kind == YS_TARGET_CLASS;
}

static ys_status check_form(const struct ys_data_source *source, const struct ys_rows *form)
{
    const char *name = source->name;
    if (!form)
        return ys_fail(YS_EINVAL, "the data set %s has the form of a model's input: it is made when a study uses it",
                       name);
    if (source->needs_images && !is_of_images(form))
        return ys_fail(YS_EINVAL,
                       "the data set %s is for networks that take images, grey or in colours, and tell classes apart: "
                       "data = synthetic follows any model",
                       name);
    int64_t room = source->max_bytes;
    for (size_t i = 0; i <= form->input_count && room > 0; i++)
        room = room_beside(ys_rows_array(form, i), i < form->input_count ? room : source->max_bytes);
    bool has_classes = form->kind == YS_TARGET_VECTOR || (form->classes >= 1 && form->classes <= INT32_MAX);
    if (room >= 1 && has_classes && form->input_count >= 1)
        return YS_OK;
    struct ys_buf text = {0};
    describe_form(form, &text);
    ys_status status =
        ys_fail(YS_EINVAL, "the data set %s cannot have rows of %s and %lld classes: a row has at most %lld bytes",
                name, ys_buf_text(&text), (long long)form->classes, (long long)source->max_bytes);
    ys_buf_free(&text);
    return status;
}

/* "synthetic-3x224x224-1000" of images; of other rows a sum of what they are. */
static char *folder_of_form(const char *name, const struct ys_rows *form)
{
    const struct ys_rows image =
        YS_ROWS_OF_IMAGES(form->inputs[0].shape[0], form->inputs[0].shape[1], form->inputs[0].shape[2], form->classes);
    char hash[YS_SHA256_TEXT];
    if (ys_rows_equal(form, &image))
        return ys_format("%s-%lldx%lldx%lld-%lld", name, (long long)image.inputs[0].shape[0],
                         (long long)image.inputs[0].shape[1], (long long)image.inputs[0].shape[2],
                         (long long)form->classes);
    struct ys_buf text = {0};
    describe_form(form, &text);
    ys_buf_printf(&text, "|%s|%lld", ys_target_kind_name(form->kind), (long long)form->classes);
    ys_sha256_text(ys_buf_text(&text), strlen(ys_buf_text(&text)), hash);
    ys_buf_free(&text);
    return ys_format("%s-rows-%.16s", name, hash);
}

/* The set that follows the model, in the form given; its folder's name is owned. */
static void give_form(const struct ys_data_source *source, const struct ys_rows *form, struct ys_data_source *formed)
{
    *formed = *source;
    formed->rows = *form;
    formed->train_count = ys_synthetic_train_count(row_bytes_of(formed), formed->max_bytes);
    formed->test_count = ys_synthetic_test_count(row_bytes_of(formed), formed->max_bytes);
    formed->folder = folder_of_form(source->name, form);
}

static ys_status prepare_formed(const struct ys_data_source *source, const struct ys_rows *form,
                                const struct ys_data_wanted *wanted, struct ys_dataset *dataset)
{
    struct ys_data_source formed;
    YS_TRY(check_form(source, form));
    give_form(source, form, &formed);
    ys_status status = prepare_generated(&formed, wanted, dataset);
    ys_free((char *)(uintptr_t)formed.folder);
    return status;
}

static const char *from_word(const struct ys_data_source *source)
{
    return source->published->from_file ? "FILE" : "DIR";
}

/* What a set that nobody published is made of has to be named always. */
static const char *need_from(const struct ys_data_source *source)
{
    return *source->published->mirrors ? "" : " --from FILE";
}

/* What says why it is damaged has been said; this adds what to do. */
static ys_status needs_fetching(const struct ys_data_source *source)
{
    return ys_fail(YS_EFORMAT,
                   "the data set %s is damaged: %s; `yardstick data fetch %s` makes it again (--from %s from files on "
                   "this machine)",
                   source->name, ys_error(), source->name, from_word(source));
}

static ys_status prepare_published(const struct ys_data_source *source, const struct ys_data_wanted *wanted,
                                   struct ys_dataset *dataset)
{
    const char *name = source->name;
    ys_status status = ys_prepared_adopt(source);
    if (status == YS_OK)
        status = ys_prepared_load(source, wanted, dataset);
    if (status == YS_ENOTFOUND && wanted)
        return ys_fail(status,
                       "the study began with rows of the data set %s that are not in the cache any more (SHA-256 %s to "
                       "train, %s to test): `yardstick data fetch %s --from %s` imports them again",
                       name, wanted->train_hash, wanted->test_hash, name, from_word(source));
    if (status == YS_ENOTFOUND && *need_from(source))
        return ys_fail(status, "the data set %s is not here yet: `yardstick data fetch %s%s` makes it of a file", name,
                       name, need_from(source));
    if (status == YS_ENOTFOUND)
        return ys_fail(
            status, "the data set %s is not here yet: `yardstick data fetch %s` (--from %s imports what was published)",
            name, name, from_word(source));
    return status == YS_EFORMAT ? needs_fetching(source) : status;
}

ys_status ys_data_prepare(const char *name, const struct ys_rows *form, const struct ys_data_wanted *wanted,
                          struct ys_dataset *dataset)
{
    const struct ys_data_source *source;
    ys_prepared_sweep(NULL, false);
    if (strchr(name, '/'))
        return ys_decoded_prepare(name, form, wanted, dataset);
    YS_TRY(need_source(name, &source));
    wanted = wanted && wanted->train_hash ? wanted : NULL; /* what is left of it is for folders alone */
    if (!source->rows.input_count)
        return prepare_formed(source, form, wanted, dataset);
    if (!source->published)
        return prepare_generated(source, wanted, dataset);
    return prepare_published(source, wanted, dataset);
}

char *ys_data_form(const struct ys_rows *rows, bool is_listed)
{
    struct ys_buf text = {0};
    const struct ys_row_array *x = &rows->inputs[0];
    for (size_t i = 0; i < x->rank; i++)
        ys_buf_printf(&text, "%s%lld", i ? "x" : "", (long long)x->shape[i]);
    ys_buf_puts(&text, is_listed ? " live" : "");
    return ys_buf_take(&text);
}

static ys_status generate_again(const struct ys_data_source *source, const struct ys_dataset *dataset)
{
    struct ys_data_source formed;
    if (dataset->is_decoded)
        return ys_decoded_again(dataset);
    if (source->rows.input_count)
        return generate(source);
    give_form(source, &dataset->rows, &formed);
    ys_status status = generate(&formed);
    ys_free((char *)(uintptr_t)formed.folder);
    return status;
}

ys_status ys_data_check(const struct ys_dataset *dataset)
{
    ys_status status = ys_sealed_check(dataset->folder);
    const struct ys_data_source *source = ys_data_find(dataset->name);
    if (status != YS_EFORMAT)
        return status;
    if (ys_sealed_is_used(dataset->folder))
        return ys_fail(YS_EIO,
                       "%s after this study had measured with it: what was measured is kept; %s%s%s`yardstick "
                       "resume` goes on",
                       ys_error(), dataset->generated ? "" : "`yardstick data fetch ",
                       dataset->generated ? "" : dataset->name, dataset->generated ? "" : "` makes it again, then ");
    if (!dataset->generated)
        return needs_fetching(source);
    ys_log_warn("%s: made again", ys_error());
    YS_TRY(generate_again(source, dataset));
    return ys_sealed_check(dataset->folder);
}

void ys_data_sweep(const struct ys_sweep *sweep)
{
    ys_prepared_sweep(sweep, true);
}

static ys_status import_rows(const struct ys_data_source *source, const char *path, const char *origin, bool unverified,
                             bool *verified)
{
    struct ys_data_rows train, test;
    YS_TRY(source->published->read(path, unverified, &train, &test, verified));
    ys_status status = ys_prepared_write(source, &train, &test, origin, *verified);
    ys_data_rows_fini(&train);
    ys_data_rows_fini(&test);
    return status;
}

/* What it is worth that the sums are known, where they are not the publisher's. */
static char *say_origin(const struct ys_data_source *source, const char *origin)
{
    return ys_format("%s%s", origin, source->published->passed_on ? "; the publisher gives no sums, others do" : "");
}

static ys_status import(const struct ys_data_source *source, const char *path, const char *origin, bool unverified)
{
    bool verified = false;
    char *said = say_origin(source, origin);
    ys_status status = (source->published->import ? source->published->import : import_rows)(source, path, said,
                                                                                             unverified, &verified);
    ys_free(said);
    if (status == YS_OK)
        ys_log_info("%s is ready%s", source->name, verified ? "" : "; its sums are NOT the known ones");
    return status;
}

static ys_status download(const struct ys_data_source *source, bool unverified)
{
    struct ys_working working;
    YS_TRY(ys_working_in_cache("data", &working));
    const char *const *mirrors = source->published->mirrors;
    ys_status status = YS_OK;
    for (size_t i = 0; mirrors[i]; i++) {
        if (i > 0)
            ys_log_warn("%s; trying the next mirror", ys_error());
        status = ys_published_download(source->published, mirrors[i], working.path);
        if (status == YS_OK)
            status = import(source, working.path, mirrors[i], unverified);
        if (status == YS_OK || status == YS_EINTR || status == YS_ENOTFOUND)
            break;
    }
    if (status != YS_OK && status != YS_EINTR)
        ys_fail_in(status, "%s was not fetched (files already on disk: `yardstick data fetch %s --from %s`)",
                   source->name, source->name, from_word(source));
    ys_working_remove(&working);
    return status;
}

static ys_status fetch_generated(const struct ys_data_source *source, const char *from)
{
    if (from)
        return ys_fail(YS_EINVAL, "the data set %s is generated: there is nothing to import", source->name);
    struct ys_dataset dataset;
    YS_TRY(ys_data_prepare(source->name, NULL, NULL, &dataset));
    ys_dataset_fini(&dataset);
    return YS_OK;
}

ys_status ys_data_fetch(const char *name, const char *from, bool unverified)
{
    const struct ys_data_source *source;
    YS_TRY(need_source(name, &source));
    if (!source->published)
        return fetch_generated(source, from);
    if (!from && *need_from(source))
        return ys_fail(YS_EINVAL, "the data set %s is made of a file of yours: `yardstick data fetch %s%s`", name, name,
                       need_from(source));
    if (!from)
        return download(source, unverified);
    if (!ys_fs_exists(from))
        return ys_fail(YS_ENOTFOUND, "there is no %s", from);
    if (!source->published->from_file && !ys_fs_is_dir(from))
        return ys_fail(YS_EINVAL, "%s is not a folder: %s is imported from the folder of its files", from, name);
    return import(source, from, "local files", unverified);
}

static const char *const state_words[] = {"ready", "missing", "generated"};
const struct ys_names ys_data_states = YS_NAMES("state", state_words);

#define ENTRY              struct ys_data_entry
#define TEXT(member, what) YS_FIELD(ENTRY, member, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, what)
#define COUNT(member, what)                                                                                            \
    YS_FIELD(ENTRY, member, YS_FIELD_INT, "1", YS_FIELD_NULL, what "; null where it follows the model")
static const struct ys_field entry_fields[] = {
    TEXT(name, "as a job writes it"),
    TEXT(title, "for people"),
    YS_FIELD_NAMED(ENTRY, state, &ys_data_states, 0, "whether it is here"),
    TEXT(unit, "of a row; null where it follows the model"),
    YS_FIELD(ENTRY, shape, YS_FIELD_INTS, "1", YS_FIELD_NULL | YS_FIELD_EMPTY, "of the first input; null likewise"),
    COUNT(classes, "of a target"),
    COUNT(train, "rows"),
    COUNT(test, "rows"),
    TEXT(command, "what would get it; null unless missing"),
    YS_FIELD(ENTRY, verified, YS_FIELD_TRUTH, NULL, YS_FIELD_NULL, "the published one; null unless ready"),
    TEXT(source, "where it came from; null unless ready"),
    TEXT(train_hash, "SHA-256 of the rows to train on; null unless ready"),
};
const struct ys_record ys_data_entry_record = YS_RECORD("dataset", ENTRY, entry_fields);

static void keep_shape(struct ys_list *shape, const struct ys_rows *rows)
{
    if (rows->input_count == 0)
        return;
    int64_t *sizes = ys_alloc(rows->inputs[0].rank, sizeof *sizes);
    shape->items = sizes;
    for (; shape->count < rows->inputs[0].rank; shape->count++)
        sizes[shape->count] = rows->inputs[0].shape[shape->count];
}

static int64_t known(int64_t count)
{
    return count ? count : YS_FIELD_NONE;
}

static void describe(const struct ys_data_source *source, const struct ys_dataset *ready, struct ys_data_entry *entry)
{
    bool is_missing = !ready && source->published;
    entry->state = ready ? YS_DATA_READY : is_missing ? YS_DATA_MISSING : YS_DATA_GENERATED;
    entry->classes = known(source->rows.classes);
    entry->train = known(ready ? ready->train_count : source->train_count);
    entry->test = known(ready ? ready->test_count : source->test_count);
    entry->verified = ready ? ready->verified : YS_NAME_NONE;
    entry->command = is_missing ? ys_format("yardstick data fetch %s%s", source->name, need_from(source)) : NULL;
    entry->name = ys_strdup(source->name);
    entry->title = ys_strdup(source->title);
    entry->unit = ys_strdup(source->rows.unit);
    entry->source = ready ? ys_strdup(ready->source) : NULL;
    entry->train_hash = ready ? ys_strdup(ready->train_hash) : NULL;
    keep_shape(&entry->shape, &source->rows);
}

static ys_status add_source(struct ys_list *list, const struct ys_data_source *source)
{
    struct ys_dataset dataset = {0};
    ys_status status = ys_prepared_load(source, NULL, &dataset);
    bool is_ready = status == YS_OK;
    if (!is_ready && status != YS_ENOTFOUND && status != YS_EFORMAT)
        return status;
    describe(source, is_ready ? &dataset : NULL, ys_list_add(&ys_data_entry_record, list));
    ys_dataset_fini(&dataset);
    return YS_OK;
}

ys_status ys_data_list(struct ys_list *list)
{
    ys_status status = YS_OK;
    *list = (struct ys_list){0};
    for (const struct ys_data_source *source = sources; source->name && status == YS_OK; source++)
        status = add_source(list, source);
    if (status != YS_OK)
        ys_list_fini(&ys_data_entry_record, list);
    return status;
}
