#include "job/option.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "tap.h"

#include "base/mem.h"

static void keys_are_found_also_by_their_pattern(void)
{
    REQUIRE(ys_option_find("threads") != NULL);
    CHECK_TEXT(ys_option_find("threads")->name, "threads");
    CHECK_TEXT(ys_option_find("env.OMP_NUM_THREADS")->name, "env.NAME");
    CHECK_TEXT(ys_option_find("opt.pytorch.compile")->name, "opt.FRAMEWORK.NAME");
    CHECK(ys_option_find("thread") == NULL);
    CHECK_TEXT(ys_option_nearest("thread"), "threads");
    CHECK_TEXT(ys_option_nearest("bacth"), "batch");
    CHECK_TEXT(ys_option_nearest("wieght_decay"), "weight_decay");
    CHECK(ys_option_nearest("gradient_accumulation") == NULL);
}

static void every_key_of_the_design_is_in_the_table_once(void)
{
    static const char *const keys[] = {
        "version",     "name",       "repeat",    "order",        "seed",      "time_limit",   "cooldown",
        "results",     "margin",     "max_runs",  "mode",         "framework", "device",       "model",
        "data",        "input",      "batch",     "block",        "epochs",    "steps",        "requests",
        "optimizer",   "lr",         "momentum",  "weight_decay", "schedule",  "clip_norm",    "loss",
        "precision",   "eval_every", "compare",   "threads",      "cpus",      "memory_limit", "run_time_limit",
        "stall_limit", "env.NAME",   "sample_hz", "keep_log",     "audit",     "perf"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        int count = 0;
        for (const struct ys_option *option = ys_options(); option->name; option++)
            count += strcmp(option->name, keys[i]) == 0;
        tap_check(count == 1, __LINE__, "%s stands %d times in the table", keys[i], count);
    }
}

static void every_default_is_a_value_of_its_option(void)
{
    for (const struct ys_option *option = ys_options(); option->name; option++) {
        ys_json *value = NULL;
        tap_check(ys_option_standard(option, &value) == YS_OK, __LINE__, "%s: %s", option->name, ys_error());
        bool null_expected = !option->standard;
        CHECK((ys_json_type_of(value) == YS_JSON_NULL) == null_expected);
        ys_json_free(value);
    }
}

/* The value as JSON text, or the error. */
static const char *value_of(const char *key, const char *text)
{
    static char out[2048];
    ys_json *value = NULL, *array = ys_json_array();
    const struct ys_option *option = ys_option_find(key);
    if (ys_option_parse(option, key, text, &value) != YS_OK) {
        ys_json_free(array);
        return ys_error();
    }
    ys_json_append(array, value);
    char *dump = ys_json_dump(array, YS_JSON_COMPACT);
    snprintf(out, sizeof out, "%s", dump ? dump : "(no dump)");
    ys_free(dump);
    ys_json_free(array);
    return out;
}

static void numbers_are_typed_and_kept_in_range(void)
{
    CHECK_TEXT(value_of("threads", "4"), "[4]");
    CHECK_TEXT(value_of("threads", "all"), "[null]");
    CHECK_TEXT(value_of("threads", "0"), "threads = 0: out of range: write a whole number, 1 to 4096, or all");
    CHECK_TEXT(value_of("threads", "4097"), "threads = 4097: out of range: write a whole number, 1 to 4096, or all");
    CHECK_TEXT(value_of("batch", "0"), "batch = 0: out of range: write a whole number, 1 to 1048576");
    CHECK_TEXT(value_of("batch", "1.5"), "batch = 1.5: this is no whole number: write a whole number, 1 to 1048576");
    CHECK_TEXT(value_of("repeat", "10001"),
               "repeat = 10001: out of range: write a whole number, 1 to 10000, or decide");
    CHECK_TEXT(value_of("repeat", "decide"), "[null]");
    CHECK_TEXT(value_of("lr", "1e-3"), "[0.001]");
    CHECK_TEXT(value_of("lr", "0"), "lr = 0: out of range: write a number, above 0 and at most 1000");
    CHECK_TEXT(value_of("lr", "nan"), "lr = nan: this is no number: write a number, above 0 and at most 1000");
    CHECK_TEXT(value_of("lr", "1e999"), "lr = 1e999: out of range: write a number, above 0 and at most 1000");
    CHECK_TEXT(value_of("margin", "2%"), "[0.02]");
    CHECK_TEXT(value_of("margin", "2"), "margin = 2: out of range: write a share as 2% or 0.02, 0% to 100%");
    CHECK_TEXT(value_of("seed", "9007199254740991"), "[9007199254740991]");
}

