#include "framework/converter.h"

#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "base/stored/shelf.h"
#include "framework/adapter_closure.h"
#include "framework/environment.h"
#include "framework/environment_lock.h"

#include <stdio.h>
#include <string.h>

static const uint64_t LIMIT_BYTES = 2000000000; /* of all that is kept */
static const double TIMEOUT_S = 1800;
static const size_t LONGEST_REASON_BYTES = (size_t)16 << 20; /* what a child may say */
static const int UNSUPPORTED = 3;                            /* exit code */
static const char MODEL[] = "model", REFUSED[] = "refused";  /* the file, or why there is none */

ys_status ys_converter_find(const struct ys_recipe *recipe, const char *key, const char *const *recipe_dirs,
                            struct ys_converter **converter)
{
    const bool is_quantiser = strcmp(key, "quantiser") == 0;
    const char *named = is_quantiser ? recipe->quantiser : recipe->converter;
    struct ys_recipe *tool = NULL;
    struct ys_environment environment;
    struct ys_buf closure = {0};
    ys_status status = ys_recipe_find(named, recipe_dirs, &tool);
    if (status == YS_OK && !tool->is_tool)
        status = ys_fail(YS_EFORMAT, "it is no recipe of kind tool");
    if (status != YS_OK) {
        ys_recipe_free(tool);
        return ys_fail_in(YS_EFORMAT, "%s: %s = %s", recipe->path, key, named);
    }
    struct ys_converter *found = ys_alloc(1, sizeof *found);
    ys_environment_read(tool, tool->versions[0], &environment);
    found->spec = ys_format("%s@%s", tool->name, tool->versions[0]);
    found->script = ys_recipe_find_code(recipe, is_quantiser ? recipe->quantise : recipe->convert);
    found->interpreter = ys_strdup(environment.interpreter);
    found->environment = ys_strdup(environment.folder);
    if (!environment.complete)
        found->reason = ys_strdup(environment.reason);
    else if (!ys_fs_exists(found->script))
        found->reason = ys_format("%s is not there", found->script);
    ys_closure_mix_code(&closure, found->script);
    ys_buf_printf(&closure, "%s|%s|", tool->text, environment.made_from);
    ys_sha256_text(ys_buf_text(&closure), closure.size, found->closure);
    ys_buf_free(&closure);
    ys_environment_fini(&environment);
    ys_recipe_free(tool);
    *converter = found;
    return YS_OK;
}

void ys_converter_free(struct ys_converter *converter)
{
    if (!converter)
        return;
    char *texts[] = {converter->spec, converter->script, converter->interpreter, converter->environment,
                     converter->reason};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ys_free(texts[i]);
    ys_free(converter);
}

struct conversion {
    const struct ys_converter *converter;
    const struct ys_plan *plan;
    char *options, *said; /* JSON: all of them, and those by which it is kept */
    struct ys_plan_converted *made;
    bool failed;
};

static void say_wait(void *context)
{
    const struct conversion *conversion = context;
    ys_progress("%s: making a file of %s", conversion->converter->spec, conversion->plan->model);
}

static ys_status run(struct conversion *conversion, const char *out, const char *tmp, struct ys_buf *said, int *code)
{
    const struct ys_converter *converter = conversion->converter;
    char batch[24], *cache = ys_format("XDG_CACHE_HOME=%s/env/cache", converter->environment);
    char *tmp_variable = ys_format("TMPDIR=%s", tmp);
    const char *env[16];
    size_t count = 0;
    for (; ys_environment_variables[count] && count + 3 < sizeof env / sizeof env[0]; count++)
        env[count] = ys_environment_variables[count];
    env[count++] = cache;
    env[count++] = tmp_variable;
    env[count] = NULL;
    snprintf(batch, sizeof batch, "%lld", (long long)conversion->plan->batch);
    const char *argv[] = {converter->interpreter,
                          converter->script,
                          conversion->plan->graph,
                          conversion->plan->weights,
                          batch,
                          conversion->options,
                          out,
                          NULL};
    const struct ys_child_options options = {.env = env,
                                             .folder = tmp,
                                             .timeout_s = TIMEOUT_S,
                                             .merge_stderr = true,
                                             .on_wait = say_wait,
                                             .context = conversion};
    ys_status status = ys_child_run(argv, &options, said, code);
    ys_progress_clear();
    ys_free(cache);
    ys_free(tmp_variable);
    return status;
}

static void note_failure(struct conversion *conversion, const char *code, const char *message)
{
    conversion->failed = true;
    conversion->made->code = ys_strdup(code);
    conversion->made->message = ys_strdup(*message ? message : "it ended without a word");
}

/* Why there is no file. Another try would be refused again, so that is kept; what failed otherwise is not. */
static ys_status note_none(struct conversion *conversion, const char *folder, int code, struct ys_buf *said)
{
    char *text = ys_strdup(ys_buf_text(said)), *path = ys_path_join(folder, REFUSED);
    const char *last = ys_child_last_line(text);
    ys_status status = YS_EUNSUPPORTED;
    if (code == UNSUPPORTED)
        status = ys_fs_write(path, last, strlen(last));
    else
        note_failure(conversion, "build_failed", last);
    ys_free(text);
    ys_free(path);
    return status;
}

