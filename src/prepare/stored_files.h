/* What a stored model consists of: its files, and what of them is parameters. */
#ifndef YS_PREPARE_STORED_FILES_H
#define YS_PREPARE_STORED_FILES_H

#include "crew/facts.h"

#define YS_STORED_SAVING "saving" /* below a run's folder: that of the session which saves */

/** Fills what `found` says of the bytes of the file or folder `path`, which holds the model of `weights`, a file of
 * float32 tensors. `as_said`: bytes of parameters as the adapter says; YS_FIELD_NONE. */
ys_status ys_stored_files_count(const char *path, const char *weights, int64_t as_said,
                                struct ys_facts_stored *found) YS_MUST_CHECK;

/** Writes the weights of the file `from`, each rounded to `type`, as float32 to `to`. */
ys_status ys_stored_round_weights(const char *from, enum ys_stored_type type, const char *to) YS_MUST_CHECK;

/* Constants of a network that are no parameters, the numbers that pixels are normalised by, as forms of a smaller type
 * have them: OpenVINO's half precision leaves a single divisor as it is. */
enum ys_stored_constants { YS_CONSTANTS_ROUNDED, YS_CONSTANTS_DIVISOR_WHOLE, YS_CONSTANTS_WHOLE, YS_CONSTANTS_KINDS };

/** Writes the network of the file `from` with its constants rounded to `type` as `constants` says, to `to`. */
ys_status ys_stored_round_graph(const char *from, enum ys_stored_type type, enum ys_stored_constants constants,
                                const char *to) YS_MUST_CHECK;

/** Removes all in the folder `saving` but the log of its adapter. */
void ys_stored_files_remove(const char *saving);

#endif
