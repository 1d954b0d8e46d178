#include "prepare/find_parameters.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { LEAST_BYTES = 16, ANCHOR = 8, HASH_BITS = 16, TYPES = YS_STORED_BF16 + 1 };

static const size_t sizes[TYPES] = {[YS_STORED_F32] = 4, [YS_STORED_F16] = 2, [YS_STORED_BF16] = 2};

/* Axes of the graph in the order in which they may be stored; that of the graph itself is the first. */
static const struct {
    size_t rank;
    int axes[4];
} orders[] = {{2, {1, 0}}, {3, {2, 1, 0}}, {4, {2, 3, 1, 0}}, {4, {0, 2, 3, 1}}, {4, {2, 3, 0, 1}}};

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint16_t bf16_of(float value)
{
    const uint32_t bits = bits_of(value);
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/* IEEE 754 binary16; beyond 65504 it is infinite. */
static uint16_t f16_of(float value)
{
    const uint16_t sign = (uint16_t)(bits_of(value) >> 16 & 0x8000);
    const double size = fabs((double)value);
    if (isnan(value))
        return sign | 0x7e00;
    if (size >= 65520)
        return sign | 0x7c00;
    int exponent = -24; /* as of the least, for 0, of which frexp() says another */
    if (size > 0)
        frexp(size, &exponent);                                   /* size = f * 2^exponent, f in [0.5, 1) */
    const int last = exponent < -13 ? -24 : exponent - 11;        /* of the last place */
    const int64_t units = (int64_t)nearbyint(ldexp(size, -last)); /* at most 2048 */
    if (last == -24)
        return sign | (uint16_t)units; /* of 1024 units it is the least normal number */
    return (uint16_t)(sign | (((uint16_t)(last + 24) << 10) + (uint16_t)units));
}

static float float_of_f16(uint16_t half)
{
    const int exponent = half >> 10 & 31, units = half & 1023;
    const double size = exponent == 0    ? ldexp(units, -24)
                        : exponent == 31 ? (units ? NAN : INFINITY)
                                         : ldexp(1024 + units, exponent - 25);
    return (float)(half & 0x8000 ? -size : size);
}

float ys_stored_round(float value, enum ys_stored_type type)
{
    switch (type) {
    case YS_STORED_F32:
        return value;
    case YS_STORED_F16:
        return float_of_f16(f16_of(value));
    case YS_STORED_BF16:
        return float_of((uint32_t)bf16_of(value) << 16);
    }
    return value;
}

static void put(float value, enum ys_stored_type type, unsigned char *to)
{
    const uint32_t whole = bits_of(value);
    const uint16_t half = type == YS_STORED_F16 ? f16_of(value) : bf16_of(value);
    if (type == YS_STORED_F32)
        memcpy(to, &whole, sizeof whole);
    else
        memcpy(to, &half, sizeof half);
}

/* Where element number `i` of the stored order lies in the graph's. */
static size_t place_of(const struct ys_tensor *tensor, const int *axes, size_t i)
{
    size_t at[4], place = 0;
    for (size_t k = tensor->rank; k-- > 0;) {
        const size_t extent = (size_t)tensor->shape[axes[k]];
        at[axes[k]] = i % extent;
        i /= extent;
    }
    for (size_t k = 0; k < tensor->rank; k++)
        place = place * (size_t)tensor->shape[k] + at[k];
    return place;
}

/* A parameter in the type and order that are looked for now. */
struct sought {
    unsigned char *bytes;
    size_t size, anchor; /* eight bytes from there on are what it is recognised by */
    int next;            /* of those with the same hash; -1: none */
    size_t param;
};

struct hit {
    size_t param, file, at, size;
};

struct byte_search {
    const struct ys_safetensors *weights;
    const struct ys_bytes *files;
    size_t file_count, count;
    bool *is_known;
    struct sought *sought;
    size_t sought_count;
    int heads[1 << HASH_BITS];
    struct hit *hits;
    size_t hit_count, room;
    int64_t bytes[TYPES];
    int64_t *copies; /* of each parameter */
};

static uint64_t word_at(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static size_t hash_of(uint64_t word)
{
    return (size_t)((word * 0x9e3779b97f4a7c15) >> (64 - HASH_BITS));
}

static bool is_distinct(const struct ys_tensor *tensor)
{
    const size_t count = ys_tensor_count(tensor);
    const float *values = tensor->data;
    for (size_t i = 1; i < count; i++)
        if (bits_of(values[i]) != bits_of(values[0]))
            return count * sizeof(uint16_t) >= LEAST_BYTES;
    return false;
}

/* Of bytes that are not all zero, which files are full of. */
static size_t find_anchor(const unsigned char *bytes, size_t size)
{
    for (size_t at = 0; at + ANCHOR <= size; at += 4)
        if (word_at(bytes + at) != 0 && memcmp(bytes + at, bytes + at + 4, 4) != 0)
            return at;
    return 0;
}

static void seek(struct byte_search *s, size_t param, enum ys_stored_type type, const int *axes)
{
    const struct ys_tensor *tensor = ys_safetensors_at(s->weights, param);
    const size_t count = ys_tensor_count(tensor), size = count * sizes[type];
    struct sought *sought = &s->sought[s->sought_count];
    unsigned char *bytes = ys_alloc(size, 1);
    for (size_t i = 0; i < count; i++)
        put(((const float *)tensor->data)[axes ? place_of(tensor, axes, i) : i], type, bytes + i * sizes[type]);
    *sought = (struct sought){.bytes = bytes, .size = size, .anchor = find_anchor(bytes, size), .param = param};
    const size_t hash = hash_of(word_at(bytes + sought->anchor));
    sought->next = s->heads[hash];
    s->heads[hash] = (int)s->sought_count++;
}

static bool is_noted(const struct byte_search *s, const struct hit *hit)
{
    for (size_t i = 0; i < s->hit_count; i++)
        if (s->hits[i].param == hit->param && s->hits[i].file == hit->file && s->hits[i].at == hit->at)
            return true;
    return false;
}

/* The same bytes may be two orders of one parameter, where extents are 1. */
static void note(struct byte_search *s, const struct hit *hit, enum ys_stored_type type)
{
    if (is_noted(s, hit))
        return;
    if (s->hit_count == s->room) {
        s->room = 2 * s->room + 64;
        s->hits = ys_realloc(s->hits, s->room, sizeof *s->hits);
    }
    s->hits[s->hit_count++] = *hit;
    s->bytes[type] += (int64_t)hit->size;
    s->copies[hit->param]++;
}

static void scan(struct byte_search *s, size_t file, enum ys_stored_type type)
{
    const struct ys_bytes *bytes = &s->files[file];
    for (size_t at = 0; at + ANCHOR <= bytes->size; at++) {
        const uint64_t word = word_at(bytes->data + at);
        for (int i = s->heads[hash_of(word)]; i >= 0; i = s->sought[i].next) {
            const struct sought *sought = &s->sought[i];
            if (at < sought->anchor || bytes->size - (at - sought->anchor) < sought->size ||
                word != word_at(sought->bytes + sought->anchor))
                continue;
            const struct hit hit = {sought->param, file, at - sought->anchor, sought->size};
            if (memcmp(bytes->data + hit.at, sought->bytes, sought->size) == 0)
                note(s, &hit, type);
        }
    }
}

/* One type and order: all parameters that have it are looked for at once. */
static void pass(struct byte_search *s, enum ys_stored_type type, size_t rank, const int *axes)
{
    memset(s->heads, -1, sizeof s->heads);
    s->sought_count = 0;
    for (size_t p = 0; p < s->count; p++)
        if (s->is_known[p] && (!axes || ys_safetensors_at(s->weights, p)->rank == rank))
            seek(s, p, type, axes);
    for (size_t f = 0; s->sought_count > 0 && f < s->file_count; f++)
        scan(s, f, type);
    for (size_t i = 0; i < s->sought_count; i++)
        ys_free(s->sought[i].bytes);
}

static void sum_up(const struct byte_search *s, struct ys_found_parameters *found)
{
    for (size_t p = 0; p < s->count; p++) {
        const int64_t elements = (int64_t)ys_tensor_count(ys_safetensors_at(s->weights, p));
        found->elements += elements;
        found->known += s->is_known[p] ? elements : 0;
        found->found += s->copies[p] > 0 ? elements : 0;
        found->copies += s->copies[p] * elements;
    }
    for (int type = 0; type < TYPES; type++) {
        found->bytes += s->bytes[type];
        if (s->bytes[type] > s->bytes[found->type])
            found->type = (enum ys_stored_type)type;
    }
}

ys_status ys_parameters_find(const struct ys_safetensors *weights, const struct ys_bytes *files, size_t count,
                             struct ys_found_parameters *found)
{
    const size_t params = ys_safetensors_count(weights);
    *found = (struct ys_found_parameters){.type = YS_STORED_F32};
    for (size_t p = 0; p < params; p++)
        if (ys_safetensors_at(weights, p)->dtype != YS_F32)
            return ys_fail(YS_EFORMAT, "parameter %s is not float32", ys_safetensors_at(weights, p)->name);
    struct byte_search *s = ys_alloc(1, sizeof *s);
    *s = (struct byte_search){.weights = weights, .files = files, .file_count = count, .count = params};
    s->is_known = ys_alloc(params, sizeof *s->is_known);
    s->sought = ys_alloc(params, sizeof *s->sought);
    s->copies = ys_alloc(params, sizeof *s->copies);
    for (size_t p = 0; p < params; p++)
        s->is_known[p] = is_distinct(ys_safetensors_at(weights, p));
    for (int type = 0; type < TYPES; type++) {
        pass(s, (enum ys_stored_type)type, 0, NULL);
        for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
            pass(s, (enum ys_stored_type)type, orders[i].rank, orders[i].axes);
    }
    sum_up(s, found);
    ys_free(s->is_known);
    ys_free(s->sought);
    ys_free(s->copies);
    ys_free(s->hits);
    ys_free(s);
    return YS_OK;
}
