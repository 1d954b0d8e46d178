/* What collectives_fake.c and who calls it agree on. */
#ifndef YS_TESTS_COLLECTIVES_FAKE_H
#define YS_TESTS_COLLECTIVES_FAKE_H

#include <stdint.h>

#define FAKE_CONTEXT   0x5eed
#define FAKE_ALLREDUCE "_ZN4gloo9allreduceERKNS_16AllreduceOptionsE"
#define FAKE_BROADCAST "_ZN4gloo9broadcastERNS_16BroadcastOptionsE"
#define FAKE_SCATTER   "_ZN4gloo7scatterERNS_14ScatterOptionsE"
#define FAKE_BARRIER   "_ZN4gloo7barrierERNS_14BarrierOptionsE"

#define FAKE_TYPE     ((HANDLE)(intptr_t)-1234567)
#define FAKE_OP       ((HANDLE)(intptr_t)0x58000003)
#define FAKE_COMM     ((HANDLE)(intptr_t)0x44000000)
#define FAKE_IN_PLACE ((const void *)(intptr_t)FAKE_PLACE)
#define FAKE_MANY     INT64_C(6000000000)

#endif
