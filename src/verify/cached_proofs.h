/* Proofs as they are kept in the cache. A file there is believed only if it is what was written under its name: it
 * carries a sum over its content and key, its members have the form that is read from them, and its verdict follows
 * from its checks and bounds. That guards against accidents and against the proof of something else, not against
 * somebody who computes the sum anew. */
#ifndef YS_VERIFY_CACHED_PROOFS_H
#define YS_VERIFY_CACHED_PROOFS_H

#include "verify/proof.h"

/** The proof in `path`, of the work that `key` names, with `cached` 1, in *proof, which is overwritten. YS_ENOTFOUND:
 * there is none. YS_EFORMAT: what is there is not to be believed; the message says why. */
ys_status ys_kept_read(const char *path, const char *key, struct ys_proof *proof) YS_MUST_CHECK;
/** Keeps `proof`, which has its key. */
ys_status ys_kept_write(const char *path, const struct ys_proof *proof) YS_MUST_CHECK;

#endif