/* Of ys_shelf_take(). */
static ys_status fill(void *context, const char *folder)
{
    struct conversion *conversion = context;
    struct ys_lock lock = YS_LOCK_NONE;
    struct ys_buf said = {0};
    int code = 0;
    YS_TRY(ys_environment_share(conversion->converter->environment, &lock));
    char *out = ys_path_join(folder, MODEL), *tmp = ys_path_join(folder, "tmp");
    ys_status status = ys_fs_make_dirs(tmp);
    if (status == YS_OK)
        status = run(conversion, out, tmp, &said, &code);
    if (status == YS_ETIMEOUT) {
        ys_log_debug("%s", ys_buf_text(&said));
        note_failure(conversion, "build_failed", "it took more than half an hour");
        status = YS_EUNSUPPORTED;
    } else if (status == YS_OK && (code != 0 || !ys_fs_is_file(out))) {
        ys_log_debug("%s", ys_buf_text(&said));
        status = note_none(conversion, folder, code, &said);
    }
    if (ys_fs_remove_tree(tmp) != YS_OK && status == YS_OK)
        status = YS_EIO;
    ys_lock_release(&lock);
    ys_buf_free(&said);
    ys_free(out);
    ys_free(tmp);
    return status;
}

/* By what files say, not by where they lie. */
static ys_status key_of(const struct conversion *conversion, char key[YS_SHA256_TEXT])
{
    const struct ys_plan *plan = conversion->plan;
    const struct ys_plan_quantise *quantise = plan->quantise;
    const char *paths[] = {plan->graph, plan->weights, plan->onnx, quantise ? quantise->data : NULL,
                           quantise ? quantise->order : NULL};
    struct ys_buf text = {0};
    ys_status status = YS_OK;
    ys_buf_printf(&text, "%s|%lld|%s|", conversion->converter->closure, (long long)plan->batch, conversion->said);
    for (size_t i = 0; status == YS_OK && i < sizeof paths / sizeof paths[0]; i++) {
        char hash[YS_SHA256_TEXT] = "";
        if (paths[i])
            status = ys_sha256_file(paths[i], hash);
        ys_buf_printf(&text, "%s|", hash);
    }
    ys_sha256_text(ys_buf_text(&text), text.size, key);
    ys_buf_free(&text);
    return status;
}

/* What the program is told beside its files, and of that what is no path. */
static void tell(struct conversion *conversion)
{
    const struct ys_plan *plan = conversion->plan;
    ys_json *options = plan->options ? ys_json_copy(plan->options) : ys_json_object();
    if (plan->quantise)
        ys_json_set(options, "quantise", ys_json_copy(plan->quantise->rule));
    conversion->said = ys_json_dump(options, YS_JSON_SORTED);
    if (plan->quantise) {
        ys_json_set(options, "quantise", ys_record_json(&ys_plan_quantise_record, plan->quantise));
        if (plan->onnx)
            ys_json_set_string(options, "onnx", plan->onnx);
    }
    conversion->options = ys_json_dump(options, YS_JSON_SORTED);
    ys_json_free(options);
}

/* The kept file may be gone while the plan lives, and the plan's is removed with it. */
static ys_status copy(struct conversion *conversion, const char *folder)
{
    char *kept = ys_path_join(folder, MODEL), *path = ys_path_join(conversion->plan->folder, "model.converted");
    ys_status status = ys_fs_remove_tree(path);
    if (status == YS_OK)
        status = ys_fs_copy(kept, path);
    if (status != YS_OK)
        status = ys_fail_in(status, "%s cannot be copied to %s", kept, path);
    else
        conversion->made->path = ys_strdup(path);
    ys_free(kept);
    ys_free(path);
    return status;
}

static ys_status take(struct conversion *conversion)
{
    struct ys_shelf_item item = {0};
    struct ys_buf why = {0};
    char key[YS_SHA256_TEXT];
    YS_TRY(key_of(conversion, key));
    YS_TRY(ys_shelf_take(YS_CONVERTED_SHELF, key, fill, conversion, &item));
    const bool filled = item.filled;
    char *refused = ys_path_join(item.folder, REFUSED);
    ys_status status = YS_OK;
    if (!ys_fs_is_file(refused))
        status = copy(conversion, item.folder);
    else if ((status = ys_fs_read(refused, LONGEST_REASON_BYTES, &why)) == YS_OK)
        note_failure(conversion, "unsupported", ys_buf_text(&why));
    ys_shelf_release(&item);
    ys_buf_free(&why);
    ys_free(refused);
    if (status == YS_OK && filled && ys_shelf_trim(YS_CONVERTED_SHELF, LIMIT_BYTES) != YS_OK)
        ys_log_warn("%s", ys_error());
    return status;
}

ys_status ys_converter_convert(const struct ys_converter *converter, struct ys_plan *plan)
{
    struct conversion conversion = {.converter = converter, .plan = plan};
    conversion.made = ys_alloc(1, sizeof *conversion.made);
    conversion.made->by = ys_strdup(converter->spec);
    tell(&conversion);
    ys_status status = take(&conversion);
    if (conversion.failed)
        status = YS_OK;
    ys_free(conversion.options);
    ys_free(conversion.said);
    ys_record_free(&ys_plan_converted_record, plan->converted);
    plan->converted = NULL;
    if (status == YS_OK)
        plan->converted = conversion.made;
    else
        ys_record_free(&ys_plan_converted_record, conversion.made);
    return status;
}
