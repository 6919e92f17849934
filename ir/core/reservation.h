/* Ids of reservations of pipes: the same for the interpreter and compiled code. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Bits 0 to 31: the number of the first packet; 32 to 61: how many; bit 62 is 1 and bit 63 is 0, so that ids, and
   nothing else that stands for none (0, or all ones as OpenCL's CLK_NULL_RESERVE_ID), are larger than 0. */
enum { IR_RESERVATION_MOST = (1 << 30) - 1 };

static inline uint64_t ir_reservation(uint64_t first, uint32_t n)
{
    return (uint64_t)1 << 62 | (uint64_t)n << 32 | (uint32_t)first;
}

static inline bool ir_reservation_is(uint64_t id)
{
    return id >> 62 == 1;
}

static inline uint32_t ir_reservation_count(uint64_t id)
{
    return (uint32_t)(id >> 32) & IR_RESERVATION_MOST;
}

/* The first packet, where it is not before packet `base`. */
static inline uint64_t ir_reservation_first(uint64_t id, uint64_t base)
{
    return base + (uint32_t)((uint32_t)id - (uint32_t)base);
}
