/* The built-in engine as several ranks, against itself as one process with the whole batch: the same work to rounding,
 * and the same bits in every rank. */
#include "dist/meeting_place.h"
#include "unit/builtin/program.h"

enum { MOST = 3 };

/* In double over eight steps: some 10^5 roundings of relative 1e-16 each, by chance; mistakes are larger than 1e-4. */
static const double BOUND = 1e-12;

struct ranks {
    struct program programs[MOST];
    int count;
    const char *transport; /* NULL: the usual one */
    int64_t bucket_bytes;  /* 0: the usual */
    struct ys_dist_place place;
    char *folders[MOST];
};

static ys_json *rank_plan(const struct ranks *ranks, int rank, const char *change, const char *value)
{
    ys_json *plan = make_plan("f64"), *dist = ys_json_object();
    ys_json_set_int(dist, "rank", rank);
    ys_json_set_int(dist, "world", ranks->count);
    ys_json_set_int(dist, "local_rank", rank);
    ys_json_set_string(dist, "rendezvous", ranks->place.text);
    if (ranks->bucket_bytes)
        ys_json_set_int(dist, "bucket_bytes", ranks->bucket_bytes);
    CHECK(ys_json_set(plan, "dist", dist) == YS_OK);
    ys_json *options = parse("{\"backend\":\"ref\"}");
    if (ranks->transport)
        ys_json_set_string(options, "transport", ranks->transport);
    CHECK(ys_json_set(plan, "options", options) == YS_OK);
    CHECK(ys_json_set_string(plan, "folder", ranks->folders[rank]) == YS_OK);
    if (change)
        CHECK(ys_json_set(plan, change, parse(value)) == YS_OK);
    return plan;
}

/* Opens `count` ranks; the last one's plan is changed in `change`. */
static bool open_changed(struct ranks *ranks, int count, const char *change, const char *value)
{
    ranks->count = count;
    ranks->place = YS_DIST_NO_PLACE;
    if (!CHECK(ys_dist_place_take(YS_DIST_LOOPBACK, &ranks->place) == YS_OK))
        return false;
    for (int r = 0; r < count; r++) {
        if (!start(&ranks->programs[r]))
            return false;
        ranks->folders[r] = ys_format("%s/rank-%d", folder, r);
        ys_json *message = parse("{\"type\":\"open\"}");
        CHECK(ys_fs_make_dirs(ranks->folders[r]) == YS_OK);
        CHECK(ys_json_set(message, "plan", rank_plan(ranks, r, r == count - 1 ? change : NULL, value)) == YS_OK);
        CHECK(ys_channel_send(ranks->programs[r].channel, message) == YS_OK);
        ys_json_free(message);
    }
    for (int r = 0; r < count; r++) {
        ys_json *opened = receive(&ranks->programs[r]);
        CHECK_TEXT(ys_json_get_text(opened, "type", ""), "opened");
        ys_json_free(opened);
    }
    return true;
}

static void close_ranks(struct ranks *ranks)
{
    for (int r = 0; r < ranks->count; r++) {
        CHECK_INT(stop(&ranks->programs[r]), 0);
        ys_free(ranks->folders[r]);
    }
    ys_dist_place_give_back(&ranks->place);
}

/* Asks all ranks before any has answered. */
static void ask(struct ranks *ranks, const char *text, struct ys_safetensors **files)
{
    for (int r = 0; r < ranks->count; r++) {
        ys_json *message = parse(text);
        CHECK(ys_channel_send(ranks->programs[r].channel, message) == YS_OK);
        ys_json_free(message);
    }
    for (int r = 0; r < ranks->count; r++) {
        ys_json *reply = receive(&ranks->programs[r]);
        files[r] = NULL;
        CHECK_TEXT(ys_json_get_text(reply, "type", ""), "tensors");
        CHECK(ys_safetensors_open(ys_json_get_text(reply, "path", ""), &files[r]) == YS_OK);
        ys_json_free(reply);
    }
}

static void close_files(struct ys_safetensors **files, int count)
{
    for (int i = 0; i < count; i++)
        ys_safetensors_close(files[i]);
}

/* The largest |a - b| over the largest |b|, of any tensor whose name begins with `prefix`. */
static double apart(const struct ys_safetensors *a, const struct ys_safetensors *b, const char *prefix)
{
    double worst = 0;
    for (size_t i = 0; i < ys_safetensors_count(b); i++) {
        const struct ys_tensor *t = ys_safetensors_at(b, i), *u = ys_safetensors_find(a, t->name);
        double difference = 0, largest = 1e-300;
        if (strncmp(t->name, prefix, strlen(prefix)) != 0)
            continue;
        if (!u || ys_tensor_count(u) != ys_tensor_count(t))
            return INFINITY;
        for (size_t k = 0; k < ys_tensor_count(t); k++) {
            difference = fmax(difference, fabs(ys_tensor_value(u, k) - ys_tensor_value(t, k)));
            largest = fmax(largest, fabs(ys_tensor_value(t, k)));
        }
        worst = fmax(worst, difference / largest);
    }
    return worst;
}

