#include "stat/series.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static struct ys_series *find(const struct ys_series_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->items[i].name, name) == 0)
            return &set->items[i];
    }
    return NULL;
}

const struct ys_series *ys_series_find(const struct ys_series_set *set, const char *name)
{
    return find(set, name);
}

const int64_t *ys_series_column(const struct ys_series_set *set, const char *name, size_t *rows)
{
    const struct ys_series *series = ys_series_find(set, name);
    const size_t count = series ? series->count : 0;
    *rows = count < *rows ? count : *rows;
    return series ? series->ints : NULL;
}

struct ys_series *ys_series_get(struct ys_series_set *set, const char *name, int is_real)
{
    struct ys_series *series = find(set, name);
    if (series) {
        YS_ASSERT(!series->is_real == !is_real);
        return series;
    }
    YS_ASSERT(strlen(name) < sizeof series->name);
    struct ys_series *items = ys_grown(set->items, set->count, &set->capacity, sizeof *items);
    set->items = items;
    series = &set->items[set->count++];
    memset(series, 0, sizeof *series);
    memcpy(series->name, name, strlen(name));
    series->is_real = is_real != 0;
    return series;
}

static void make_room(struct ys_series *series, size_t extra)
{
    if (extra <= series->capacity - series->count)
        return;
    size_t capacity = series->capacity < 32 ? 64 : 2 * series->capacity;
    if (capacity < series->count + extra)
        capacity = series->count + extra;
    void *old = series->is_real ? (void *)series->reals : (void *)series->ints;
    void *numbers = ys_realloc(old, capacity, 8);
    if (series->is_real)
        series->reals = numbers;
    else
        series->ints = numbers;
    series->capacity = capacity;
}

const void *ys_series_numbers(const struct ys_series *series, size_t first)
{
    return series->is_real ? (const void *)(series->reals + first) : (const void *)(series->ints + first);
}

void ys_series_add_numbers(struct ys_series_set *set, const char *name, int is_real, const void *numbers, size_t count)
{
    _Static_assert(sizeof(int64_t) == sizeof(double), "numbers of both kinds are as long");
    if (count == 0)
        return;
    struct ys_series *series = ys_series_get(set, name, is_real);
    make_room(series, count);
    memcpy((void *)(uintptr_t)ys_series_numbers(series, series->count), numbers, count * sizeof(int64_t));
    series->count += count;
}

void ys_series_add_int(struct ys_series_set *set, const char *name, int64_t value)
{
    ys_series_add_numbers(set, name, 0, &value, 1);
}

void ys_series_add_real(struct ys_series_set *set, const char *name, double value)
{
    ys_series_add_numbers(set, name, 1, &value, 1);
}

void ys_series_add_rank(struct ys_series_set *set, const char *name, size_t row, int64_t rank)
{
    if (rank == 0)
        return;
    struct ys_series *ranks = ys_series_get(set, name, 0);
    while (ranks->count < row)
        ys_series_add_int(set, name, 0);
    ys_series_add_int(set, name, rank);
}

int64_t ys_series_rank(const struct ys_series *ranks, size_t row)
{
    return ranks && row < ranks->count ? ranks->ints[row] : 0;
}

void ys_series_reserve(struct ys_series_set *set, const char *name, int is_real, size_t count)
{
    struct ys_series *series = ys_series_get(set, name, is_real);
    make_room(series, count);
}

void ys_series_set_free(struct ys_series_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        ys_free(set->items[i].ints);
        ys_free(set->items[i].reals);
    }
    ys_free(set->items);
    memset(set, 0, sizeof *set);
}

/* Differences wrap modulo 2^64, so that any sequence of int64_t survives. */
static uint64_t zigzag(uint64_t difference)
{
    return (difference << 1) ^ (difference >> 63 ? UINT64_MAX : 0);
}

static uint64_t unzigzag(uint64_t code)
{
    return (code >> 1) ^ (code & 1 ? UINT64_MAX : 0);
}

