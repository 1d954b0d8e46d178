/* Folders for temporary files in TMPDIR, or /tmp where that is not set: each is one run's, and goes with it. */
#ifndef YS_BASE_FILES_TEMPORARY_H
#define YS_BASE_FILES_TEMPORARY_H

#include "base/files/working_folder.h"

/* What separates the paths of LD_PRELOAD, which has no way to quote one. */
#define YS_TEMPORARY_SEPARATORS " :"

/** Makes one; the first call sweeps what killed sessions left. YS_EIO names TMPDIR. */
ys_status ys_temporary_make(struct ys_working *folder) YS_MUST_CHECK;
/** The same, with none of the separators in its path: in /tmp, where TMPDIR has one. */
ys_status ys_temporary_make_listable(struct ys_working *folder) YS_MUST_CHECK;
/** Removes those that killed sessions left. `sweep` as for ys_working_sweep(). */
void ys_temporary_sweep(const struct ys_sweep *sweep);

#endif
