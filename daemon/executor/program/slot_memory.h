/* A slot's memory during a submission. */
#pragma once

#include <stdint.h>

struct buffer;

struct slot_memory {
    const char *name;
    uint8_t *memory;       /* NULL: not bound */
    uint64_t bytes;        /* of the slot */
    struct buffer *buffer; /* that the memory is a part of */
    uint32_t host;         /* what the client does with it meanwhile: enum ring_host */
};
