#include "protocol/block_message.h"
#include "base/mem.h"
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* The longest of "%.17g": sign, 17 digits, point, "e-308"; and a comma. */
enum { LOSS_BYTES = 26, FRAME_BYTES = 360 };
/* A time of a step is written as what has passed since the block began: at most 14 digits, and a comma. */
enum { STAMP_BYTES = 15, STAMPS = 4 };
static const uint64_t MOST_PASSED_NS = UINT64_C(99999999999999);

ys_status ys_block_line_init(struct ys_block_line *line, size_t steps)
{
    struct ys_block_line made = {.capacity = FRAME_BYTES + steps * (LOSS_BYTES + STAMPS * STAMP_BYTES), .steps = steps};
    made.text = ys_alloc(made.capacity, 1);
    made.loss = ys_alloc(steps, sizeof *made.loss);
    made.stamps = ys_alloc(STAMPS * steps, sizeof *made.stamps);
    if (!made.text || !made.loss || !made.stamps) {
        ys_block_line_fini(&made);
        return ys_out_of_memory();
    }
    *line = made;
    return YS_OK;
}

void ys_block_line_fini(struct ys_block_line *line)
{
    ys_free(line->text);
    ys_free(line->loss);
    ys_free(line->stamps);
    *line = (struct ys_block_line){0};
}

/* JSON has no number for these; the protocol spells them as strings. */
static const char *special_name(double value)
{
    if (isnan(value))
        return "\"nan\"";
    return value > 0 ? "\"inf\"" : "\"-inf\"";
}

struct ys_block ys_block_begin(const struct ys_block_line *line)
{
    return (struct ys_block){.loss = line->loss,
                             .began_ns = line->stamps,
                             .ready_ns = line->stamps + line->steps,
                             .reduced_ns = line->stamps + 2 * line->steps,
                             .updated_ns = line->stamps + 3 * line->steps,
                             .sent_bytes = -1,
                             .exchange_ns = -1};
}

/* Whether all of them can be told. */
static bool have_stamps(const struct ys_block *block)
{
    const uint64_t *const lists[STAMPS] = {block->began_ns, block->ready_ns, block->reduced_ns, block->updated_ns};
    bool fit = block->stamp_count > 0;
    for (size_t i = 0; fit && i < STAMPS * block->stamp_count; i++) {
        const uint64_t t_ns = lists[i % STAMPS][i / STAMPS];
        fit = t_ns >= block->t_start_ns && t_ns - block->t_start_ns <= MOST_PASSED_NS;
    }
    return fit;
}

static size_t put_stamps(const struct ys_block_line *line, size_t used, const struct ys_block *block)
{
    static const char *const names[STAMPS] = {"began_ns", "ready_ns", "reduced_ns", "updated_ns"};
    const uint64_t *const lists[STAMPS] = {block->began_ns, block->ready_ns, block->reduced_ns, block->updated_ns};
    for (size_t k = 0; k < STAMPS; k++) {
        used += (size_t)snprintf(line->text + used, line->capacity - used, ",\"%s\":[", names[k]);
        for (size_t i = 0; i < block->stamp_count; i++)
            used += (size_t)snprintf(line->text + used, line->capacity - used, "%s%" PRIu64, i ? "," : "",
                                     lists[k][i] - block->t_start_ns);
        used += (size_t)snprintf(line->text + used, line->capacity - used, "]");
    }
    return used;
}

size_t ys_block_line_format(struct ys_block_line *line, int64_t first, int64_t count, const struct ys_block *block)
{
    char *text = line->text;
    size_t used =
        (size_t)snprintf(text, line->capacity,
                         "{\"type\":\"block\",\"first\":%" PRId64 ",\"count\":%" PRId64 ",\"t_start_ns\":%" PRIu64
                         ",\"t_end_ns\":%" PRIu64 ",\"input_ns\":%" PRIu64 ",\"loss\":[",
                         first, count, block->t_start_ns, block->t_end_ns, block->input_ns);
    for (size_t i = 0; i < block->loss_count; i++) {
        const char *comma = i ? "," : "";
        int wrote = isfinite(block->loss[i])
                        ? snprintf(text + used, line->capacity - used, "%s%.17g", comma, block->loss[i])
                        : snprintf(text + used, line->capacity - used, "%s%s", comma, special_name(block->loss[i]));
        used += (size_t)wrote;
    }
    used += (size_t)snprintf(text + used, line->capacity - used, "]");
    if (have_stamps(block))
        used = put_stamps(line, used, block);
    if (block->sent_bytes >= 0)
        used += (size_t)snprintf(text + used, line->capacity - used, ",\"sent_bytes\":%" PRId64, block->sent_bytes);
    if (block->exchange_ns >= 0)
        used += (size_t)snprintf(text + used, line->capacity - used, ",\"exchange_ns\":%" PRId64, block->exchange_ns);
    used += (size_t)snprintf(text + used, line->capacity - used, "}\n");
    YS_ASSERT(used < line->capacity);
    return used;
}
