/* The words of attacks. */
#include "base/mem.h"
#include "robust/attack.h"

#include "tap.h"

/** Reads `text`, which must be one attack, and writes it again. */
static void check_text(const char *text, const char *expected)
{
    struct ys_attacks attacks;
    REQUIRE(ys_attacks_read(text, &attacks) == YS_OK);
    CHECK_INT(attacks.count, 1);
    char *again = ys_attack_text(&attacks.items[0]);
    CHECK_TEXT(again, expected);
    ys_free(again);
}

static void what_is_left_out_is_taken(void)
{
    check_text("fgsm(0.1)", "fgsm(0.1)");
    check_text(" bim( 0.2 ) ", "bim(0.2, 40, 0.02)");
    check_text("pgd(0.1)", "pgd(0.1, 40, 0.01)");
    check_text("pgd(0.5, 7)", "pgd(0.5, 7, 0.05)");
    check_text("pgd (8/255, 10, 2/255)", "pgd(8/255, 10, 2/255)");
    check_text("deepfool", "deepfool(50, 0.02)");
    check_text("cw", "cw(6, 300)");
    check_text("cw(9)", "cw(9, 300)");
    check_text("ddn()", "ddn(100)");
    check_text("jsma", "jsma(1, 0.1)");
    check_text("apgd-ce(8/255)", "apgd-ce(8/255)");
    check_text("pgd(1/255)", "pgd(1/255, 40, 0.1/255)");
    check_text("fgsm(0.2)", "fgsm(0.2)"); /* 51/255 */
    check_text("square(0.1)", "square(0.1, 5000)");
    check_text("autoattack(0.1)", "autoattack(0.1)");
    struct ys_attacks attacks;
    REQUIRE(ys_attacks_read("pgd(0.5, 7)", &attacks) == YS_OK);
    CHECK(!attacks.items[0].was_taken[0] && !attacks.items[0].was_taken[1] && attacks.items[0].was_taken[2]);
}

static void several_words_are_several_attacks(void)
{
    struct ys_attacks attacks;
    REQUIRE(ys_attacks_read("fgsm(0.1)  pgd(0.1, 40)\tddn pgd(0.2)", &attacks) == YS_OK);
    CHECK_INT(attacks.count, 4);
    CHECK_INT(attacks.items[1].kind, YS_ATTACK_PGD);
    CHECK_NEAR(ys_attack_eps(&attacks.items[3]), 0.2, 0);
    CHECK(isnan(ys_attack_eps(&attacks.items[2])));
    CHECK_INT(ys_attack_norm(attacks.items[0].kind), YS_CHANGE_LARGEST);
    CHECK_INT(ys_attack_norm(attacks.items[2].kind), YS_CHANGE_L2);
    CHECK_INT(ys_attack_norm(YS_ATTACK_JSMA), YS_CHANGE_PIXELS);
}

static void what_is_wrong_is_named(void)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"pdg(0.1)", "did you mean pgd?"},
        {"nonsense", "there are fgsm(EPS), bim(EPS, STEPS, STEP)"},
        {"", "no attack is named"},
        {"pgd", "EPS is missing"},
        {"fgsm()", "EPS is missing"},
        {"fgsm(1.5)", "fgsm(1.5): EPS must be at least 0 and at most 1"},
        {"fgsm(-0.1)", "EPS must be at least 0"},
        {"fgsm(0.1, 2)", "too many numbers: write fgsm(EPS)"},
        {"fgsm(x)", "no number"},
        {"fgsm(1/0)", "no number"},
        {"fgsm(0.1,)", "too many numbers"},
        {"pgd(0.1,)", "no number"},
        {"pgd(0.1, 2.5)", "STEPS must be a whole number, 1 to 100000"},
        {"pgd(0.1, 0)", "STEPS must be a whole number"},
        {"pgd(0.1, 2, 0)", "STEP must be above 0 and at most 1"},
        {"square(0.1, 0)", "QUERIES must be a whole number, 1 to 1000000"},
        {"apgdt(0.1)", "did you mean apgd-t?"},
        {"jsma(0)", "THETA must be above 0"},
        {"deepfool(50, 2)", "OVERSHOOT must be at least 0 and at most 1"},
        {"fgsm(0.1", "not closed"},
        {"ddn pgd(0.1) ddn(100)", "ddn(100) stands there twice"},
        {"fgsm(0) fgsm(.01) fgsm(.02) fgsm(.03) fgsm(.04) fgsm(.05) fgsm(.06) fgsm(.07) fgsm(.08) fgsm(.09) fgsm(.1) "
         "fgsm(.11) fgsm(.12) fgsm(.13) fgsm(.14) fgsm(.15) fgsm(.16)",
         "more than 16 attacks"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ys_attacks attacks = {.count = 7};
        CHECK_INT(ys_attacks_read(wrong[i].text, &attacks), YS_EINVAL);
        CHECK_HAS(ys_error(), wrong[i].says);
        CHECK_INT(attacks.count, 7);
    }
}

static void a_curve_is_sorted_without_equals(void)
{
    double eps[YS_ATTACKS_MOST];
    size_t count = 0;
    REQUIRE(ys_attack_read_curve("0.2 8/255 0 0.2", eps, &count) == YS_OK);
    CHECK_INT(count, 3);
    CHECK_NEAR(eps[0], 0, 0);
    CHECK_NEAR(eps[1], 8.0 / 255, 0);
    CHECK_NEAR(eps[2], 0.2, 0);
    CHECK_INT(ys_attack_read_curve("0.2 2", eps, &count), YS_EINVAL);
    CHECK_HAS(ys_error(), "\"2\" is no EPS");
    CHECK_INT(ys_attack_read_curve("  ", eps, &count), YS_EINVAL);
}

static void gradients_are_counted_beforehand(void)
{
    struct ys_attacks attacks;
    REQUIRE(ys_attacks_read("fgsm(0.1) bim(0.1, 7) pgd(0.1, 5)", &attacks) == YS_OK);
    /* 1 and 7; of each of three restarts 5, and fgsm beside them; the alarm's 40; two EPS of a curve. */
    CHECK_NEAR(ys_attacks_gradients(&attacks, 3, 2), 1 + 7 + 15 + 1 + 40 + 2 * 40 * 3, 0);
    REQUIRE(ys_attacks_read("cw(2, 30) ddn(50)", &attacks) == YS_OK);
    CHECK_NEAR(ys_attacks_gradients(&attacks, 1, 0), 60 + 50 + 40, 0);
}

TAP_MAIN(TAP_CASE(what_is_left_out_is_taken), TAP_CASE(several_words_are_several_attacks),
         TAP_CASE(what_is_wrong_is_named), TAP_CASE(a_curve_is_sorted_without_equals),
         TAP_CASE(gradients_are_counted_beforehand))
