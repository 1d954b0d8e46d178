/* Attacks: small changes of images that make a classifier wrong, over a model that is given as two functions, so that
 * an engine in this process and a framework behind a socket are attacked by the same code.
 *
 * Images are floats in [0, 1], before any normalisation, in C order (channels, height, width); a change is measured in
 * those units. What each attack does, by its paper's equation, and each choice on which libraries differ:
 * docs/robustness.md.
 *
 *     FGSM      Goodfellow, Shlens and Szegedy, "Explaining and harnessing adversarial examples", ICLR 2015
 *     BIM       Kurakin, Goodfellow and Bengio, "Adversarial examples in the physical world", 2016
 *     PGD       Madry et al., "Towards deep learning models resistant to adversarial attacks", ICLR 2018
 *     DEEPFOOL  Moosavi-Dezfooli, Fawzi and Frossard, "DeepFool", CVPR 2016
 *     CW        Carlini and Wagner, "Towards evaluating the robustness of neural networks", S&P 2017, L2
 *     DDN       Rony et al., "Decoupling direction and norm", CVPR 2019
 *     JSMA      Papernot et al., "The limitations of deep learning in adversarial settings", EuroS&P 2016
 *     APGD, AUTOATTACK  Croce and Hein, "Reliable evaluation of adversarial robustness", ICML 2020
 *     FAB       Croce and Hein, "Minimally distorted adversarial examples", ICML 2020
 *     SQUARE    Andriushchenko et al., "Square attack", ECCV 2020 */
#ifndef YS_ROBUST_ATTACK_H
#define YS_ROBUST_ATTACK_H

#include "base/json/record.h"
#include "base/status.h"
#include "robust/corrupt/corruption.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Begins a line on stderr of a program that attacks, "done PART WHAT": for whoever waits, PART from 0 to 1. */
#define YS_ATTACK_DONE "done "

enum ys_attack_kind {
    YS_ATTACK_FGSM,
    YS_ATTACK_BIM,
    YS_ATTACK_PGD,
    YS_ATTACK_DEEPFOOL,
    YS_ATTACK_CW,
    YS_ATTACK_DDN,
    YS_ATTACK_JSMA,
    YS_ATTACK_APGD_CE,
    YS_ATTACK_APGD_T,
    YS_ATTACK_FAB_T,
    YS_ATTACK_SQUARE,
    YS_ATTACK_AUTOATTACK,  /* the four before it, one after the other, each against the rows that still stand */
    YS_ATTACK_CORRUPTIONS, /* no adversary: every kind of robust/corrupt/corruption.h; never among `items` below */
    YS_ATTACK_KINDS
};
extern const struct ys_names ys_attack_kinds; /* "fgsm", "bim", ... */

/** What an attack is bounded by, or looks for the smallest of. */
enum ys_attack_norm {
    YS_CHANGE_LARGEST, /* bounded: no pixel changes by more than EPS */
    YS_CHANGE_L2,      /* looks for the smallest root of the sum of squares over all pixels */
    YS_CHANGE_PIXELS   /* counts the pixels that it changes */
};

enum { YS_ATTACK_NUMBERS = 3, YS_ATTACKS_MOST = 16 };

/* The numbers of each kind, in their order:
 *     fgsm(EPS)                  EPS 0 to 1, which has no default
 *     bim(EPS, STEPS, STEP)      STEPS 1 to 100000 (40), STEP above 0 and at most 1 (EPS / 10)
 *     pgd(EPS, STEPS, STEP)      the same
 *     deepfool(STEPS, OVERSHOOT) STEPS 1 to 100000 (50), OVERSHOOT 0 to 1 (0.02)
 *     cw(SEARCHES, STEPS)        SEARCHES 1 to 100 (6), STEPS 1 to 100000 (300)
 *     ddn(STEPS)                 STEPS 1 to 100000 (100)
 *     jsma(THETA, GAMMA)         THETA above 0 and at most 1 (1), GAMMA above 0 and at most 1 (0.1)
 *     apgd-ce(EPS), apgd-t(EPS), fab-t(EPS), autoattack(EPS)
 *     square(EPS, QUERIES)       QUERIES 1 to 1000000 (5000)
 *     corruptions(SEVERITY)      SEVERITY 1 to 5, which has no default */
