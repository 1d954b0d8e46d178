/* `yardstick-builtin attack`: saved weights of a small network, attacked; what is refused. */
#include "unit/builtin/program.h"

/** Runs `attack` on the files of the fixture, with `more` (ended by NULL) behind; the exit code. */
static int run_attack(const char *graph, const char *weights, const char *data, const char *const *more,
                      struct ys_buf *output)
{
    const char *words[31] = {"attack", "--graph", graph, "--weights", weights, "--data", data, "--threads", "2"};
    for (size_t count = 9; *more; more++)
        words[count++] = *more;
    return run_program(words, output);
}

static ys_json *attack(const char *const *more)
{
    struct ys_buf output = {0};
    ys_json *object = NULL;
    CHECK_INT(run_attack(in_folder("graph.json"), in_folder("weights.safetensors"), in_folder("train.safetensors"),
                         more, &output),
              0);
    CHECK(ys_json_parse(ys_buf_text(&output), output.size, "attack", &object) == YS_OK);
    ys_buf_free(&output);
    return object;
}

static bool is_built(void)
{
    char *path = program_path();
    if (!path || !CHECK(make_fixture())) {
        tap_skip("yardstick-builtin is not built");
        return false;
    }
    ys_free(path);
    return true;
}

static ys_json *entry(const ys_json *object, const char *list, size_t i)
{
    return ys_json_at(ys_json_get(object, list), i);
}

static void saved_weights_are_attacked(void)
{
    if (!is_built())
        return;
    const char *const words[] = {"--attack", "pgd(0.3) fgsm(0.01) ddn", "--curve", "0 0.3", "--outcomes", "yes", NULL};
    ys_json *found = attack(words);
    const int64_t clean = ys_json_get_int(found, "clean", -1);
    CHECK_TEXT(ys_json_get_text(found, "schema", ""), "yardstick/attack/1");
    CHECK_INT(ys_json_get_int(found, "rows", -1), ROWS);
    CHECK(clean > 0 && clean < ROWS);
    CHECK_TEXT(ys_json_get_text(entry(found, "attacks", 0), "attack", ""), "pgd(0.3, 40, 0.03)");
    CHECK_INT(strlen(ys_json_get_text(entry(found, "attacks", 0), "outcomes", "")), ROWS);
    CHECK_INT(ys_json_get_int(entry(found, "attacks", 2), "broken", -1), clean);
    int64_t letters = 0;
    for (const char *at = ys_json_get_text(entry(found, "attacks", 0), "outcomes", ""); *at; at++)
        letters += *at == 'b';
    CHECK_INT(letters, ys_json_get_int(entry(found, "attacks", 0), "broken", -1));
    CHECK_NEAR(ys_json_get_number(entry(found, "robust", 0), "eps", NAN), 0.01, 0);
    CHECK_INT(ys_json_get_int(entry(found, "robust", 1), "standing", -1),
              clean - ys_json_get_int(entry(found, "attacks", 0), "broken", -1));
    CHECK_INT(ys_json_get_int(entry(found, "curve", 0), "standing", -1), clean);
    CHECK_INT(ys_json_get_int(entry(found, "curve", 1), "standing", -1),
              clean - ys_json_get_int(entry(found, "attacks", 0), "broken", -1));
    CHECK(ys_json_get(found, "twins") == NULL && ys_json_get(found, "against") == NULL);
    ys_json_free(found);
}

