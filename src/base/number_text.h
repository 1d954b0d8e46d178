/* Numbers as job files write them. All of these take the whole text or nothing: no locale, no hexadecimal, no "inf". */
#ifndef YS_BASE_NUMBER_TEXT_H
#define YS_BASE_NUMBER_TEXT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/** Decimal digits with an optional sign; false for anything else or beyond 18 digits. */
bool ys_value_int(const char *text, int64_t *value);
/** 1, 0.5, .5, 1e-3; false for anything else. May be infinite when the exponent is too large. */
bool ys_value_real(const char *text, double *value);
/** A real and a unit: ns us ms s (sec) min (m) h d, whatever capitals; 0 needs none. In seconds. */
bool ys_value_duration(const char *text, double *value_s);
/** A real and a unit: B kB MB GB TB KiB (K) MiB (M) GiB (G) TiB (T), whatever capitals; 0 needs none. In bytes, rounded
 * down. */
bool ys_value_size(const char *text, double *size_bytes);
/** 2% or 0.02. */
bool ys_value_share(const char *text, double *value);
/** The shortest of the decimal texts that read back as `value`. Appended. */
void ys_buf_put_real(struct ys_buf *buf, double value);

#endif
