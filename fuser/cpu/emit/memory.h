/* Loads, stores and copies. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

struct memory_state {
    rval *globals;     /* addresses of module-scope variables, by scratch */
    bool stream;       /* contiguous stores go past the cache */
    bool streams;      /* stores that could were met */
    bool streamed;     /* some were emitted */
    rval wants_stream; /* bool: stores past the cache are asked for; NULL: the kernel has none */
};

void emit_memory(struct emit *e, const struct ir_inst *inst, struct lanes *result);
/* Number `component` of those at an address, which may be any for each lane. */
struct lanes memory_load(struct emit *e, enum ir_kind kind, const struct lanes *address, unsigned component);
void memory_store(struct emit *e, const struct lanes *address, unsigned component, const struct lanes *v);
