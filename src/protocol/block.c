#include "protocol/block.h"
#include "base/mem.h"
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* The longest of "%.17g": sign, 17 digits, point, "e-308"; and a comma. */
enum { LOSS_BYTES = 26, FRAME_BYTES = 320 };
/* A time of a step is written as what has passed since the block began: at most 14 digits, and a comma. */
enum { STAMP_BYTES = 15 };
static const uint64_t MOST_PASSED_NS = UINT64_C(99999999999999);

ys_status ys_block_line_init(struct ys_block_line *line, size_t steps)
{
    struct ys_block_line made = {.capacity = FRAME_BYTES + steps * (LOSS_BYTES + 2 * STAMP_BYTES), .steps = steps};
    made.text = ys_alloc(made.capacity, 1);
    made.loss = ys_alloc(steps, sizeof *made.loss);
    made.stamps = ys_alloc(2 * steps, sizeof *made.stamps);
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
    return (struct ys_block){
        .loss = line->loss, .ready_ns = line->stamps, .reduced_ns = line->stamps + line->steps, .sent_bytes = -1};
}

/* Whether all of them can be told. */
static bool have_stamps(const struct ys_block *block)
{
    bool fit = block->stamp_count > 0;
    for (size_t i = 0; fit && i < block->stamp_count; i++)
        fit = block->ready_ns[i] >= block->t_start_ns && block->reduced_ns[i] >= block->t_start_ns &&
              block->ready_ns[i] - block->t_start_ns <= MOST_PASSED_NS &&
              block->reduced_ns[i] - block->t_start_ns <= MOST_PASSED_NS;
    return fit;
}

static size_t put_stamps(const struct ys_block_line *line, size_t used, const char *name, const uint64_t *stamps,
                         const struct ys_block *block)
{
    used += (size_t)snprintf(line->text + used, line->capacity - used, ",\"%s\":[", name);
    for (size_t i = 0; i < block->stamp_count; i++)
        used += (size_t)snprintf(line->text + used, line->capacity - used, "%s%" PRIu64, i ? "," : "",
                                 stamps[i] - block->t_start_ns);
    return used + (size_t)snprintf(line->text + used, line->capacity - used, "]");
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
    if (have_stamps(block)) {
        used = put_stamps(line, used, "ready_ns", block->ready_ns, block);
        used = put_stamps(line, used, "reduced_ns", block->reduced_ns, block);
    }
    if (block->sent_bytes >= 0)
        used += (size_t)snprintf(text + used, line->capacity - used, ",\"sent_bytes\":%" PRId64, block->sent_bytes);
    used += (size_t)snprintf(text + used, line->capacity - used, "}\n");
    YS_ASSERT(used < line->capacity);
    return used;
}
