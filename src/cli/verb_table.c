#include "cli/verb.h"

#include "cli/command.h"
#include "job/option.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
static const struct ys_verb verbs[] = {
    {"run", "[STUDY.ys | -] [--KEY=VALUE ...]",
     "run a study (implied when the first word is a file); - is a study from standard input",
     1, "table json csv md", YS_VERB_ALL_KEYS, ys_command_run,
     {"run studies/first.ys",
      "run --framework=builtin,pytorch --model=lenet --data=digits --threads=1,2 --steps=60 --block=1"}},
    {"size", "[STUDY.ys | -] [--KEY=VALUE ...]",
     "what a trained model takes on disk in each form that frameworks store it in, and whether it loads again: run, with "
     "mode = size, compare = same-weights and form = all",
     1, "table json csv md", YS_VERB_ALL_KEYS, ys_command_size,
     {"size --model=lenet --data=digits --steps=200 --framework=builtin,pytorch",
      "size studies/orchestrated-size.ys --form=own"}},
    {"check", "[STUDY.ys | -] [--KEY=VALUE ...]", "what would run, how long, what is missing",
     1, "table json", YS_VERB_ALL_KEYS, ys_command_check,
     {"check studies/first.ys",
      "check studies/first.ys --data=mnist --epochs=1"}},
    {"verify", "[STUDY.ys | -] [--KEY=VALUE ...]", "are these frameworks doing the same work?",
     1, "table json", YS_VERB_ALL_KEYS, ys_command_verify,
     {"verify studies/first.ys",
      "verify --framework=pytorch --model=resnet20 --data=digits --trace"}},
    {"resume", "[SELECTOR]", "go on with an interrupted study",
     1, "table json csv md", YS_VERB_NO_KEYS, ys_command_resume,
     {"resume",
      "resume first"}},
    {"show", "[SELECTOR]", "the answer of a stored study and a line a trial; with --details all that it says",
     1, "table json csv md", YS_VERB_NO_KEYS, ys_command_show,
     {"show last --details",
      "show first --format=csv"}},
    {"compare", "BASE CANDIDATE [CANDIDATE ...]",
     "studies against each other: what differs, whether it was the same work, a verdict for each metric. Each is a "
     "SELECTOR or a file that `export` wrote",
     -1, "table json", YS_VERB_NO_KEYS, ys_command_compare,
     {"compare 1 2",
      "compare before.jsonl last --confirm"}},
    {"gate", "BASELINE [SELECTOR | STUDY.ys] [--rule=RULE ...]",
     "whether a study keeps rules against a baseline, for CI: exit code 0 all hold, 3 one is broken, 4 one is open. Each study "
     "is a SELECTOR or a file that `export` wrote; a STUDY.ys is run first",
     2, "table json md junit", YS_VERB_NO_KEYS, ys_command_gate,
     {"gate baseline.jsonl last --rule='rate_per_s >= -3 %'",
      "gate baseline.jsonl studies/first.ys --format=junit"}},
    {"history", "[SELECTOR] [--metric=NAME]",
     "one trial over all stored studies of that name, by date, and where it changed",
     1, "table json", YS_VERB_NO_KEYS, ys_command_history,
     {"history last",
      "history last/1 --metric=accuracy"}},
    {"bisect", "[STUDY.ys] --good=NAME@VERSION --bad=NAME@VERSION [--KEY=VALUE ...]",
     "which version of a framework made a study of one trial slower, or wrong: the middle one is measured in turn with both "
     "ends, until it is sure enough; exit code 4 where nothing is decided",
     1, "table json", YS_VERB_ALL_KEYS, ys_command_bisect,
     {"bisect one.ys --good=pytorch@1.13.1 --bad=pytorch@2.13.0",
      "bisect --framework=pytorch --model=lenet --data=digits --steps=60 --good=pytorch@1.13.1 --bad=pytorch@2.13.0 --versions=2.0.1,2.6.0 --install"}},
    {"tune", "[STUDY.ys] --for=METRIC --budget=TIME [--KEY=VALUE ...]",
     "which settings of the machine (threads, waiting, memory allocator ...) make each trial of a study best; confirmed on "
     "fresh rounds, exit code 4 where that cannot be done within the budget",
     1, "table json", YS_VERB_ALL_KEYS, ys_command_tune,
     {"tune studies/first.ys --for=rate_per_s --budget=30min",
      "tune --framework=pytorch --model=lenet --data=digits --steps=60 --for=rate_per_s --budget=10min --knobs=threads,wait --out=tuned.ys"}},
    {"recommend", "[SELECTOR] --wish=WISH",
     "which trial of a study to take for a wish, how sure that is and what would change it: exit code 3 where none meets it",
     1, "table json", YS_VERB_NO_KEYS, ys_command_recommend,
     {"recommend --wish='fastest at accuracy >= 98 %'",
      "recommend first --wish='smallest memory'"}},
    {"results", "import FILE", "bring a study that `export` wrote, here or elsewhere, into the stored results",
     2, NULL, YS_VERB_NO_KEYS, ys_command_results_import,
     {"results import study.jsonl",
      "results import study.jsonl --results=theirs"}},
    {"report", "[SELECTOR] [--compare=BASE] [--history]", "write its report.html again, say where",
     1, NULL, YS_VERB_NO_KEYS, ys_command_report,
     {"report last",
      "report last --compare=baseline.jsonl"}},
    {"export", "[SELECTOR] | --model=NAME --out=FILE.onnx",
     "everything stored of a study, raw, as JSON Lines; csv: a line a run; trace: its runs for Perfetto; or a network as a file",
     1, "json csv trace", YS_VERB_NO_KEYS, ys_command_export,
     {"export last >study.jsonl",
      "export --model=lenet --out=lenet.onnx"}},
    {"import", "FILE.onnx [--out=FILE.json]", "what a network of one's own is, and what would be trained",
     1, "table json", YS_VERB_NO_KEYS, ys_command_import,
     {"import net.onnx",
      "import net.onnx --data=mnist --out=net.json --weights=net.safetensors"}},
    {"list", "frameworks|models|datasets|metrics|keys|knobs [NAME]",
     "what there is; `list frameworks --check NAME` checks an adapter",
     -1, "table json", YS_VERB_OPTIONS, ys_command_list,
     {"list frameworks",
      "list keys threads"}},
    {"install", "NAME[@VERSION] ... | all | NAME --from=PROGRAM", "make a framework's environment",
     -1, NULL, YS_VERB_NO_KEYS, ys_command_install,
     {"install pytorch",
      "install pytorch@1.13.1 jax"}},
    {"uninstall", "NAME[@VERSION] ... | all", "remove it",
     -1, NULL, YS_VERB_NO_KEYS, ys_command_uninstall,
     {"uninstall pytorch@1.13.1",
      "uninstall all"}},
    {"data", "fetch NAME [--from=PLACE]", "download or import a data set",
     2, NULL, YS_VERB_NO_KEYS, ys_command_data,
     {"data fetch mnist",
      "data fetch cifar10 --from=downloads"}},
    {"clean", "[--dry-run]", "remove what processes that were killed have left over, and list it",
     0, NULL, YS_VERB_NO_KEYS, ys_command_clean,
     {"clean --dry-run",
      "clean"}},
    {"doctor", "[--self-test | --noise TIME | --perturbation | --peak]",
     "is this machine fit to measure, is what is observed on it true, what difference can it show; keys of a job say which "
     "trial --noise and --perturbation take",
     0, "table json", YS_VERB_ALL_KEYS, ys_command_doctor,
     {"doctor",
      "doctor --noise 60s --model=lenet --data=digits"}},
    {"init", "[STUDY.ys]", "write a commented example study",
     1, NULL, YS_VERB_NO_KEYS, ys_command_init,
     {"init",
      "init mine.ys"}},
    {"completion", "bash|zsh|fish|man|man-study",
     "print what a shell completes, the manual page, or that of study files: what `make install` installs",
     1, NULL, YS_VERB_NO_KEYS, ys_command_completion,
     {"completion bash >~/.local/share/bash-completion/completions/yardstick",
      "completion man | man -l -"}},
    {"help", "[VERB]", "what there is, or what a verb does and which flags it has",
     1, NULL, YS_VERB_NO_KEYS, ys_command_help,
     {"help",
      "help run"}},
    {NULL},
};

