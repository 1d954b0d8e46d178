/* yardstick-feeder as a session of yardstick's: it speaks the protocol of adapters as far as it needs to. */
#ifndef YS_FEEDER_SERVE_FEEDER_PROTOCOL_H
#define YS_FEEDER_SERVE_FEEDER_PROTOCOL_H

/** Answers `hello`; `open`, with the plan of the adapter that it feeds, from which on it fills the ring of that plan;
 * and `reset`, which changes nothing: an answer says that it is alive. Other questions are answered by `unsupported`.
 * The program's exit code. */
int ys_feeder_serve(void);

#endif