static void clean_rows_are_those_that_evaluate_counts(void)
{
    if (!is_built())
        return;
    struct ys_buf output = {0};
    int code = -1;
    ys_json *evaluated = NULL;
    const char *argv[] = {program_path(),
                          "evaluate",
                          "--graph",
                          in_folder("graph.json"),
                          "--weights",
                          in_folder("weights.safetensors"),
                          "--data",
                          in_folder("train.safetensors"),
                          "--threads",
                          "1",
                          NULL};
    struct ys_child_options options = {.timeout_s = 60};
    CHECK(ys_child_run(argv, &options, &output, &code) == YS_OK && code == 0);
    CHECK(ys_json_parse(ys_buf_text(&output), output.size, "evaluate", &evaluated) == YS_OK);
    ys_json *found = attack((const char *const[]){"--attack=fgsm(0)", NULL});
    CHECK_INT(ys_json_get_int(found, "clean", -1), ys_json_get_int(evaluated, "correct", -2));
    CHECK_INT(ys_json_get_int(entry(found, "attacks", 0), "broken", -1), 0);
    ys_json_free(found);
    ys_json_free(evaluated);
    ys_buf_free(&output);
    ys_free((void *)(uintptr_t)argv[0]);
}

static void finished_attacks_are_told_behind_each(void)
{
    if (!is_built())
        return;
    const char *const words[] = {"--attack", "fgsm(0.01) fgsm(0.02)", "--tell", "yes", NULL};
    struct ys_buf output = {0};
    CHECK_INT(run_attack(in_folder("graph.json"), in_folder("weights.safetensors"), in_folder("train.safetensors"),
                         words, &output),
              0);
    const char *line = ys_buf_text(&output);
    for (size_t i = 0; i < 3; i++) {
        ys_json *object = NULL;
        const size_t length = strcspn(line, "\n");
        REQUIRE(ys_json_parse(line, length, "line", &object) == YS_OK);
        CHECK_INT(ys_json_size(ys_json_get(object, "attacks")), i < 2 ? i + 1 : 2);
        CHECK_INT(ys_json_size(ys_json_get(object, "robust")), i < 2 ? 0 : 2); /* of all of them together */
        ys_json_free(object);
        line += length + 1;
    }
    ys_buf_free(&output);
}

static void weights_are_held_against_others_and_against_their_twins(void)
{
    if (!is_built())
        return;
    struct net n;
    fixture_net(&n);
    REQUIRE(write_weights(&n, in_folder("small.safetensors"), 0.2f));
    const char *const words[] = {
        "--attack", "fgsm(0.02) ddn", "--rows", "30", "--twins", "2", "--against", in_folder("weights.safetensors"),
        NULL};
    ys_json *same = attack(words);
    const ys_json *compared = ys_json_get(ys_json_get(same, "against"), "compared");
    CHECK_INT(ys_json_get_int(same, "rows", -1), 30);
    CHECK_INT(ys_json_size(compared), 2);
    CHECK_INT(ys_json_get_int(ys_json_at(compared, 0), "only_first_stands", -1), 0);
    CHECK_NEAR(ys_json_get_number(ys_json_at(compared, 0), "p_corrected", NAN), 1, 0);
    CHECK_INT(ys_json_size(ys_json_get(same, "twins")), 2);
    const ys_json *differ = ys_json_get(entry(same, "twins", 0), "differ");
    /* A unit in the last place of the weights moves logits by some 1e-6: a row that near its boundary may fall either
     * way, and two of thirty are not. */
    CHECK(ys_json_get_int(ys_json_at(differ, 0), "rows", 30) <= 1);
    ys_json_free(same);
    const char *const others[] = {"--attack=fgsm(0.02)", "--against", in_folder("small.safetensors"), NULL};
    ys_json *other = attack(others);
    const ys_json *first = ys_json_at(ys_json_get(ys_json_get(other, "against"), "compared"), 0);
    CHECK(ys_json_get_int(first, "only_first_stands", 0) + ys_json_get_int(first, "only_second_stands", 0) > 0);
    ys_json_free(other);
}

