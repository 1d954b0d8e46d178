/* A line channel: one JSON object a line over a connected stream socket. Both sides of the adapter protocol use it
 * (docs/protocol.md). It bounds what the other side can make it hold: a line of more than YS_CHANNEL_LINE_LIMIT bytes
 * ends the conversation. It never changes the descriptor's flags and never raises SIGPIPE.
 *
 * One thread at a time may use a channel. */
#ifndef YS_PROTOCOL_CHANNEL_H
#define YS_PROTOCOL_CHANNEL_H

#include "base/json/json.h"
#include "base/status.h"
#include "yardstick/protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YS_CHANNEL_LINE_LIMIT ((size_t)YS_PROTOCOL_LINE_LIMIT) /* bytes of a line, without its newline */

struct ys_channel;

/** @param fd  a connected stream socket; borrowed until ys_channel_close(), which leaves it open
 *  @return YS_OK, YS_ENOMEM. */
ys_status ys_channel_open(int fd, struct ys_channel **channel) YS_MUST_CHECK;
/** The same over two descriptors, one for what comes and one for what goes: the pipes that a remote shell gives, say.
 * They must not block (O_NONBLOCK), and the program must ignore SIGPIPE (ys_stop_install()). */
ys_status ys_channel_open_pair(int in_fd, int out_fd, struct ys_channel **channel) YS_MUST_CHECK;
void ys_channel_close(struct ys_channel *channel); /* NULL is fine */

/** From here on a wish to stop (base/stop.h) does not break off what this channel waits for: its owner sees to it. */
void ys_channel_ignore_stop(struct ys_channel *channel);

/** That at which what comes can be waited for. */
int ys_channel_fd(const struct ys_channel *channel);
/** True once the other side has closed its end and everything it had sent was received. */
bool ys_channel_eof(const struct ys_channel *channel);

/** Sends `message` (borrowed) as one line.
 * @return YS_OK, YS_ENOMEM, YS_EPROTOCOL when the line would pass the limit, YS_EIO when the other side has closed (or
 * the socket failed), YS_ETIMEOUT when it took nothing for a minute, YS_EINTR when the user asked to stop. */
ys_status ys_channel_send(struct ys_channel *channel, const ys_json *message) YS_MUST_CHECK;
/** The same for a line already made: `size` bytes, the last of which is the newline. Allocates nothing. */
ys_status ys_channel_send_line(struct ys_channel *channel, const char *line, size_t size) YS_MUST_CHECK;
/** Sends of the `*size` bytes at `*line` what the other side takes without waiting, and moves both on; *size is 0 when
 * all has gone. YS_EPROTOCOL, YS_EIO as for ys_channel_send(). */
ys_status ys_channel_push(struct ys_channel *channel, const char **line, size_t *size) YS_MUST_CHECK;

/** Waits for the next message.
 * @param deadline_ns  a time of ys_time_ns(); UINT64_MAX waits without end; a time already past takes only what has
 * arrived
 * @param message      [out] an object that has a string member "type"; the caller's, free with ys_json_free()
 * @return YS_OK; YS_ETIMEOUT; YS_EINTR when ys_stop_fd() became readable (signals are seen only when nothing complete
 * has arrived yet); YS_ENOMEM; YS_EIO; YS_EPROTOCOL: the line is not a JSON object with a "type" (the next call goes on
 * with the line after it), or is too long (every later call fails the same way), or the other side closed, which
 * ys_channel_eof() tells apart. */
ys_status ys_channel_receive(struct ys_channel *channel, uint64_t deadline_ns, ys_json **message) YS_MUST_CHECK;

#endif