static void times_need_units(void)
{
    CHECK_TEXT(value_of("stall_limit", "1.5min"), "[90.0]");
    CHECK_TEXT(value_of("time_limit", "none"), "[null]");
    CHECK_TEXT(value_of("cooldown", "0"), "[0.0]");
    CHECK_TEXT(value_of("run_time_limit", "90"), "run_time_limit = 90: this is no time with a unit (ns, us, ms, s, "
                                                 "min, h, d): write a time with a unit as 30s or 2min, "
                                                 "above 0h and at most 744h, or none");
}

static void words_are_one_of_their_choices(void)
{
    CHECK_TEXT(value_of("order", "fixed"), "[\"fixed\"]");
    CHECK_TEXT(value_of("order", "sorted"), "order = sorted: there is no such choice: write random or fixed");
    CHECK_TEXT(value_of("precision", "f64"), "[\"f64\"]");
    CHECK_TEXT(value_of("keep_log", "off"), "[false]");
    CHECK_TEXT(value_of("keep_log", "maybe"), "keep_log = maybe: this is neither on nor off: write on or off");
}

static void what_there_is_not_is_refused_with_what_there_is(void)
{
    CHECK_TEXT(value_of("device", "cuda"), "device = cuda: there is no such choice: write cpu");
    CHECK_TEXT(value_of("precision", "f16"), "precision = f16: there is no such choice: write f32, f64, bf16 or int8");
    CHECK_HAS(value_of("optimizer", "adagrad"), "optimizer = adagrad: ");
    static const char *const keys[] = {"on_oom", "energy", "gpu_trace", "zip"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        CHECK(!ys_option_find(keys[i]));
}

static void names_are_checked_against_what_there_is(void)
{
    CHECK_TEXT(value_of("model", "lenet"), "[\"lenet\"]");
    CHECK_TEXT(value_of("model", "lennet"), "model = lennet: there is no such model; did you mean lenet?");
    CHECK_HAS(value_of("model", "gigantic"), "model = gigantic: there is no such model: use one of ");
    CHECK_HAS(value_of("model", "gigantic"), "lenet");
    CHECK_TEXT(value_of("data", "mnits"), "data = mnits: there is no such data set; did you mean mnist?");
}

static void frameworks_have_a_name_and_perhaps_a_version(void)
{
    CHECK_TEXT(value_of("framework", "pytorch@2.13.0+cpu"), "[\"pytorch@2.13.0+cpu\"]");
    CHECK_TEXT(value_of("framework", "pytorch@"),
               "framework = pytorch@: this is no framework: write NAME or NAME@VERSION");
    CHECK_HAS(value_of("framework", "@2"), "this is no framework");
    CHECK_HAS(value_of("framework", "../x"), "this is no framework");
    CHECK_HAS(value_of("framework", "a@b@c"), "this is no framework");
}

static void cpu_lists_become_arrays(void)
{
    CHECK_TEXT(value_of("cpus", "0-3,5"), "[[0,1,2,3,5]]");
    CHECK_TEXT(value_of("cpus", "7, 2 - 3"),
               "cpus = 7, 2 - 3: this is no list of CPUs: write a list of CPUs as 0-3,5 (each once, 0 "
               "to 4095), or none");
    CHECK_TEXT(value_of("cpus", "7, 2-3"), "[[7,2,3]]");
    CHECK_TEXT(value_of("cpus", "none"), "[null]");
    CHECK_HAS(value_of("cpus", "0-3,2"), "a CPU stands here twice");
    const char *bad[] = {"", ",", "1,", "3-1", "-1", "4096", "a", "1-2-3"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_HAS(value_of("cpus", bad[i]), "this is no list of CPUs");
}

static void schedules_lose_their_blanks(void)
{
    CHECK_TEXT(value_of("schedule", "step( 30, 0.1 )"), "[\"step(30,0.1)\"]");
    CHECK_TEXT(value_of("schedule", "warmup( 500 ) cosine"), "[\"warmup(500) cosine\"]");
    CHECK_TEXT(value_of("schedule", "linear"),
               "schedule = linear: this is no schedule: write constant, step(STEPS, FACTOR), inv(GAMMA, POWER), "
               "inv(DECAY), cosine or cosine(STEPS)");
    CHECK_TEXT(value_of("schedule", "step(0,1)"),
               "schedule = step(0,1): STEPS must be a whole number, 1 to 1000000000");
}

#define OPTIMIZERS                                                                                                     \
    "write sgd, nesterov, adam, adam(BETA1, BETA2, EPSILON), adamw, adamw(BETA1, BETA2, EPSILON), rmsprop or "         \
    "rmsprop(ALPHA, EPSILON)"

static void optimizers_have_a_name_and_perhaps_numbers(void)
{
    static const char *const good[][2] = {
        {"sgd", "sgd"},
        {" nesterov", "nesterov"},
        {"adam", "adam"},
        {"adam(0.9, 0.999, 1e-8)", "adam"},
        {"adam( .9, 0.95, 1e-6 )", "adam(0.9,0.95,1e-06)"},
        {"adamw(0, 0, 1)", "adamw(0,0,1)"},
        {"rmsprop (0.9, 0.1)", "rmsprop(0.9,0.1)"},
        {"rmsprop(0.99, 1e-8)", "rmsprop"},
        {"Adam", "adam"},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "[\"%s\"]", good[i][1]);
        CHECK_TEXT(value_of("optimizer", good[i][0]), expected);
    }
    static const char *const bad[] = {
        "",         "sdg",          "adam()", "adam(0.9)",   "adam(0.9,0.9)",      "adam(a,b,c)", "adam(1,2,3,4)",
        "sgd(0.9)", "rmsprop(0.9)", "Adamax", "nesterov(1)", "adam(0.9,0.99,1e-8", "adam 0.9"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_HAS(value_of("optimizer", bad[i]), ": this is no optimizer: " OPTIMIZERS);
}

static void numbers_of_optimizers_have_ranges(void)
{
    CHECK_TEXT(value_of("optimizer", "adam(1,0.9,1e-8)"),
               "optimizer = adam(1,0.9,1e-8): BETA1 must be at least 0 and below 1");
    CHECK_TEXT(value_of("optimizer", "adamw(0.9,-0.1,1e-8)"),
               "optimizer = adamw(0.9,-0.1,1e-8): BETA2 must be at least 0 and below 1");
    CHECK_TEXT(value_of("optimizer", "adam(0.9,0.9,0)"),
               "optimizer = adam(0.9,0.9,0): EPSILON must be above 0 and at most 1");
    CHECK_TEXT(value_of("optimizer", "rmsprop(1e999,1e-8)"),
               "optimizer = rmsprop(1e999,1e-8): ALPHA must be at least 0 and below 1");
    CHECK_TEXT(value_of("optimizer", "rmsprop(0.9,2)"),
               "optimizer = rmsprop(0.9,2): EPSILON must be above 0 and at most 1");
}

static void losses_have_a_name_and_perhaps_a_smoothing(void)
{
    CHECK_TEXT(value_of("loss", "auto"), "[\"auto\"]");
    CHECK_TEXT(value_of("loss", "softmax_cross_entropy"), "[\"softmax_cross_entropy\"]");
    CHECK_TEXT(value_of("loss", "softmax_cross_entropy( 0.1 )"), "[\"softmax_cross_entropy(0.1)\"]");
    CHECK_TEXT(value_of("loss", "softmax_cross_entropy(0)"), "[\"softmax_cross_entropy\"]");
    CHECK_TEXT(value_of("loss", "nll"), "[\"nll\"]");
    CHECK_TEXT(value_of("loss", "mse"), "[\"mean_squared_error\"]");
    CHECK_TEXT(value_of("loss", "mean_squared_error"), "[\"mean_squared_error\"]");
    CHECK_TEXT(value_of("loss", "softmax_cross_entropy(1)"),
               "loss = softmax_cross_entropy(1): SMOOTHING must be at least 0 and below 1");
    CHECK_TEXT(
        value_of("loss", "hinge"),
        "loss = hinge: this is no loss: write auto, softmax_cross_entropy, softmax_cross_entropy(SMOOTHING), nll, "
        "mean_squared_error or mse");
}

static void clipping_and_requests_have_ranges(void)
{
    CHECK_TEXT(value_of("clip_norm", "1.5"), "[1.5]");
    CHECK_TEXT(value_of("clip_norm", "none"), "[null]");
    CHECK_TEXT(value_of("clip_norm", "0"),
               "clip_norm = 0: out of range: write a number, above 0 and at most 1000000000, or none");
    CHECK_TEXT(value_of("requests", "1"), "[1]");
    CHECK_TEXT(value_of("requests", "0"), "requests = 0: out of range: write a whole number, 1 to 100000000");
    CHECK_TEXT(value_of("mode", "infer"), "[\"infer\"]");
    CHECK_TEXT(value_of("mode", "serve"), "mode = serve: there is no such choice: write train, infer, attack or size");
    CHECK_TEXT(value_of("precision", "bf16"), "[\"bf16\"]");
}

static void help_of_one_key_says_values_default_axis_and_flag(void)
{
    struct ys_buf out = {0};
    CHECK_INT(ys_option_help_text("precision", &out), YS_OK);
    CHECK_TEXT(ys_buf_text(&out), "precision (work key)\n"
                                  "  format of the numbers computed with; bf16 keeps weights, optimizer and loss in\n"
                                  "  f32; int8, of compare = same-weights alone, quantises them as the keys quant\n"
                                  "  say\n"
                                  "  value:    f32, f64, bf16 or int8\n"
                                  "  default:  f32\n"
                                  "  axis:     yes, {a, b, c} makes a trial of each\n"
                                  "  flag:     --precision=VALUE\n");
    ys_buf_clear(&out);
    CHECK_INT(ys_option_help_text("requests", &out), YS_OK);
    CHECK_HAS(ys_buf_text(&out), "\n  mode:     infer only\n");
    ys_buf_clear(&out);
    CHECK_INT(ys_option_help_text("env.FOO", &out), YS_OK);
    CHECK_HAS(ys_buf_text(&out), "env.NAME (machine key)");
    CHECK_INT(ys_option_help_text("thread", &out), YS_ENOTFOUND);
    CHECK_TEXT(ys_error(), "there is no key thread; did you mean threads?");
    ys_buf_free(&out);
}

static void check_width(const char *text)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        tap_check(strcspn(line, "\n") <= 80, __LINE__, "too wide: %.*s", (int)strcspn(line, "\n"), line);
}

static void help_of_every_key_fits_80_columns(void)
{
    for (const struct ys_option *option = ys_options(); option->name; option++) {
        struct ys_buf out = {0};
        CHECK_INT(ys_option_help_text(option->name, &out), YS_OK);
        check_width(ys_buf_text(&out));
        ys_buf_free(&out);
    }
}

static void the_usage_fits_80_columns_and_has_every_key(void)
{
    struct ys_buf out = {0};
    ys_job_keys_text(&out);
    const char *text = ys_buf_text(&out);
    for (const struct ys_option *option = ys_options(); option->name; option++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s ", option->file_only ? "    " : "  --", option->name);
        tap_check(strstr(text, name) != NULL, __LINE__, "%s", option->name);
    }
    check_width(text);
    ys_buf_free(&out);
}

static void the_json_has_every_key(void)
{
    ys_json *options = ys_options_json();
    size_t count = 0;
    for (const struct ys_option *option = ys_options(); option->name; option++, count++) {
        const ys_json *item = ys_json_at(options, count);
        CHECK_TEXT(ys_json_get_text(item, "name", ""), option->name);
    }
    CHECK_INT(ys_json_size(options), count);
    const ys_json *order = NULL;
    for (size_t i = 0; i < count; i++)
        if (strcmp(ys_json_get_text(ys_json_at(options, i), "name", ""), "order") == 0)
            order = ys_json_at(options, i);
    CHECK_TEXT(ys_json_text(ys_json_at(ys_json_get(order, "choices"), 1), ""), "fixed");
    CHECK_TEXT(ys_json_get_text(order, "default", ""), "random");
    ys_json_free(options);
}

TAP_MAIN(TAP_CASE(keys_are_found_also_by_their_pattern), TAP_CASE(every_key_of_the_design_is_in_the_table_once),
         TAP_CASE(every_default_is_a_value_of_its_option), TAP_CASE(numbers_are_typed_and_kept_in_range),
         TAP_CASE(times_need_units), TAP_CASE(words_are_one_of_their_choices),
         TAP_CASE(what_there_is_not_is_refused_with_what_there_is), TAP_CASE(names_are_checked_against_what_there_is),
         TAP_CASE(frameworks_have_a_name_and_perhaps_a_version), TAP_CASE(cpu_lists_become_arrays),
         TAP_CASE(schedules_lose_their_blanks), TAP_CASE(optimizers_have_a_name_and_perhaps_numbers),
         TAP_CASE(numbers_of_optimizers_have_ranges), TAP_CASE(losses_have_a_name_and_perhaps_a_smoothing),
         TAP_CASE(clipping_and_requests_have_ranges), TAP_CASE(help_of_one_key_says_values_default_axis_and_flag),
         TAP_CASE(help_of_every_key_fits_80_columns), TAP_CASE(the_usage_fits_80_columns_and_has_every_key),
         TAP_CASE(the_json_has_every_key))