static bool equal_bits(const struct ys_safetensors *a, const struct ys_safetensors *b, const char *prefix)
{
    for (size_t i = 0; i < ys_safetensors_count(a); i++) {
        const struct ys_tensor *t = ys_safetensors_at(a, i), *u = ys_safetensors_find(b, t->name);
        if (strncmp(t->name, prefix, strlen(prefix)) != 0)
            continue;
        if (!u || u->size_bytes != t->size_bytes || memcmp(t->data, u->data, t->size_bytes) != 0)
            return false;
    }
    return true;
}

static double mean_loss(struct ys_safetensors **files, int count)
{
    double sum = 0;
    for (int r = 0; r < count; r++)
        sum += ys_tensor_value(ys_safetensors_find(files[r], "loss"), 0);
    return sum / count;
}

static const char BACKWARD[] = "{\"type\":\"backward\",\"batch\":2,\"mode\":\"train\"}";
static const char ALL_STEPS[] = "{\"type\":\"step\",\"n\":8}";

static void any_number_of_ranks_does_what_one_does(void)
{
    struct ys_safetensors *alone[2], *gradients[MOST], *weights[MOST];
    struct ranks ranks = {0};
    if (!open_changed(&ranks, 1, NULL, NULL))
        return;
    ask(&ranks, BACKWARD, &alone[0]);
    ask(&ranks, ALL_STEPS, &alone[1]);
    close_ranks(&ranks);
    for (int count = 2; count <= MOST; count++) {
        REQUIRE(open_changed(&ranks, count, NULL, NULL));
        ask(&ranks, BACKWARD, gradients);
        ask(&ranks, ALL_STEPS, weights);
        CHECK(apart(gradients[0], alone[0], "grad.") < BOUND);
        CHECK(fabs(mean_loss(gradients, count) - mean_loss(&alone[0], 1)) < BOUND);
        CHECK(apart(weights[0], alone[1], "") < BOUND);
        for (int r = 1; r < count; r++) {
            CHECK(equal_bits(gradients[0], gradients[r], "grad."));
            CHECK(equal_bits(weights[0], weights[r], ""));
        }
        close_files(gradients, count);
        close_files(weights, count);
        close_ranks(&ranks);
    }
    close_files(alone, 2);
}

static void buckets_and_transports_change_no_bit_of_any_rank(void)
{
    struct ys_safetensors *alone[1], *through[2][MOST];
    struct ranks ranks = {0};
    if (!open_changed(&ranks, 1, NULL, NULL))
        return;
    ask(&ranks, ALL_STEPS, alone);
    close_ranks(&ranks);
    for (int count = 2; count <= MOST; count++) {
        for (int t = 0; t < 2; t++) {
            ranks.transport = t == 0 ? "tcp" : "shared";
            ranks.bucket_bytes = 100; /* several buckets, of which each tensor of some size is one */
            REQUIRE(open_changed(&ranks, count, NULL, NULL));
            ask(&ranks, ALL_STEPS, through[t]);
            close_ranks(&ranks);
            CHECK(apart(through[t][0], alone[0], "") < BOUND);
            for (int r = 0; r < count; r++)
                CHECK(equal_bits(through[0][0], through[t][r], ""));
        }
        close_files(through[0], count);
        close_files(through[1], count);
    }
    close_files(alone, 1);
}

static void a_rank_shows_the_rows_of_its_share(void)
{
    struct ys_safetensors *alone[1], *files[MOST];
    struct ranks ranks = {0};
    if (!open_changed(&ranks, 1, NULL, NULL))
        return;
    ask(&ranks, "{\"type\":\"forward\",\"batch\":3,\"mode\":\"train\"}", alone);
    close_ranks(&ranks);
    REQUIRE(open_changed(&ranks, 3, NULL, NULL));
    ask(&ranks, "{\"type\":\"forward\",\"batch\":3,\"mode\":\"train\"}", files);
    static const char *const names[] = {"x", "y"};
    for (size_t n = 0; n < 2; n++) {
        const struct ys_tensor *all = ys_safetensors_find(alone[0], names[n]);
        const size_t share = all->size_bytes / 3;
        for (int r = 0; r < 3; r++) {
            const struct ys_tensor *own = ys_safetensors_find(files[r], names[n]);
            REQUIRE(own && own->size_bytes == share && own->shape[0] == BATCH / 3);
            CHECK(memcmp(own->data, (const char *)all->data + (size_t)r * share, share) == 0);
        }
    }
    CHECK(fabs(mean_loss(files, 3) - mean_loss(alone, 1)) < BOUND);
    close_files(alone, 1);
    close_files(files, 3);
    close_ranks(&ranks);
}

