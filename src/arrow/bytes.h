/*
 * bytes: little-endian numbers from any address.
 *
 * Bytes of a file need not be aligned, and a file may lie about it: every load goes through memcpy,
 * which compilers turn into one instruction.
 */
#ifndef IPW_ARROW_BYTES_H
#define IPW_ARROW_BYTES_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the Arrow reader loads little-endian values as they are"
#endif

#define DEFINE_LOAD(name, type)            \
    static inline type name(const void *p) \
    {                                      \
        type value;                        \
                                           \
        memcpy(&value, p, sizeof(value));  \
        return value;                      \
    }

DEFINE_LOAD(load_i8, int8_t)
DEFINE_LOAD(load_i16, int16_t)
DEFINE_LOAD(load_i32, int32_t)
DEFINE_LOAD(load_i64, int64_t)
DEFINE_LOAD(load_u8, uint8_t)
DEFINE_LOAD(load_u16, uint16_t)
DEFINE_LOAD(load_u32, uint32_t)
DEFINE_LOAD(load_u64, uint64_t)
DEFINE_LOAD(load_f32, float)
DEFINE_LOAD(load_f64, double)

#undef DEFINE_LOAD

#endif
