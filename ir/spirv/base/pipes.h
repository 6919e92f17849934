/* What is said of pipes in words that the validator does not take, by id. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct spirv_pipes {
    uint32_t bound;           /* ids from this one on have none */
    const char **host_access; /* the name under which the host has it; NULL: none */
    bool *waits;              /* of a read or write */
    bool *is_storage;         /* of a type */
    uint8_t *seen;            /* decode/pipes.c */
    const uint32_t **storage; /* of a constant: bytes of a packet, their alignment, capacity; NULL: it is another */
};