struct ys_attack {
    enum ys_attack_kind kind;
    double numbers[YS_ATTACK_NUMBERS]; /* those that the kind lacks are 0 */
    bool was_taken[YS_ATTACK_NUMBERS]; /* by default: it was not said */
};

struct ys_attacks {
    struct ys_attack items[YS_ATTACKS_MOST];
    size_t count;
    bool corrupts[YS_SEVERITIES]; /* by corruptions(1), corruptions(2), ... */
};

/** Reads "fgsm(8/255) pgd(0.1, 40)": words apart by blanks, each NAME or NAME(NUMBERS); a number may be a quotient of
 * two. YS_EINVAL: an attack that does not exist, with the nearest name; a number out of its range; too many numbers;
 * an attack said twice; none at all. */
ys_status ys_attacks_read(const char *text, struct ys_attacks *attacks) YS_MUST_CHECK;
/** Reads "0.05 0.1 8/255", the EPS of a curve, each 0 to 1, at most YS_ATTACKS_MOST; ascending without equals in `eps`
 * [out, YS_ATTACKS_MOST]. YS_EINVAL: one is none. */
ys_status ys_attack_read_curve(const char *text, double *eps, size_t *count) YS_MUST_CHECK;
/** With all its numbers: "pgd(0.1, 40, 0.01)". New text (ys_free); NULL without memory. */
char *ys_attack_text(const struct ys_attack *attack);
/** All of them, apart by blanks, corruptions last: equal for those that do the same. New text. */
char *ys_attacks_text(const struct ys_attacks *attacks);
/** How many severities of corruptions there are among them. */
size_t ys_attacks_severities(const struct ys_attacks *attacks);
/** "fgsm(EPS), bim(EPS, STEPS, STEP), ... or jsma(THETA, GAMMA)": all that may be written. New text. */
char *ys_attack_forms(void);
/** About how many gradients of each row the attacks and their alarms ask for, of images of about a thousand pixels: for
 * who wants to know beforehand how long they take. `curve`: how many EPS it has. */
double ys_attacks_gradients(const struct ys_attacks *attacks, double restarts, double curve);
enum ys_attack_norm ys_attack_norm(enum ys_attack_kind kind);
/** NaN where it is not bounded. */
double ys_attack_eps(const struct ys_attack *attack);
/** A bounded attack with what it takes where no more than EPS is said. */
struct ys_attack ys_attack_at(enum ys_attack_kind kind, double eps);
/** YS_EINVAL: one of the attacks cannot be made against a model of so many classes, or on pictures of that shape. */
ys_status ys_attacks_check(const struct ys_attacks *attacks, size_t classes,
                           const struct ys_picture_shape *shape) YS_MUST_CHECK;

/** The model: two functions, and what they need. Both are asked for at most `batch` rows at a time, and may be asked
 * for fewer; what they return other than YS_OK ends the attack. Row i depends on image i alone, in evaluation. */
struct ys_attacked {
    void *of;
    /** images: [count, pixels]; logits [out]: [count, classes] */
    ys_status (*logits)(void *of, const float *images, size_t count, float *logits);
    /** gradient [out]: [count, pixels], of the sum of cotangent * logits by the pixels; cotangent: [count, classes];
     * logits [out] as above, or NULL. */
    ys_status (*gradient)(void *of, const float *images, const float *cotangent, size_t count, float *logits,
                          float *gradient);
    size_t pixels, classes, batch;
    int64_t height, width, channels; /* whose product is `pixels` */
};

struct ys_robustness;

