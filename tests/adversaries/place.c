/* Lets a test choose the place of an audit: loaded with LD_PRELOAD, it makes the kernel's random numbers YS_TEST_PLACE
 * more than a multiple of YS_TEST_PLACES, and leaves them random otherwise. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"))) ssize_t getrandom(void *bytes, size_t size, unsigned int flags)
{
    const ssize_t got = syscall(SYS_getrandom, bytes, size, flags);
    const char *place = getenv("YS_TEST_PLACE"), *places = getenv("YS_TEST_PLACES");
    uint64_t number;
    if (!place || !places || got != (ssize_t)sizeof number)
        return got;
    memcpy(&number, bytes, sizeof number);
    const uint64_t count = strtoull(places, NULL, 10);
    number = (number >> 16) / count * count + strtoull(place, NULL, 10);
    memcpy(bytes, &number, sizeof number);
    return got;
}