#define SWITCH(member) YS_FLAG_SWITCH, offsetof(struct ys_args, member)
#define TEXT(member)   YS_FLAG_TEXT, offsetof(struct ys_args, member)
#define WORD(member)   YS_FLAG_WORD, offsetof(struct ys_args, member)
#define DIRS(member)   YS_FLAG_DIRS, offsetof(struct ys_args, member)
#define FORMAT(member) YS_FLAG_FORMAT, offsetof(struct ys_args, member)

/* `results` of run, size, check and verify is a key of the job. These four share their flags, so that one word turns one of
 * them into another. */
static const struct ys_flag flags[] = {
    {"results", "DIR", "resume show compare gate history recommend results report export clean", "folder of the results [yardstick-results]", TEXT(results)},
    {"recipes", "DIR", "run size check verify resume list install uninstall doctor bisect tune compare gate",
     "folder with recipes of your own; may be given several times", DIRS(recipe_dirs)},
    {"format", NULL, NULL, "how the result is printed", FORMAT(format)},
    {"fresh", NULL, "run size check verify resume", "prove again what was proven before", SWITCH(fresh)},
    {"all-steps", NULL, "run size check verify resume", "proofs of large networks have ten steps too, not three",
     SWITCH(all_steps)},
    {"trace", NULL, "run size check verify resume", "beside each proof, where a framework first parts from the oracle",
     SWITCH(trace)},
    {"check", "NAME", "list",
     "of frameworks: check the adapter of this one, in the mode that --opt.NAME.OPTION=VALUE and --env.NAME=VALUE say",
     TEXT(check)},
    {"fresh", NULL, "list", "with --check: prove again what was proven before", SWITCH(fresh)},
    {"quick", NULL, "list", "with --check: each operator in one shape, two networks, one optimizer", SWITCH(quick)},
    {"model", "NAME", "export", "the network to write, of `yardstick list models`, or the FILE.json of a graph", TEXT(model)},
    {"out", "FILE", "export", "where to: FILE.onnx, or without weights FILE.json", TEXT(out)},
    {"data", "NAME", "export", "data set whose rows and classes the network gets, of `yardstick list datasets`", TEXT(data)},
    {"weights", "FILE", "export", "its weights, a safetensors file; default: those that a run begins with",
     TEXT(weights)},
    {"seed", "N", "export", "seed of the weights that a run begins with, a whole number [1]", TEXT(seed)},
    {"precision", "f32|f64", "export", "format of the weights [f32]", WORD(precision)},
    {"out", "FILE", "import", "where its graph goes: FILE.json", TEXT(out)},
    {"weights", "FILE", "import", "where the values of its parameters go, as safetensors", TEXT(weights)},
    {"data", "NAME", "import", "data set whose rows it gets [what the file says, bytes]", TEXT(data)},
    {"layout", "nchw|nhwc", "import", "axes of its rows [as it says, or as the data fit]", WORD(layout)},
    {"output", "NAME", "import", "which of several outputs has the logits [it has one]", TEXT(output)},
    {"input", "'ARRAY=INPUT ...'", "import", "which array of the data feeds which input [that of its name]", TEXT(input)},
    {"from", "PROGRAM", "install", "the program that runs its adapter, of a framework that you built", TEXT(from)},
    {"any-index", NULL, "install", "take a version that is not pinned from any index, whatever it brings", SWITCH(any_index)},
    {"repair", NULL, "install", "make it anew where its files are not as they were installed", SWITCH(repair)},
    {"from", "PLACE", "data", "folder or file to import, in the place of a download", TEXT(from)},
    {"unverified", NULL, "data", "take files that are not those published, and mark them", SWITCH(unverified)},
    {"self-test", NULL, "doctor", "do known things, compare what is observed of them with the truth", SWITCH(self_test)},
    {"noise", "TIME", "doctor",
     "run a trial against itself for that time (60s, say): what difference can be shown here, and how many runs one needs",
     TEXT(noise)},
    {"perturbation", NULL, "doctor", "a training watched and not watched, in turn, twelve times: what watching costs",
     SWITCH(perturbation)},
    {"peak", NULL, "doctor",
     "how fast this machine multiplies matrices at best; kept, as the bound beyond which no run is believed",
     SWITCH(peak)},
    {"times", "N", "doctor", "with --self-test, --perturbation, --peak: how often each thing is done [20; of --perturbation 12]", TEXT(times)},
    {"dry-run", NULL, "clean", "list it, remove nothing", SWITCH(dry_run)},
    {"verify", NULL, "show", "in place of the table, whether every row of the study is as it was stored", SWITCH(verify)},
    {"details", NULL, "run size resume show", "everything that the study says, at length", SWITCH(details)},
    {"follow", NULL, "show", "of a study that runs: the table anew with each run on a terminal, else a line every 30 s; it ends "
     "with the study", SWITCH(follow)},
    {"rule", "RULE", "gate",
     "bounds the change of a metric: \"rate_per_s >= -3 %\"; may be given several times [speed, latency, accuracy, memory]",
     YS_FLAG_TEXTS, offsetof(struct ys_args, rules)},
    {"rules", "FILE", "gate", "rules in a file, one a line", TEXT(rule_file)},
    {"confirm", NULL, "compare gate", "run both again here, in turn: of gate what does not hold, after 8, 20 and 50 rounds; of compare "
     "10 rounds", SWITCH(confirm)},
    {"budget", "TIME", "compare gate", "with --confirm: no round begins after so long, 90s or 2h [10min]", TEXT(budget)},
    {"for", "METRIC|WISH", "tune", "what is to be best: of `yardstick list metrics`, or a wish of recommend (\"fastest within 2 GiB\")",
     TEXT(wish)},
    {"budget", "TIME", "tune", "how long all of it may take, proofs included, 30min: each trial has an equal share; with --over as steps, \"20000 steps\"", TEXT(budget)},
    {"knobs", "LIST", "tune", "what may be set, separated by commas [all of `yardstick list knobs FRAMEWORK`]", TEXT(knobs)},
    {"over", "KEYS", "tune", "hyper-parameters in the place of knobs, \"lr={log 1e-4..1e-1 x 13} momentum={0, 0.9}\", of a study with until", TEXT(over)},
    {"search", "random|halving|tpe", "tune", "with --over: how points are chosen [halving]", TEXT(search)},
    {"out", "FILE.ys", "tune", "a study of the answers", TEXT(out)},
    {"wish", "WISH", "recommend", "\"fastest at accuracy >= 98 % within 2 GiB\"; docs/judging.md has the words", TEXT(wish)},
    {"good", "NAME@VERSION", "bisect", "a version that is as it should be", TEXT(good)},
    {"bad", "NAME@VERSION", "bisect", "one that is not", TEXT(bad)},
    {"versions", "LIST", "bisect", "those between, in order, separated by commas [those that there are recipes of]", TEXT(versions)},
    {"install", NULL, "bisect", "install versions that are not: without it bisect says how much that is, and measures nothing", SWITCH(install)},
    {"metric", "NAME", "bisect", "what got worse, of `yardstick list metrics` [rate_per_s]", TEXT(metric)},
    {"metric", "NAME", "history", "whose history, of `yardstick list metrics` [rate_per_s]", TEXT(metric)},
    {"margin", "SHARE", "compare", "what counts as the same, 2% or 0.02 [as the study of BASE says]", TEXT(margin)},
    {"compare", "BASE", "report", "a section that says what it is against that study, a SELECTOR or a file that `export` wrote",
     TEXT(compare)},
    {"history", NULL, "report", "a section with its trial (the first, unless SELECTOR names one) in all stored studies of its name",
     SWITCH(history)},
    {"comparisons", "axes|all", "show report",
     "compare each trial with the first along each axis, or all pairs that differ in one thing [as the study says]",
     WORD(comparisons)},
    {"quiet", NULL, NULL, "say nothing but warnings and errors", SWITCH(quiet), 'q'},
    {"debug", NULL, NULL, "say more", SWITCH(debug), 'v'},
    {"help", NULL, NULL, "this text", SWITCH(help), 'h'},
    {"version", NULL, NULL, "the version of yardstick", SWITCH(version), 'V'},
    {NULL},
};
/* clang-format on */

const struct ys_verb *ys_verbs(void)
{
    return verbs;
}

const struct ys_flag *ys_flags(void)
{
    return flags;
}

const struct ys_verb *ys_verb_find(const char *name)
{
    for (const struct ys_verb *verb = verbs; verb->name; verb++)
        if (strcmp(verb->name, name) == 0)
            return verb;
    return NULL;
}

bool ys_verb_has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; at && *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        if (size == length && memcmp(at, word, size) == 0)
            return true;
        at += size;
    }
    return false;
}

static bool is_of(const struct ys_flag *flag, const struct ys_verb *verb)
{
    if (flag->kind == YS_FLAG_FORMAT)
        return verb->formats != NULL;
    return !flag->verbs || ys_verb_has_word(flag->verbs, verb->name);
}

const struct ys_flag *ys_verb_flag(const struct ys_verb *verb, const char *name, size_t length)
{
    for (const struct ys_flag *flag = flags; flag->name; flag++)
        if (strlen(flag->name) == length && memcmp(flag->name, name, length) == 0 && is_of(flag, verb))
            return flag;
    return NULL;
}
