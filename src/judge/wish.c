#include "judge/wish.h"

#include "base/mem.h"
#include "base/nearest_name.h"
#include "base/number_text.h"
#include "job/option.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_MOST = 64, WORD_SIZE = 96, NAMES_MOST = 512 };

static const char *const openings[] = {"fastest", "smallest", "highest", "lowest"};
static const char *const fillers[] = {"at", "with", "and", "of"};
static const char *const others[] = {"within"};

/* A wish as its words: signs are words of their own, "98 %" and "2 GiB" are one. */
struct wish_words {
    const char *text; /* of the whole */
    char word[WORDS_MOST][WORD_SIZE];
    size_t count, at;
};

static bool is_one_of(const char *const *names, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], word) == 0)
            return true;
    return false;
}
#define IS_ONE_OF(names, word) is_one_of(names, sizeof(names) / sizeof((names)[0]), word)

static ys_status refuse(const struct wish_words *words, const char *what)
{
    return ys_fail(YS_EINVAL,
                   "wish \"%s\": %s; write, for example, \"fastest at accuracy >= 98 %% within 2 GiB\" (fastest, "
                   "smallest, highest METRIC or lowest METRIC first)",
                   words->text, what);
}

/* The nearest of all that may stand in a wish. */
static ys_status refuse_word(const struct wish_words *words, const char *word)
{
    const char *names[NAMES_MOST + 1] = {NULL};
    size_t count = 0, metrics;
    const struct ys_metric_info *infos = ys_metric_infos(&metrics);
    for (size_t i = 0; i < sizeof openings / sizeof openings[0]; i++)
        names[count++] = openings[i];
    names[count++] = others[0];
    for (size_t i = 0; i < metrics && count < NAMES_MOST; i++)
        names[count++] = infos[i].name;
    for (const struct ys_option *option = ys_options(); option->name && count < NAMES_MOST; option++)
        names[count++] = option->name;
    const char *near = ys_nearest(word, names);
    return ys_fail(YS_EINVAL,
                   "wish \"%s\": \"%s\" is no word of a wish, no metric and no key%s%s%s (yardstick list metrics, "
                   "yardstick list keys)",
                   words->text, word, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static bool is_sign(const char *at)
{
    return strchr("<>=", *at) != NULL;
}

/* The length of the word at `at`. */
static size_t length_of(const char *at)
{
    return is_sign(at) ? strspn(at, "<>=") : strcspn(at, " \t,<>=");
}

static ys_status split(const char *text, struct wish_words *words)
{
    words->text = text;
    for (const char *at = text + strspn(text, " \t,"); *at; at += strspn(at, " \t,")) {
        size_t length = length_of(at);
        if (length >= WORD_SIZE || words->count == WORDS_MOST)
            return refuse(words, "it is too long");
        memcpy(words->word[words->count], at, length);
        words->word[words->count++][length] = 0;
        at += length;
    }
    return YS_OK;
}

/* The next word that is no filler; NULL at the end. */
static const char *next(struct wish_words *words)
{
    while (words->at < words->count && IS_ONE_OF(fillers, words->word[words->at]))
        words->at++;
    return words->at < words->count ? words->word[words->at++] : NULL;
}

static bool is_unit(const char *word)
{
    char text[WORD_SIZE + 2];
    double value;
    snprintf(text, sizeof text, "1%s", word);
    return strcmp(word, "%") == 0 || ys_value_size(text, &value) || ys_value_duration(text, &value);
}

/* A number and the unit that may follow it as a word of its own. */
static bool next_value(struct wish_words *words, char text[2 * WORD_SIZE])
{
    double value;
    const char *word = next(words);
    if (!word)
        return false;
    const char *unit = words->at < words->count ? words->word[words->at] : "";
    const bool has_unit = ys_value_real(word, &value) && *unit && is_unit(unit);
    snprintf(text, 2 * WORD_SIZE, "%s%s", word, has_unit ? unit : "");
    words->at += has_unit;
    return true;
}

static ys_status add_bound(struct wish_words *words, struct ys_wish *wish, const struct ys_metric_info *metric,
                           bool at_least, double limit, const char *value)
{
    if (wish->bound_count == YS_WISH_MOST)
        return refuse(words, "it has too many bounds");
    char *text = ys_format("%s %s %s", metric->name, at_least ? ">=" : "<=", value);
    wish->bounds[wish->bound_count++] = (struct ys_wish_bound){text, metric, at_least, limit};
    return YS_OK;
}

/* A value in the metric's unit. */
static bool read_limit(const struct ys_metric_info *metric, const char *text, double *limit)
{
    if (metric->kind == YS_KIND_BYTES)
        return ys_value_size(text, limit);
    if (metric->kind == YS_KIND_SPAN)
        return ys_value_duration(text, limit);
    if (metric->kind == YS_KIND_SHARE)
        return ys_value_share(text, limit);
    return ys_value_real(text, limit) && isfinite(*limit);
}

static ys_status read_bound(struct wish_words *words, const struct ys_metric_info *metric, struct ys_wish *wish)
{
    char value[2 * WORD_SIZE] = "", what[3 * WORD_SIZE];
    double limit = NAN;
    const char *sign = next(words);
    if (!sign || (strcmp(sign, ">=") != 0 && strcmp(sign, "<=") != 0)) {
        snprintf(what, sizeof what, "a bound of %s is written with >= or <=", metric->name);
        return refuse(words, what);
    }
    if (!next_value(words, value) || !read_limit(metric, value, &limit)) {
        snprintf(what, sizeof what, "\"%s\" is no value of %s, which is in %s", value, metric->name,
                 metric->kind == YS_KIND_SHARE ? "%" : metric->unit);
        return refuse(words, what);
    }
    return add_bound(words, wish, metric, sign[0] == '>', limit, value);
}

static ys_status read_within(struct wish_words *words, struct ys_wish *wish)
{
    char value[2 * WORD_SIZE] = "";
    double limit = NAN;
    if (!next_value(words, value))
        return refuse(words, "within wants a size or a time");
    if (ys_value_size(value, &limit) && limit > 0)
        return add_bound(words, wish, ys_metric_find("rss_peak_bytes"), false, limit, value);
    if (ys_value_duration(value, &limit))
        return add_bound(words, wish, ys_metric_find("wall_s"), false, limit, value);
    return refuse(words, "within wants a size or a time");
}

static ys_status read_key(struct wish_words *words, const struct ys_option *option, const char *name,
                          struct ys_wish *wish)
{
    char text[2 * WORD_SIZE] = "", what[2 * WORD_SIZE];
    const char *sign = next(words);
    if (!ys_option_is_resolved(option) || wish->key_count == YS_WISH_MOST) {
        snprintf(what, sizeof what, "the key %s is none that tells trials apart", name);
        return refuse(words, what);
    }
    if (!sign || strcmp(sign, "=") != 0 || !next_value(words, text)) {
        snprintf(what, sizeof what, "a key is written %s = VALUE", name);
        return refuse(words, what);
    }
    struct ys_wish_key *key = &wish->keys[wish->key_count++];
    key->name = ys_strdup(option->name);
    key->text = ys_strdup(text);
    return ys_option_parse(option, option->name, text, &key->value);
}

static ys_status read_opening(struct wish_words *words, struct ys_wish *wish)
{
    const char *word = next(words);
    if (!word)
        return refuse(words, "it is empty");
    wish->highest = strcmp(word, "fastest") == 0 || strcmp(word, "highest") == 0;
    if (strcmp(word, "fastest") == 0) {
        wish->metric = ys_metric_find("rate_per_s");
    } else if (strcmp(word, "smallest") == 0) {
        wish->metric = ys_metric_find("rss_peak_bytes");
        words->at += words->at < words->count && strcmp(words->word[words->at], "memory") == 0;
    } else if (IS_ONE_OF(openings, word)) {
        const char *name = next(words);
        wish->metric = name ? ys_metric_find(name) : NULL;
        if (!wish->metric)
            return name ? refuse_word(words, name) : refuse(words, "it does not say of which metric");
    } else if (ys_metric_find(word) || ys_option_find(word)) {
        return refuse(words, "it does not say first what is wanted");
    } else {
        return refuse_word(words, word);
    }
    return YS_OK;
}

static ys_status read_rest(struct wish_words *words, struct ys_wish *wish)
{
    for (const char *word = next(words); word; word = next(words)) {
        const struct ys_metric_info *metric = ys_metric_find(word);
        const struct ys_option *option = ys_option_find(word);
        if (strcmp(word, others[0]) == 0)
            YS_TRY(read_within(words, wish));
        else if (metric)
            YS_TRY(read_bound(words, metric, wish));
        else if (option)
            YS_TRY(read_key(words, option, word, wish));
        else
            return refuse_word(words, word);
    }
    return YS_OK;
}

ys_status ys_wish_read(const char *text, struct ys_wish *wish)
{
    *wish = (struct ys_wish){.text = ys_strdup(text)};
    struct wish_words *words = ys_alloc(1, sizeof *words);
    ys_status status = split(text, words);
    if (status == YS_OK)
        status = read_opening(words, wish);
    if (status == YS_OK)
        status = read_rest(words, wish);
    ys_free(words);
    if (status != YS_OK)
        ys_wish_fini(wish);
    return status;
}

void ys_wish_fini(struct ys_wish *wish)
{
    for (size_t i = 0; i < wish->bound_count; i++)
        ys_free(wish->bounds[i].text);
    for (size_t i = 0; i < wish->key_count; i++) {
        ys_free(wish->keys[i].name);
        ys_free(wish->keys[i].text);
        ys_json_free(wish->keys[i].value);
    }
    ys_free(wish->text);
    *wish = (struct ys_wish){0};
}
