/* Pieces through sockets. */
#include "dist/link.h"

#include "base/mem.h"

static ys_status grow(char **place, size_t *held_bytes, size_t bytes)
{
    if (bytes <= *held_bytes)
        return YS_OK;
    char *grown = ys_realloc(*place, bytes, 1);
    if (!grown)
        return ys_out_of_memory();
    *place = grown;
    *held_bytes = bytes;
    return YS_OK;
}

static ys_status reserve(struct ys_dist_link *link, size_t bytes, size_t piece_bytes)
{
    YS_TRY(grow(&link->numbers, &link->numbers_bytes, bytes));
    return grow(&link->came, &link->came_bytes, piece_bytes);
}

static ys_status pass(struct ys_dist_link *link, const struct ys_dist_passing *passing, const char **came)
{
    struct ys_dist_transfer t = ys_dist_along(link);
    t.out = link->numbers + passing->out_at;
    t.out_size = passing->out_bytes;
    t.in = passing->into ? passing->into : link->came;
    t.in_size = passing->in_bytes;
    *came = t.in;
    YS_TRY(ys_dist_transfer(t));
    link->sent_bytes += passing->out_bytes;
    return YS_OK;
}

/** What was sent is a copy. */
static ys_status finish(struct ys_dist_link *link)
{
    (void)link;
    return YS_OK;
}

static void fini(struct ys_dist_link *link)
{
    ys_free(link->numbers);
    ys_free(link->came);
}

const struct ys_dist_link_ops ys_dist_link_tcp = {reserve, pass, finish, fini};
