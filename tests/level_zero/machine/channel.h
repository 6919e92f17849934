/* What the two processes say to each other, in the memory that they have in common. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "tests/level_zero/machine/machine.h"

#define MACHINE_ADDRESS ((uint8_t *)0x210000000000) /* where no system puts anything by itself */
enum {
    MACHINE_MEMORY_FD = 3, /* of the machine: the memory, and a socket that ends with the other process */
    MACHINE_LIFE_FD = 4,
    MACHINE_CHANNELS = 12,
    MACHINE_TEXT = 4 << 20,
};
#define MACHINE_BYTES (1ull << 38) /* addresses; memory is what is used of it */
#define MACHINE_HEAD (64ull << 20) /* at the beginning, for what is said */

enum machine_call {
    MACHINE_FACTS,
    MACHINE_SHOW, /* file: the number of a descriptor of the other process, or -1 */
    MACHINE_HIDE,
    MACHINE_BUILD, /* text, size: SPIR-V */
    MACHINE_FREE_PROGRAM,
    MACHINE_KERNEL, /* text: its name */
    MACHINE_FREE_KERNEL,
    MACHINE_RUN, /* text: struct machine_sent_argument each with its bytes */
};

enum machine_state { MACHINE_IDLE, MACHINE_ASKED, MACHINE_ANSWERED };

struct machine_sent_argument {
    uint32_t kind; /* enum spirv_parameter_kind */
    uint32_t size;
    uint8_t bytes[]; /* none of local memory; the next argument is at a multiple of 8 */
};

struct machine_channel {
    _Atomic uint32_t state; /* enum machine_state, a futex */
    uint32_t call, n_arguments;
    int32_t file;
    uint64_t object, at, size; /* object, and at, also answer: 0 is none */
    struct machine_range range;
    struct machine_facts facts;
    char text[MACHINE_TEXT]; /* answers: a log */
};

_Static_assert(sizeof(struct machine_channel) * MACHINE_CHANNELS <= MACHINE_HEAD, "channels fit");

static inline size_t machine_sent_bytes(uint32_t size)
{
    return sizeof(struct machine_sent_argument) + (size + 7) / 8 * 8;
}
