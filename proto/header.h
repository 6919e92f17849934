/* The frame header and the kinds of messages, shared by who writes and who reads. */
#pragma once

#include <stdint.h>

enum proto_kind { PROTO_REQUEST, PROTO_REPLY, PROTO_NOTICE };

enum { FRAME_HEADER = 8, FRAME_MAGIC = 0x4631 };

static inline void frame_put_header(uint8_t *at, uint32_t body, uint16_t fds)
{
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(body >> (8 * i));
    at[4] = (uint8_t)fds;
    at[5] = (uint8_t)(fds >> 8);
    at[6] = FRAME_MAGIC & 255;
    at[7] = FRAME_MAGIC >> 8;
}

static inline uint32_t frame_body(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint32_t frame_fds(const uint8_t *at)
{
    return at[4] | (uint32_t)at[5] << 8;
}

static inline uint32_t frame_magic(const uint8_t *at)
{
    return at[6] | (uint32_t)at[7] << 8;
}
