/* What a page may fetch. No server listens: the browser asks the bridge for each address (Fetch.requestPaused), and
 * what it answers stands under an origin of its own that is isolated, so that threads, the fine clock and the memory
 * interface are there.
 *
 *     /               the page itself, which loads the adapter
 *     /adapter/NAME   files beside the adapter
 *     /npm/NAME       files of the environment's packages
 *     /file?path=P    files that the plan names, whole or a range of bytes */
#ifndef YS_BRIDGE_PAGE_FILES_H
#define YS_BRIDGE_PAGE_FILES_H

#include "base/buf.h"
#include "bridge/devtools.h"

#define YS_PAGE_ORIGIN "https://yardstick.test"

struct ys_page_files {
    const char *adapter;             /* path of its file */
    const char *packages;            /* folder; NULL: none */
    ys_json *plan;                   /* what was opened; owned; NULL: no file may be fetched */
    int64_t code_bytes, model_bytes; /* that were fetched: /adapter and /npm, and /file */
};

void ys_page_files_fini(struct ys_page_files *files);
/** Answers `event`, a Fetch.requestPaused: what there is not gets 404, what the plan does not name 403. YS_EIO: the
 * browser has gone. */
ys_status ys_page_files_answer(struct ys_page_files *files, struct ys_devtools *pipe,
                               const ys_json *event) YS_MUST_CHECK;

/** `size` bytes as base64 behind what `text` holds. */
void ys_base64_put(struct ys_buf *text, const void *data, size_t size);
/** Behind what `bytes` holds. YS_EPROTOCOL: it is none. */
ys_status ys_base64_get(struct ys_buf *bytes, const char *text) YS_MUST_CHECK;

#endif
