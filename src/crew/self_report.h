/* What an adapter says of itself, held against what is known otherwise. */
#ifndef YS_CREW_SELF_REPORT_H
#define YS_CREW_SELF_REPORT_H

#include "base/json/record.h"
#include "crew/facts.h"

enum ys_self_report_verdict { YS_SAID_AGREES, YS_SAID_DIFFERS, YS_SAID_UNKNOWN };
extern const struct ys_names ys_said_verdicts; /* "agrees", "differs", "cannot be told" */

/** One thing that it says. */
struct ys_self_report {
    char *what;   /* "version" */
    char *said;   /* its word */
    char *known;  /* what is so, as far as it was observed; NULL: nothing was */
    char *source; /* where the latter is from */
    int verdict;  /* enum ys_self_report_verdict */
};
extern const struct ys_record ys_said_record;

/** Version (against `recipe_version`), runtime, parameters (against the graph's), threads (against those that it was
 * told to use, `threads`, and what was seen of them) and libraries (against those mapped in its processes), each that
 * it says: a list of struct ys_self_report, to be freed by ys_list_fini(). `facts` with `work`. */
void ys_said_list(const struct ys_facts *facts, const char *recipe_version, int64_t threads, struct ys_list *list);

/** Adds a warning with both to `facts` (whose `work` is noted) for each thing that the adapter says otherwise: its
 * version, the parameters, a library that it computes with where none of that name is mapped in its processes and none
 * is known to hide in those that are. (Threads: crew/check_threads.c.) */
void ys_said_check(const char *recipe_version, struct ys_facts *facts);

#endif