static void corruptions_are_the_same_on_any_number_of_threads(void)
{
    if (!is_built())
        return;
    ys_json *two = attack((const char *const[]){"--attack=corruptions(2) fgsm(0.01)", NULL}),
            *one = attack((const char *const[]){"--attack=fgsm(0.01) corruptions(2)", "--threads=1", NULL}),
            *other = attack((const char *const[]){"--attack=corruptions(2)", "--seed=9", NULL});
    size_t apart = 0;
    CHECK_INT(ys_json_size(ys_json_get(two, "corruptions")), 15);
    CHECK_INT(ys_json_size(ys_json_get(two, "attacks")), 1);
    for (size_t i = 0; i < 15; i++) {
        const int64_t right = ys_json_get_int(entry(two, "corruptions", i), "right", -1);
        CHECK(right >= 0 && right <= ROWS);
        CHECK_INT(ys_json_get_int(entry(one, "corruptions", i), "right", -2), right);
        apart += ys_json_get_int(entry(other, "corruptions", i), "right", -2) != right;
    }
    CHECK(apart > 0);
    CHECK_TEXT(ys_json_get_text(entry(two, "corruptions", 0), "kind", ""), "shot_noise");
    CHECK_INT(ys_json_get_int(entry(two, "corruptions", 0), "severity", 0), 2);
    ys_json_free(two);
    ys_json_free(one);
    ys_json_free(other);
}