struct ys_attack_spec {
    struct ys_attacks attacks;
    const float *images;   /* [rows, pixels] in [0, 1] */
    const int64_t *labels; /* [rows], each below classes */
    size_t rows;
    size_t restarts;     /* of pgd, at least 1: a row is broken where one of them breaks it */
    uint64_t seed;       /* of all lots; those of a row are the same whatever the batch */
    const double *curve; /* accuracy against these EPS, by pgd with its defaults */
    size_t curve_count;
    /** Where pgd and apgd begin, as changes of the images, [rows, pixels], in place of the first restart's lot and of
     * those of every target; NULL: by lot */
    const float *start;
    /** Judges what the attacks made, in double, at one batch size whatever `count` is; logits [out]: [count, classes].
     * NULL: the model's own logits do. */
    ys_status (*judge)(void *of, const float *images, size_t count, double *logits);
    void *judge_of;
    /** After each attack that was asked for: what is found so far, with neither robust nor curve; NULL: nobody asks */
    ys_status (*finished)(void *of, const struct ys_robustness *found);
    void *finished_of;
    /** Each row as attack `attack` of those asked for breaks it, once: the changed image, [pixels]; NULL: nobody asks
     */
    ys_status (*broken)(void *of, size_t attack, size_t row, const float *image);
    void *broken_of;
    void (*progress)(void *of, double done_part, const char *what); /* 0 to 1; NULL: nobody asks */
    void *progress_of;
};

/** What one attack did. A row that was wrong before is not attacked. */
struct ys_attack_result {
    char *attack;           /* as ys_attack_text() has it */
    int64_t rows, clean;    /* of them right before */
    int64_t broken;         /* of those that were right, as judged again */
    int64_t target_reached; /* jsma: of the broken, those that the judge gives the target; else YS_FIELD_NONE */
    int64_t blindly_broken; /* autoattack: of the broken, those that square broke, at last; else YS_FIELD_NONE */
    double change_p25;      /* quartiles over all rows, in the attack's norm: 0 of a row that was wrong before, */
    double change_p50;      /* infinite of one that was not broken; NaN where no row was right before. In JSON */
    double change_p75;      /* both are null: broken, rows and clean tell them apart */
    int64_t gradients;      /* of a row, all together */
    int64_t queries;        /* logits of a row without a gradient, all together, the judge's left out */
    double attack_s;        /* wall time, with the judge's */
    char *outcomes;         /* a letter a row: b broken, s standing, w wrong before; NULL: left out */
};
extern const struct ys_record ys_attack_result_record;
/** Rows with another outcome in the one than in the other; -1: one of them does not tell. */
int64_t ys_attack_apart(const struct ys_attack_result *a, const struct ys_attack_result *b);

/** Rows that stand at a bound: right before, and broken by no attack bounded by it or less. */
struct ys_eps_standing {
    double eps;
    int64_t standing;
};
extern const struct ys_record ys_eps_standing_record;

/** How many rows are right after a kind of corruption, by the model's own logits; those that were wrong before too. */
struct ys_corruption_result {
    char *kind;
    int64_t severity, right;
};
extern const struct ys_record ys_corruption_result_record;

/** A sign that gradients may be masked: a value that is over its threshold. */
struct ys_attack_alarm {
    char *attack; /* NULL: the model itself, before any */
    char *alarm;  /* in words */
    double value, threshold;
};
extern const struct ys_record ys_attack_alarm_record;

struct ys_robustness {
    int64_t rows, clean;
    struct ys_list attacks; /* of struct ys_attack_result, as they were asked for */
    struct ys_list robust;  /* of struct ys_eps_standing, for each EPS that an attack was asked for with, ascending */
    struct ys_list curve;   /* the same, by pgd alone, for each EPS of the spec's curve */
    struct ys_list alarms;  /* of struct ys_attack_alarm */
    struct ys_list corruptions; /* of struct ys_corruption_result: each kind, severity by severity, ascending */
    /* The median over all rows of the smallest L2 that any attack which looks for it found, 0 of a row that was wrong
     * before. NaN: it is infinite, there is no such attack, or no row was right before */
    double perturbation_p50;
    bool is_masked; /* there are alarms: what stands is at most what stands */
};
/** Reading, copying and JSON; ys_robustness_fini() frees. */
extern const struct ys_record ys_robustness_record;

/** Attacks the rows and judges them. Clean rows are those of which the judge's first largest logit is the label's.
 *   YS_EINVAL  logits of an image are no finite numbers; the model has too few classes
 *   YS_EINTR   the user asked to stop (base/stop.h); or what the model's functions return. `found` then holds the
 *              attacks that were finished, with neither robust nor curve, and is to be freed all the same. */
ys_status ys_attack_model(const struct ys_attacked *model, const struct ys_attack_spec *spec,
                          struct ys_robustness *found) YS_MUST_CHECK;
void ys_robustness_fini(struct ys_robustness *found);

#endif
