/* The chain of what is stored: each run, and each end of a study, is a link that holds a hash of all its rows and one
 * of the link before it. So the last hash, noted elsewhere, stands for everything that was stored until then.
 * docs/store.md says what that proves. Of this room alone. */
#ifndef YS_STORE_HASH_CHAIN_H
#define YS_STORE_HASH_CHAIN_H

#include "store/database.h"

/** Makes the table where it is not there: stores of earlier yardsticks have none. */
ys_status ys_link_ensure(struct ys_store *store) YS_MUST_CHECK;

/** Links the study as it stands at its end, with its machine, its trials and their proofs. */
ys_status ys_link_end(struct ys_store *store, int64_t study_id) YS_MUST_CHECK;

/** The last link of the study, {link: its number, hash: the chain's up to it}; null where no link is of it. YS_EFORMAT:
 * the table is damaged. */
ys_status ys_link_last(struct ys_store *store, int64_t study_id, ys_json **last) YS_MUST_CHECK;

/** Goes through the whole chain, and compares the links of `study_id` with its rows. Adds a text to `damaged` for each
 * thing that is not as it was linked; *chain: {links, head (null without links), unlinked: runs of the study that no
 * link has, study: as of ys_link_last()}. */
ys_status ys_link_verify(struct ys_store *store, int64_t study_id, ys_json *damaged, ys_json **chain) YS_MUST_CHECK;
/** The same with the links of all studies that are there. */
ys_status ys_link_verify_all(struct ys_store *store, ys_json *damaged) YS_MUST_CHECK;

#endif
