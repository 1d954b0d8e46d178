/* Between yardstick and a page: lines of the adapter protocol go to it and come from it as they are, but for stamps,
 * which become those of CLOCK_MONOTONIC, files, which the page can neither read nor write, and answers to requests: it
 * can map no ring, so it keeps those of a message until that comes, and one of them, drawn then, is shown for it. */
#ifndef YS_BRIDGE_RELAY_H
#define YS_BRIDGE_RELAY_H

#include "bridge/chromium.h"
#include "bridge/page_clock.h"
#include "bridge/page_files.h"
#include "protocol/answer_ring.h"
#include "protocol/channel.h"

struct ys_relay {
    struct ys_channel *channel; /* to yardstick; borrowed */
    struct ys_chromium browser;
    struct ys_page_files files;
    struct ys_page_clock clock;
    bool is_open;         /* the page has opened the plan of `files` */
    char *session;        /* of the page; owned */
    char *stage;          /* the question that the page has not yet answered; owned; NULL: none */
    int64_t asked_ns;     /* when it was asked */
    struct ys_ring *ring; /* of the requests that are asked; NULL */
};

/** Loads the page into a browser that was started, and waits until it can answer. YS_EUNSUPPORTED, YS_EFORMAT: a script
 * failed, with its words; YS_ETIMEOUT, YS_EIO. */
ys_status ys_relay_load(struct ys_relay *relay) YS_MUST_CHECK;
/** Until yardstick says bye or has gone. YS_EIO: the page or its browser has gone; an error was said to yardstick. */
ys_status ys_relay_serve(struct ys_relay *relay) YS_MUST_CHECK;
void ys_relay_fini(struct ys_relay *relay);

#endif
