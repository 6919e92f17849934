/* Properties of pipes besides packets and capacity: those of SYCL's data-flow extension, under their published names.
   They describe the wires at the end that kernels do not have. A pipe has those that it names, each once, in this
   order. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/core/objects.h"

/* Of a property: its name, what it is where a pipe does not name it, and the protocols that have it (as bits). */
/* clang-format off */
#define IR_PIPE_PROPERTIES(X) \
    X(READY_LATENCY, "ready_latency", 0, IR_PIPE_STREAMS) \
    X(BITS_PER_SYMBOL, "bits_per_symbol", 8, IR_PIPE_STREAMS) \
    X(USES_VALID, "uses_valid", 1, IR_PIPE_STREAMS | IR_PIPE_MAPPED) \
    X(USES_READY, "uses_ready", 1, IR_PIPE_STREAMS) \
    X(FIRST_SYMBOL, "first_symbol_in_high_order_bits", 0, IR_PIPE_STREAMS | IR_PIPE_MAPPED) \
    X(PROTOCOL, "protocol", 0, UINT32_MAX)
/* clang-format on */

enum {
#define X(id, name, normal, protocols) IR_PIPE_##id,
    IR_PIPE_PROPERTIES(X)
#undef X
        IR_PIPE_PROPERTY_COUNT
};

/* Values of IR_PIPE_PROTOCOL. */
enum {
    IR_PIPE_AVALON_STREAMING,
    IR_PIPE_AVALON_STREAMING_READY, /* as before, and it uses ready */
    IR_PIPE_AVALON_MM,
    IR_PIPE_AVALON_MM_READY,
    IR_PIPE_AXI_STREAMING,
    IR_PIPE_PROTOCOL_COUNT
};
enum {
    IR_PIPE_STREAMS = 1 << IR_PIPE_AVALON_STREAMING | 1 << IR_PIPE_AVALON_STREAMING_READY,
    IR_PIPE_MAPPED = 1 << IR_PIPE_AVALON_MM | 1 << IR_PIPE_AVALON_MM_READY,
};

const char *ir_pipe_property_name(unsigned what);
/* The property of this name, or -1. */
int ir_pipe_property_find(const char *name);
/* The words that are its values from 0 on; NULL: any number is one. */
const char *const *ir_pipe_property_words(unsigned what, unsigned *n);
/* The pipe's, or what it is without saying so. */
uint32_t ir_pipe_property(const struct ir_global *pipe, unsigned what);
/* The protocol has it; what is as it would be without saying so, each may say. */
bool ir_pipe_property_means(const struct ir_pipe_property *p, unsigned protocol);
/* False where the pipe has the property already. */
bool ir_pipe_add_property(struct ir_module *m, struct ir_global *pipe, unsigned what, uint32_t value);
bool ir_pipe_same_properties(const struct ir_global *a, const struct ir_global *b);

struct strbuf;
/* "uses_valid false" */
void ir_pipe_print_property(struct strbuf *out, const struct ir_pipe_property *p);
