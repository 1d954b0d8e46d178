#include "builtin/attacked_engine.h"
#include "builtin/builtin.h"
#include "builtin/engine_commands.h"
#include "builtin/kept_images.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/number_text.h"
#include "stat/mcnemar.h"

#include <stdio.h>
#include <string.h>

static const uint64_t NS_BETWEEN = 1000000000; /* two lines that say what is done */

struct attack_request {
    const char *graph, *weights, *data, *attack, *curve, *seed, *against, *outcomes, *tell, *keep;
    int64_t threads, rows, restarts, twins;
    struct ys_attacks attacks;
    double eps[YS_ATTACKS_MOST];
    size_t eps_count;
    int64_t seed_number;
};

static ys_status parse(int argc, char **argv, struct attack_request *r)
{
    const struct ys_builtin_flag flags[] = {
        {"graph", .text = &r->graph},       {"weights", .text = &r->weights},   {"data", .text = &r->data},
        {"attack", .text = &r->attack},     {"curve", .text = &r->curve},       {"seed", .text = &r->seed},
        {"against", .text = &r->against},   {"outcomes", .text = &r->outcomes}, {"tell", .text = &r->tell},
        {"threads", .number = &r->threads}, {"rows", .number = &r->rows},       {"restarts", .number = &r->restarts},
        {"twins", .number = &r->twins},     {"keep", .text = &r->keep},
    };
    YS_TRY(ys_builtin_flags(argc, argv, "attack", flags, sizeof flags / sizeof flags[0]));
    if (!r->graph || !r->weights || !r->data || r->threads < 1 || !r->attack)
        return ys_fail(YS_EINVAL, "attack needs --graph, --weights, --data, --threads and --attack");
    const char *const switches[][2] = {{"outcomes", r->outcomes}, {"tell", r->tell}};
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++)
        if (switches[i][1] && strcmp(switches[i][1], "yes") != 0)
            return ys_fail(YS_EINVAL, "--%s is \"%s\"; write yes, or leave it out", switches[i][0], switches[i][1]);
    if (r->seed && (!ys_value_int(r->seed, &r->seed_number) || r->seed_number < 0))
        return ys_fail(YS_EINVAL, "--seed is \"%s\"; it is a whole number of at least 0", r->seed);
    ys_status status = ys_attacks_read(r->attack, &r->attacks);
    if (status != YS_OK)
        return ys_fail_in(status, "--attack");
    status = r->curve ? ys_attack_read_curve(r->curve, r->eps, &r->eps_count) : YS_OK;
    return status == YS_OK ? YS_OK : ys_fail_in(status, "--curve");
}

static void leave_out_outcomes(struct ys_robustness *found)
{
    struct ys_attack_result *results = found->attacks.items;
    for (size_t i = 0; i < found->attacks.count; i++) {
        ys_free(results[i].outcomes);
        results[i].outcomes = NULL;
    }
}

/** A line of what is found so far, for whoever is interrupted in the next attack. */
static ys_status tell_finished(void *of, const struct ys_robustness *found)
{
    struct ys_robustness so_far;
    (void)of;
    YS_TRY(ys_record_copy(&ys_robustness_record, found, &so_far));
    leave_out_outcomes(&so_far);
    ys_json *json = ys_record_json(&ys_robustness_record, &so_far);
    ys_robustness_fini(&so_far);
    return ys_builtin_print_json(json);
}

/** "done 0.25 pgd(0.1)", at most once a second, for whoever waits. */
static void tell_progress(void *of, double done_part, const char *what)
{
    uint64_t *told_ns = of;
    const uint64_t now_ns = ys_time_ns();
    if (now_ns - *told_ns < NS_BETWEEN)
        return;
    *told_ns = now_ns;
    fprintf(stderr, YS_ATTACK_DONE "%.4f %s\n", done_part, what);
}

/** Attacks the weights of a file; `twin` as ys_attacked_engine_open() has it, judged by the weights as they are.
 * `kept` NULL: nothing is kept. */
static ys_status attack_weights(const struct attack_request *r, const char *weights, int twin,
                                const struct ys_attacked_images *images, struct ys_kept_images *kept,
                                struct ys_robustness *found)
{
    struct ys_attacked_engine engine, twin_engine;
    uint64_t told_ns = 0;
    const bool tells = r->tell && !twin && weights == r->weights;
    ys_record_init(&ys_robustness_record, found);
    YS_TRY(ys_attacked_engine_open(r->graph, weights, (int)r->threads, images->rows, 0, &engine));
    if (kept)
        ys_kept_images_begin(r->keep, r->graph, weights, images->labels, engine.model.pixels, kept);
    const struct ys_attack_spec spec = {.attacks = r->attacks,
                                        .images = images->pixels,
                                        .labels = images->labels,
                                        .rows = images->rows,
                                        .restarts = r->restarts ? (size_t)r->restarts : 1,
                                        .seed = (uint64_t)r->seed_number,
                                        .curve = r->eps,
                                        .curve_count = twin ? 0 : r->eps_count,
                                        .finished = tells ? tell_finished : NULL,
                                        .progress = tells ? tell_progress : NULL,
                                        .progress_of = &told_ns,
                                        .broken = kept ? ys_kept_images_add : NULL,
                                        .broken_of = kept,
                                        .judge = ys_attacked_engine_judge,
                                        .judge_of = &engine};
    ys_status status = YS_OK;
    if (twin) {
        status = ys_attacked_engine_open(r->graph, weights, (int)r->threads, images->rows, twin, &twin_engine);
        if (status == YS_OK) {
            status = ys_attack_model(&twin_engine.model, &spec, found);
            ys_attacked_engine_close(&twin_engine);
        }
    } else {
        status = ys_attack_model(&engine.model, &spec, found);
    }
    ys_attacked_engine_close(&engine);
    if (kept)
        ys_kept_images_end(kept, status == YS_OK ? found : NULL);
    return status;
}