/* Mistakes that the proof must see: each makes what rank 0 has differ from one process, or the ranks from each other.
 */
static void mistakes_of_one_rank_show(void)
{
    static const struct {
        const char *what, *change, *value;
    } mistakes[] = {
        {"no decay", "optimizer", "{\"name\":\"sgd\",\"momentum\":0.9,\"nesterov\":false,\"weight_decay\":0}"},
        {"no momentum", "optimizer", "{\"name\":\"sgd\",\"momentum\":0,\"nesterov\":false,\"weight_decay\":0.0005}"},
    };
    struct ys_safetensors *weights[MOST];
    struct ranks ranks = {0};
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        if (!open_changed(&ranks, 2, mistakes[i].change, mistakes[i].value))
            return;
        ask(&ranks, ALL_STEPS, weights);
        printf("# %s\n", mistakes[i].what);
        CHECK(!equal_bits(weights[0], weights[1], ""));
        close_files(weights, 2);
        close_ranks(&ranks);
    }
}

static void clipping_comes_after_the_mean(void)
{
    static const char clipped[] = "{\"name\":\"sgd\",\"momentum\":0,\"nesterov\":false,\"weight_decay\":0,"
                                  "\"clip_norm\":0.01}";
    struct ys_safetensors *alone[1], *files[2];
    struct ranks ranks = {0};
    if (!open_changed(&ranks, 1, "optimizer", clipped))
        return;
    ask(&ranks, ALL_STEPS, alone);
    close_ranks(&ranks);
    ranks.count = 2;
    REQUIRE(ys_dist_place_take(YS_DIST_LOOPBACK, &ranks.place) == YS_OK);
    for (int r = 0; r < 2; r++) {
        REQUIRE(start(&ranks.programs[r]));
        ranks.folders[r] = ys_format("%s/rank-%d", folder, r);
        CHECK(ys_fs_make_dirs(ranks.folders[r]) == YS_OK);
        ys_json *message = parse("{\"type\":\"open\"}");
        CHECK(ys_json_set(message, "plan", rank_plan(&ranks, r, "optimizer", clipped)) == YS_OK);
        CHECK(ys_channel_send(ranks.programs[r].channel, message) == YS_OK);
        ys_json_free(message);
    }
    for (int r = 0; r < 2; r++)
        ys_json_free(receive(&ranks.programs[r]));
    ask(&ranks, ALL_STEPS, files);
    CHECK(apart(files[0], alone[0], "") < BOUND);
    CHECK(equal_bits(files[0], files[1], ""));
    close_files(alone, 1);
    close_files(files, 2);
    close_ranks(&ranks);
}

static void plans_of_no_equal_shares_are_refused(void)
{
    static const struct {
        const char *dist, *said;
    } wrong[] = {
        {"{\"rank\":0,\"world\":4,\"rendezvous\":\"127.0.0.1:9\"}", "no equal shares for 4 ranks"},
        {"{\"rank\":2,\"world\":2,\"rendezvous\":\"127.0.0.1:9\"}", "\"dist.rank\" is 2"},
        {"{\"rank\":0,\"world\":0,\"rendezvous\":null}", "dist.world"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct program p;
        if (!start(&p))
            return;
        ys_json *plan = make_plan("f64");
        CHECK(ys_json_set(plan, "dist", parse(wrong[i].dist)) == YS_OK);
        ys_json *error = open_plan(&p, plan);
        CHECK_TEXT(ys_json_get_text(error, "code", ""), "protocol_error");
        CHECK_HAS(ys_json_get_text(error, "message", ""), wrong[i].said);
        ys_json_free(error);
        CHECK_INT(stop(&p), 0);
    }
}

TAP_MAIN(TAP_CASE(any_number_of_ranks_does_what_one_does), TAP_CASE(buckets_and_transports_change_no_bit_of_any_rank),
         TAP_CASE(a_rank_shows_the_rows_of_its_share), TAP_CASE(mistakes_of_one_rank_show),
         TAP_CASE(clipping_comes_after_the_mean), TAP_CASE(plans_of_no_equal_shares_are_refused))
