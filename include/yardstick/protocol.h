/* Numbers of the adapter protocol (docs/protocol.md) that both sides, and the job file, keep to.
 * Made by tools/protocol.py from tools/protocol_limits.txt: change that. */
#ifndef YARDSTICK_PROTOCOL_H
#define YARDSTICK_PROTOCOL_H

#define YS_PROTOCOL_VERSION         1        /* of the protocol */
#define YS_PROTOCOL_LINE_LIMIT      33554432 /* bytes of a message, without its newline */
#define YS_PROTOCOL_BLOCK_LIMIT     262144   /* steps in one block: its losses and times must fit one message */
#define YS_PROTOCOL_LATENCIES_LIMIT 4096     /* requests that one message reports */

#endif
