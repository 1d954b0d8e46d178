/* What `check` and `verify` say of the trials of a job, before or without a run. */
#ifndef YS_STUDY_JOB_LISTING_H
#define YS_STUDY_JOB_LISTING_H

#include "base/json/record.h"
#include "prepare/trial.h"
#include "verify/proof.h"

/** One trial. */
struct ys_listing_trial {
    char *id, *framework, *title, *version; /* framework: as a job would name it, "pytorch@2.13.0" */
    int mode;                               /* enum ys_mode */
    int64_t threads;
    int status;         /* enum ys_run_status: ok, or why it cannot run */
    char *reason;       /* of that status; NULL */
    char *command;      /* what would help; NULL */
    int64_t steps;      /* of a training, else YS_FIELD_NONE */
    int64_t requests;   /* of mode infer, likewise */
    char *until;        /* target of its runs, "accuracy >= 98 %"; NULL: they do all steps */
    int64_t kept_rows;  /* training rows that are evaluated in the place of the test rows; none: YS_FIELD_NONE */
    int64_t looks;      /* evaluations of a run with a target, at most; else YS_FIELD_NONE */
    char *schedule;     /* of such a run, laid over all steps; NULL: constant */
    int known;          /* 1: a run like it was measured before, 0: run_s is a guess; YS_NAME_NONE: it cannot run */
    double run_s;       /* estimated seconds of one run; NaN likewise */
    double apart_times; /* how far the speed of its runs as a whole lay from that of their steady part, in the latest
                           study that had one like it; NaN: nowhere */
    double apart_steps; /* of so many steps or requests a run would have one speed; NaN likewise */
    struct ys_list due; /* struct ys_due: which checks of its runs are due, and which not; empty likewise */
    struct ys_proof *proof; /* owned; NULL: none was made */
};
/** The fields that `check` shows, and those that `verify` does. */
extern const struct ys_record ys_listing_check_record, ys_listing_verify_record;

/** What becomes of a parameter: weights are trained, constants are not, buffers batch normalisation keeps. */
enum ys_listing_role { YS_LISTING_WEIGHT, YS_LISTING_CONSTANT, YS_LISTING_BUFFER };
extern const struct ys_names ys_listing_roles; /* "weight", "constant", "buffer" */

/** A parameter of a model that is a file. */
struct ys_listing_param {
    char *name;
    char *shape;   /* "[8,3,3,3]" */
    int role;      /* enum ys_listing_role, after what the job's model.freeze and model.train say */
    int64_t nodes; /* that read it; above 1 it is tied */
};

/** An ONNX file that is a model, as the job would train it. */
struct ys_listing_file {
    char *model;
    char *trial;           /* the first of the trials that have it so */
    struct ys_list params; /* of struct ys_listing_param, in the order of the graph */
    ys_json *notes;        /* texts: what reading it changed, left out and assumed */
};

/** When a study looks that goes on until its comparisons are decided. */
struct ys_listing_look {
    int64_t rounds, runs;
    double estimate_s; /* of these runs */
};

/** All of a job. */
struct ys_listing {
    ys_json *study;        /* the study's own keys */
    struct ys_list trials; /* of struct ys_listing_trial */
    struct ys_list files;  /* of struct ys_listing_file, each once; more often where trials change it differently */
    int64_t runs;
    double estimate_s;    /* of all runs */
    struct ys_list looks; /* of struct ys_listing_look; empty: its number of rounds is fixed */
    char *noise; /* what this machine's noise lets so many runs show (prepare/noted_noise.h); NULL: not measured */
};
/** As `check` shows it. */
extern const struct ys_record ys_listing_record;
void ys_listing_fini(struct ys_listing *listing); /* a zeroed one is fine */

/** Adds what is said of `trial` in every listing. *line is borrowed until the next one is added. */
void ys_listing_add(struct ys_listing *listing, const struct ys_trial *trial, struct ys_listing_trial **line);
/** Adds the file that is `trial`'s model, whose graph is `graph`, and a copy of `notes`. */
void ys_listing_add_file(struct ys_listing *listing, const struct ys_trial *trial, const struct ys_graph *graph,
                         const ys_json *notes);

#endif