static void one_row_is_shown_after_each_corruption(void)
{
    if (!is_built())
        return;
    static const struct {
        const char *row;
        int code;
    } cases[] = {{"3", 0}, {"100000", 2}, {"-1", 2}, {"x", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_buf output = {0};
        const char *argv[] = {program_path(), "corrupt",    "--data", in_folder("train.safetensors"),
                              "--row",        cases[i].row, NULL};
        struct ys_child_options options = {.timeout_s = 60};
        int code = -1;
        CHECK(ys_child_run(argv, &options, &output, &code) == YS_OK);
        CHECK_INT(code, cases[i].code);
        CHECK((output.size > 0) == (code == 0));
        if (code == 0) { /* six pictures of 8 pixels a line, 2 between them; 15 kinds */
            CHECK(strncmp(ys_buf_text(&output), "P2\n# shot_noise\n", 16) == 0);
            CHECK_HAS(ys_buf_text(&output), "# canny_edges\n58 148\n255\n");
        }
        ys_buf_free(&output);
        ys_free((void *)(uintptr_t)argv[0]);
    }
}

/** `attack` of these ends with 2 and says nothing on stdout. */
static void check_refused(const char *graph, const char *weights, const char *data, const char *word)
{
    struct ys_buf output = {0};
    CHECK_INT(run_attack(graph, weights, data, (const char *const[]){word, NULL}, &output), 2);
    CHECK_INT(output.size, 0);
    ys_buf_free(&output);
}

static void what_cannot_be_attacked_is_refused(void)
{
    if (!is_built())
        return;
    const char *graph = ys_strdup(in_folder("graph.json")), *weights = ys_strdup(in_folder("weights.safetensors"));
    const char *data = ys_strdup(in_folder("train.safetensors"));
    static float numbers[ROWS * 64];
    static int64_t labels[ROWS];
    struct ys_tensor rows[] = {{"x", YS_F32, 4, {ROWS, 1, 8, 8}, numbers, sizeof numbers},
                               {"y", YS_I64, 1, {ROWS}, labels, sizeof labels}};
    REQUIRE(ys_safetensors_write(in_folder("floats.safetensors"), rows, 2, NULL) == YS_OK);
    check_refused(graph, weights, data, "--attack=pdg(0.1)");
    check_refused(graph, weights, data, "--attack=fgsm(2)");
    check_refused(graph, weights, data, "--attack=corruptions(6)");
    check_refused(graph, weights, data, "--curve=0.1");
    check_refused(graph, in_folder("nan.safetensors"), data, "--attack=fgsm(0.1)");
    check_refused(graph, weights, in_folder("floats.safetensors"), "--attack=fgsm(0.1)");
    check_refused(graph, "/nonexistent", data, "--attack=fgsm(0.1)");
    ys_free((void *)(uintptr_t)graph);
    ys_free((void *)(uintptr_t)weights);
    ys_free((void *)(uintptr_t)data);
}

/** `transfer` from and to folders of the fixture; the exit code. */
static int run_transfer(const char *from, const char *to, struct ys_buf *output)
{
    const char *argv[] = {program_path(), "transfer", "--from", from, "--to", to, "--threads", "2", NULL};
    struct ys_child_options options = {.timeout_s = 120};
    int code = -1;
    CHECK(ys_child_run(argv, &options, output, &code) == YS_OK);
    ys_free((void *)(uintptr_t)argv[0]);
    return code;
}

static void weights_that_are_shown_their_own_have_their_own_outcome(void)
{
    if (!is_built())
        return;
    const char *const words[] = {"--attack", "pgd(0.3) fgsm(0.05) ddn", "--keep", in_folder("kept"), NULL};
    ys_json *found = attack(words), *shown = NULL;
    struct ys_buf output = {0};
    CHECK(ys_json_type_of(ys_json_get(found, "not_kept")) == YS_JSON_NULL);
    CHECK_INT(run_transfer(in_folder("kept"), in_folder("kept"), &output), 0);
    REQUIRE(ys_json_parse(ys_buf_text(&output), output.size, "transfer", &shown) == YS_OK);
    CHECK_TEXT(ys_json_get_text(shown, "schema", ""), "yardstick/transfer/1");
    CHECK_INT(ys_json_size(ys_json_get(shown, "attacks")), 3);
    for (size_t i = 0; i < 3; i++) {
        const int64_t broken = ys_json_get_int(entry(found, "attacks", i), "broken", -1);
        CHECK(broken > 0);
        CHECK_INT(ys_json_get_int(entry(shown, "attacks", i), "both_right", -1), ys_json_get_int(found, "clean", -2));
        CHECK_INT(ys_json_get_int(entry(shown, "attacks", i), "broken", -1), broken);
        CHECK_INT(ys_json_get_int(entry(shown, "attacks", i), "also_wrong", -1), broken);
    }
    ys_json_free(found);
    ys_json_free(shown);
    ys_buf_clear(&output);
    REQUIRE(truncate(in_folder("kept/images"), 100) == 0);
    CHECK_INT(run_transfer(in_folder("kept"), in_folder("kept"), &output), 2);
    CHECK_INT(run_transfer(in_folder("none"), in_folder("kept"), &output), 2);
    CHECK_INT(output.size, 0);
    ys_buf_free(&output);
}

/* A full disk takes nothing from what the attacks found. */
static void what_cannot_be_kept_is_said_and_nothing_of_it_stays(void)
{
    if (!is_built())
        return;
    REQUIRE(ys_fs_make_dirs(in_folder("full")) == YS_OK && symlink("/dev/full", in_folder("full/images")) == 0);
    ys_json *found = attack((const char *const[]){"--attack=pgd(0.3) ddn", "--keep", in_folder("full"), NULL});
    CHECK_HAS(ys_json_get_text(found, "not_kept", ""), "full/images: No space left on device");
    CHECK_INT(ys_json_size(ys_json_get(found, "attacks")), 2);
    CHECK(!ys_fs_exists(in_folder("full")));
    ys_json_free(found);
}

TAP_MAIN(TAP_CASE(saved_weights_are_attacked), TAP_CASE(clean_rows_are_those_that_evaluate_counts),
         TAP_CASE(finished_attacks_are_told_behind_each),
         TAP_CASE(weights_are_held_against_others_and_against_their_twins),
         TAP_CASE(corruptions_are_the_same_on_any_number_of_threads), TAP_CASE(one_row_is_shown_after_each_corruption),
         TAP_CASE(weights_that_are_shown_their_own_have_their_own_outcome),
         TAP_CASE(what_cannot_be_kept_is_said_and_nothing_of_it_stays), TAP_CASE(what_cannot_be_attacked_is_refused))
