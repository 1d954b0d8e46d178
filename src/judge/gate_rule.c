/* Rules as they are written: METRIC >= CHANGE %, METRIC <= CHANGE %. */
#include "base/files/fs.h"
#include "base/mem.h"
#include "base/number_text.h"
#include "judge/gate.h"
#include "metric/metric.h"

#include <math.h>
#include <string.h>

enum { FILE_LIMIT = 1 << 20 };

static const char *const defaults[] = {"rate_per_s >= -5 %", "latency_p99_s <= 10 %", "accuracy >= -1 %",
                                       "rss_peak_bytes <= 10 %"};

/* "-3 %", "-3%", "+0.5 %": at most a whole of it less. */
static bool read_change(const char *text, double *change)
{
    char number[32];
    size_t length = strcspn(text, " %");
    const char *rest = text + length + strspn(text + length, " ");
    const size_t plus = *text == '+';
    if (length >= sizeof number || length <= plus || *rest != '%' || rest[1 + strspn(rest + 1, " ")])
        return false;
    memcpy(number, text + plus, length - plus);
    number[length - plus] = 0;
    if (!ys_value_real(number, change) || !isfinite(*change) || *change < -100)
        return false;
    *change /= 100;
    return true;
}

ys_status ys_rules_add(struct ys_rules *rules, const char *text)
{
    char name[64];
    size_t length = strcspn(text, " <>=");
    const char *sign = text + length + strspn(text + length, " ");
    struct ys_rule rule = {.at_least = *sign == '>'};
    if (!length || length >= sizeof name || (*sign != '>' && *sign != '<') || sign[1] != '=' ||
        !read_change(sign + 2 + strspn(sign + 2, " "), &rule.change))
        return ys_fail(YS_EINVAL,
                       "rule \"%s\" cannot be read: write METRIC >= CHANGE or METRIC <= CHANGE, the change "
                       "in per cent of the baseline, as in \"rate_per_s >= -3 %%\"",
                       text);
    memcpy(name, text, length);
    name[length] = 0;
    const struct ys_metric_info *info;
    ys_status status = ys_metric_named(name, &info);
    if (status != YS_OK)
        return ys_fail_in(status, "rule \"%s\"", text);
    rule.metric = info->name;
    struct ys_rule *more = ys_realloc(rules->items, rules->count + 1, sizeof *more);
    rules->items = more;
    rule.text = ys_strdup(text);
    rules->items[rules->count++] = rule;
    return YS_OK;
}

static ys_status add_line(struct ys_rules *rules, char *line)
{
    line[strcspn(line, "#\r")] = 0;
    line += strspn(line, " \t");
    for (size_t end = strlen(line); end > 0 && strchr(" \t", line[end - 1]); end--)
        line[end - 1] = 0;
    return *line ? ys_rules_add(rules, line) : YS_OK;
}

ys_status ys_rules_read(struct ys_rules *rules, const char *path)
{
    struct ys_buf text = {0};
    size_t number = 0;
    if (ys_fs_read(path, FILE_LIMIT, &text) != YS_OK)
        return ys_fail_in(YS_EINVAL, "rules");
    char *all = ys_buf_take(&text), *at = all;
    ys_status status = YS_OK;
    while (status == YS_OK && at) {
        char *end = strchr(at, '\n');
        if (end)
            *end = 0;
        number++;
        status = add_line(rules, at);
        at = end ? end + 1 : NULL;
    }
    ys_free(all);
    if (status != YS_OK)
        return ys_fail_in(status, "%s, line %zu", path, number);
    return rules->count ? YS_OK
                        : ys_fail(YS_EINVAL, "%s holds no rule: write one a line, as \"rate_per_s >= -3 %%\"", path);
}

ys_status ys_rules_default(struct ys_rules *rules)
{
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++)
        YS_TRY(ys_rules_add(rules, defaults[i]));
    return YS_OK;
}

void ys_rules_fini(struct ys_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++)
        ys_free(rules->items[i].text);
    ys_free(rules->items);
    *rules = (struct ys_rules){0};
}
