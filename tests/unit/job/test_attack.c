/* The keys of attacks: what they resolve to, and what is refused. */
#include "helper.h"

static const char *text_of(const struct helper_study *study, const char *key)
{
    return ys_json_text(key_of(study, 0, key), "none");
}

static void attacks_are_written_with_all_their_numbers(void)
{
    struct helper_study study = study_of(HEAD "attack = corruptions(5) fgsm(8/255)  pgd( 0.1 ,20 ) ddn "
                                              "corruptions(2)\nattack.curve = 0.2 8/255 0.2\nattack.rows = 50\n");
    REQUIRE(study.status == YS_OK);
    CHECK_INT(ys_json_size(study.job.trials), 1);
    CHECK_TEXT(text_of(&study, "attack"), "fgsm(8/255) pgd(0.1, 20, 0.01) ddn(100) corruptions(2) corruptions(5)");
    CHECK_TEXT(text_of(&study, "attack.curve"), "0.03137254901960784 0.2");
    CHECK_INT(ys_json_integer(key_of(&study, 0, "attack.rows"), 0), 50);
    CHECK_INT(ys_json_integer(key_of(&study, 0, "attack.restarts"), 0), 1);
    CHECK_INT(ys_json_integer(key_of(&study, 0, "attack.twins"), -1), 0);
    CHECK_TEXT(text_of(&study, "attack.transfer"), "off");
    ys_job_fini(&study.job);
}

static void where_nothing_attacks_there_is_nothing_to_say_of_how(void)
{
    static const char *const keys[] = {"attack",       "attack.rows",  "attack.restarts",
                                       "attack.curve", "attack.twins", "attack.transfer"};
    static const char off_again[] = "version = 1\n[global]\nattack = fgsm(0.1)\nattack.rows = 9\n[a]\nmodel = "
                                    "lenet\ndata = digits\nattack = none\n";
    static const char *const texts[] = {HEAD, HEAD "mode = infer\n", HEAD "compare = same-weights\n", off_again};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct helper_study study = study_of(texts[i]);
        CHECK_TEXT(study.error, "");
        for (size_t k = 0; study.status == YS_OK && k < sizeof keys / sizeof keys[0]; k++)
            CHECK(ys_json_type_of(key_of(&study, 0, keys[k])) == YS_JSON_NULL);
        ys_job_fini(&study.job);
    }
}

static void what_attacks_do_not_go_with_is_refused(void)
{
    CHECK_REFUSED(HEAD "mode = infer\nattack = fgsm(0.1)\n",
                  "t.ys:6:1: attack is of trained weights, and section [a] has mode = infer, which trains none: remove "
                  "it, or write attack = none");
    CHECK_REFUSED(HEAD "compare = same-weights\nattack = fgsm(0.1)\n",
                  "t.ys:6:1: attack is of the weights that each framework has trained, and section [a] has compare = "
                  "same-weights, where all have the same: remove it, or write attack = none");
    CHECK_REFUSED(
        HEAD "attack.rows = 10\n",
        "t.ys:5:1: attack.rows is of attacks, and section [a] has none: remove it, or write attack = pgd(0.1)");
    CHECK_REFUSED(HEAD "attack = {fgsm(0.1), pgd(0.1)}\n",
                  "t.ys:5:10: attack = {fgsm(0.1), pgd(0.1)}: attack takes one value, not an axis: remove the braces");
    CHECK_REFUSED(HEAD "compare = same-weights\nmode = attack\nattack = fgsm(0.1)\nattack.twins = 3\n",
                  "t.ys:8:1: attack.twins is of trainings that rounding sets apart, and section [a] has compare = "
                  "same-weights, where all have the same: remove it, or write attack.twins = 0");
    CHECK_REFUSED(HEAD "compare = same-weights\nmode = attack\nattack = fgsm(0.1)\nattack.transfer = on\n",
                  "t.ys:8:1: attack.transfer shows what was made on one trial's weights to another's, and section [a] "
                  "has compare = same-weights, where all have the same: remove it, or write attack.transfer = off");
    CHECK_REFUSED(HEAD "attack.transfer = on\n",
                  "t.ys:5:1: attack.transfer is of attacks, and section [a] has none: remove it, or write attack = "
                  "pgd(0.1)");
    CHECK_REFUSED(HEAD "attack = fgsm(0.1)\nattack.rows = 0\n",
                  "t.ys:6:15: attack.rows = 0: out of range: write a whole number, 1 to 2147483648");
}

static void words_that_are_no_attack_are_told_from_the_nearest(void)
{
    static const struct {
        const char *line, *word;
    } refused[] = {{"attack = pdg(0.1)", "did you mean pgd?"},
                   {"attack = pgd", "EPS is missing"},
                   {"attack = fgsm(1.5)", "EPS must be"},
                   {"attack = fgsm(-0.1)", "EPS must be"},
                   {"attack = fgsm(0.1", "is not closed"},
                   {"attack = fgsm(0.1, 2)", "too many numbers"},
                   {"attack = corruptions(2.5)", "SEVERITY must be a whole number, 1 to 5"},
                   {"attack = ddn(0)", "STEPS must be"},
                   {"attack = fgsm(0.1) fgsm(0.1)", "twice"},
                   {"attack = fgsm(0.1)\nattack.curve = 2", "EPS"}};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, HEAD "%s\n", refused[i].line);
        struct helper_study study = study_of(text);
        CHECK_INT(study.status, YS_EINVAL);
        CHECK_HAS(study.error, refused[i].word);
        ys_job_fini(&study.job);
    }
}

TAP_MAIN(TAP_CASE(attacks_are_written_with_all_their_numbers),
         TAP_CASE(where_nothing_attacks_there_is_nothing_to_say_of_how),
         TAP_CASE(what_attacks_do_not_go_with_is_refused), TAP_CASE(words_that_are_no_attack_are_told_from_the_nearest))