/** Rows that stand in the first alone. */
static size_t count_only(const char *first, const char *second)
{
    size_t count = 0;
    for (size_t i = 0; first[i]; i++)
        count += first[i] == 's' && second[i] != 's';
    return count;
}

/** One entry an attack: its text, and the rows of which a twin's outcome differs. */
static ys_json *differing(const struct ys_robustness *found, const struct ys_robustness *twin)
{
    const struct ys_attack_result *a = found->attacks.items, *b = twin->attacks.items;
    ys_json *list = ys_json_array();
    for (size_t i = 0; i < found->attacks.count; i++) {
        ys_json *one = ys_json_object();
        ys_json_set_string(one, "attack", a[i].attack);
        ys_json_set_int(one, "rows", ys_attack_apart(&a[i], &b[i]));
        ys_json_append(list, one);
    }
    return list;
}

static ys_status add_twins(const struct attack_request *r, const struct ys_attacked_images *images,
                           const struct ys_robustness *found, ys_json *object)
{
    ys_json *list = ys_json_array();
    YS_TRY(ys_json_set(object, "twins", list));
    for (int64_t t = 1; t <= r->twins; t++) {
        struct ys_robustness twin;
        ys_status status = attack_weights(r, r->weights, (int)t, images, NULL, &twin);
        if (status == YS_OK) {
            ys_json *one = ys_json_object();
            ys_json_set(one, "robust", ys_list_json(&ys_eps_standing_record, &twin.robust));
            ys_json_set(one, "differ", differing(found, &twin));
            status = ys_json_append(list, one);
        }
        ys_robustness_fini(&twin);
        YS_TRY(status);
    }
    return YS_OK;
}

/** Per attack McNemar's test of the two, corrected over the attacks. */
static ys_json *compare(const struct ys_robustness *found, const struct ys_robustness *other)
{
    const struct ys_attack_result *a = found->attacks.items, *b = other->attacks.items;
    const size_t count = found->attacks.count;
    double p[YS_ATTACKS_MOST], corrected[YS_ATTACKS_MOST];
    size_t here[YS_ATTACKS_MOST], there[YS_ATTACKS_MOST];
    ys_json *list = ys_json_array();
    for (size_t i = 0; i < count; i++) {
        here[i] = count_only(a[i].outcomes, b[i].outcomes);
        there[i] = count_only(b[i].outcomes, a[i].outcomes);
        p[i] = ys_mcnemar_p(here[i], there[i]);
    }
    ys_holm_correct(p, count, corrected);
    for (size_t i = 0; i < count; i++) {
        ys_json *one = ys_json_object();
        ys_json_set_string(one, "attack", a[i].attack);
        ys_json_set_int(one, "only_first_stands", (int64_t)here[i]);
        ys_json_set_int(one, "only_second_stands", (int64_t)there[i]);
        ys_json_set_real(one, "p", p[i]);
        ys_json_set_real(one, "p_corrected", corrected[i]);
        ys_json_append(list, one);
    }
    return list;
}

static ys_status add_against(const struct attack_request *r, const struct ys_attacked_images *images,
                             const struct ys_robustness *found, ys_json *object)
{
    struct ys_robustness other;
    ys_status status = attack_weights(r, r->against, 0, images, NULL, &other);
    if (status != YS_OK) {
        ys_robustness_fini(&other);
        return ys_fail_in(status, "--against");
    }
    ys_json *against = ys_json_object();
    ys_json_set_int(against, "clean", other.clean);
    ys_json_set(against, "robust", ys_list_json(&ys_eps_standing_record, &other.robust));
    ys_json_set(against, "is_masked", ys_json_bool(other.is_masked));
    ys_json_set(against, "compared", compare(found, &other));
    ys_robustness_fini(&other);
    return ys_json_set(object, "against", against);
}

/** All that is to be printed. */
static ys_status answer(const struct attack_request *r, const struct ys_attacked_images *images, ys_json *object)
{
    struct ys_robustness found;
    struct ys_kept_images kept = {0};
    ys_status status = attack_weights(r, r->weights, 0, images, r->keep ? &kept : NULL, &found);
    if (status == YS_OK && r->keep)
        status = ys_json_set_string(object, "not_kept", kept.reason);
    ys_free(kept.reason);
    if (status == YS_OK && r->twins > 0)
        status = add_twins(r, images, &found, object);
    if (status == YS_OK && r->against)
        status = add_against(r, images, &found, object);
    if (status == YS_OK && !r->outcomes)
        leave_out_outcomes(&found);
    ys_json *json = ys_record_json(&ys_robustness_record, &found);
    if (status == YS_OK)
        status = ys_json_merge(object, json);
    ys_json_free(json);
    ys_robustness_fini(&found);
    return status;
}

int ys_builtin_attack(int argc, char **argv)
{
    struct attack_request request = {0};
    struct ys_attacked_images images = {0};
    ys_json *object = ys_json_object();
    ys_status status = ys_json_set_string(object, "schema", "yardstick/attack/1");
    if (status == YS_OK)
        status = parse(argc, argv, &request);
    if (status == YS_OK)
        status = ys_attacked_images_read(request.graph, request.data, request.rows ? (size_t)request.rows : SIZE_MAX,
                                         &images);
    if (status == YS_OK)
        status = answer(&request, &images, object);
    if (status == YS_OK)
        status = ys_builtin_print_json(object); /* which takes it */
    else
        ys_json_free(object);
    ys_attacked_images_free(&images);
    return ys_builtin_end(status);
}