#define VARINT_MAX_BYTES 10

static size_t put_varint(unsigned char *data, uint64_t code)
{
    size_t size = 0;
    while (code >= 0x80) {
        data[size++] = (unsigned char)(code | 0x80);
        code >>= 7;
    }
    data[size++] = (unsigned char)code;
    return size;
}

/* Bytes read, 0 when the bytes end too early or say more than 64 bits. */
static size_t get_varint(const unsigned char *data, size_t size, uint64_t *code)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size && i < VARINT_MAX_BYTES; i++) {
        uint64_t bits = data[i] & 0x7f;
        if (i == VARINT_MAX_BYTES - 1 && data[i] > 1)
            return 0;
        value |= bits << (7 * i);
        if (!(data[i] & 0x80)) {
            *code = value;
            return i + 1;
        }
    }
    return 0;
}

static size_t encode_ints(const struct ys_series *series, unsigned char *data)
{
    uint64_t last = 0, last_difference = 0;
    size_t size = 0;
    for (size_t i = 0; i < series->count; i++) {
        uint64_t value = (uint64_t)series->ints[i];
        uint64_t difference = value - last;
        size += put_varint(data + size, zigzag(difference - last_difference));
        last = value;
        last_difference = difference;
    }
    return size;
}

static void encode_reals(const struct ys_series *series, unsigned char *data)
{
    for (size_t i = 0; i < series->count; i++) {
        uint64_t bits;
        memcpy(&bits, &series->reals[i], 8);
        for (int byte = 0; byte < 8; byte++)
            data[8 * i + byte] = (unsigned char)(bits >> (8 * byte));
    }
}

void ys_series_encode(const struct ys_series *series, unsigned char **data, size_t *size)
{
    unsigned char *bytes = ys_alloc(series->count + 1, series->is_real ? 8 : VARINT_MAX_BYTES);
    if (series->is_real) {
        encode_reals(series, bytes);
        *size = 8 * series->count;
    } else {
        *size = encode_ints(series, bytes);
    }
    *data = bytes;
}

static ys_status damaged(const char *name, const char *why)
{
    return ys_fail(YS_EFORMAT, "the stored series %s is damaged: %s", name, why);
}

static ys_status decode_ints(struct ys_series *series, const unsigned char *data, size_t size, size_t count)
{
    uint64_t last = 0, last_difference = 0;
    size_t position = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t code;
        size_t used = get_varint(data + position, size - position, &code);
        if (!used)
            return damaged(series->name, "a number is cut off");
        position += used;
        last_difference += unzigzag(code);
        last += last_difference;
        series->ints[i] = (int64_t)last;
    }
    return position == size ? YS_OK : damaged(series->name, "bytes follow the last number");
}

static void decode_reals(struct ys_series *series, const unsigned char *data, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        for (int byte = 0; byte < 8; byte++)
            bits |= (uint64_t)data[8 * i + byte] << (8 * byte);
        memcpy(&series->reals[i], &bits, 8);
    }
}

ys_status ys_series_decode(const char *name, int is_real, const unsigned char *data, size_t size, size_t count,
                           struct ys_series_set *set)
{
    if (!*name || strlen(name) >= sizeof((struct ys_series *)0)->name)
        return damaged(name, "its name is empty or longer than 39 bytes");
    if (find(set, name))
        return damaged(name, "it exists twice");
    /* Every number takes at least one byte: a damaged count cannot ask for more memory than the bytes are worth. */
    if (is_real ? size % 8 != 0 || size / 8 != count : count > size)
        return damaged(name, "its length does not fit its count");
    struct ys_series *series = ys_series_get(set, name, is_real);
    make_room(series, count);
    ys_status status = YS_OK;
    if (is_real)
        decode_reals(series, data, count);
    else
        status = decode_ints(series, data, size, count);
    if (status != YS_OK) {
        ys_free(series->ints);
        ys_free(series->reals);
        set->count--;
        return status;
    }
    series->count = count;
    return YS_OK;
}
