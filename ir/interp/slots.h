/* Where the values of a function lie in its frame. A slot is taken again once its value has been used for the last
   time, so that a frame grows with the values that are alive together and not with the function. */
#pragma once

#include "ir/base/arena.h"
#include "ir/core/ir.h"

/* A value from its definition to its last use. */
struct slot_life {
    uint32_t slot, last; /* number of the instruction that uses it last */
    unsigned lanes;
    struct slot_life **ended; /* where it goes then; NULL: it stays */
    struct slot_life *next;
};

struct slots {
    struct slot_life *lives;                  /* by ir_value.scratch */
    struct slot_life *free[IR_MAX_LANES + 1]; /* by lanes */
    uint32_t n;                               /* of the frame */
};

/* Instructions are numbered from `first` on, as ir_walk() comes to them. */
void slots_begin(struct slots *s, struct arena *arena, const struct ir_function *f, uint32_t first);
uint32_t slots_reserve(struct slots *s); /* one that is never taken again */
/* The slot of a value that is defined here. `ended`: the list, of the block it is defined in, that it is on after its
   last use; NULL: its slot is never taken again. */
uint32_t slots_define(struct slots *s, const struct ir_value *v, struct slot_life **ended);
/* The slot of a value that an instruction uses. */
uint32_t slots_use(struct slots *s, const struct ir_value *v, uint32_t inst);
/* Behind an instruction of the block and all that is in it: what has ended there may be taken again. */
void slots_free_ended(struct slots *s, struct slot_life **ended);
