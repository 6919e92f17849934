/* Where private variables lie. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

struct private_memory {
    lval *on_stack; /* by instruction number */
    /* Of a kernel that is cut into regions: by instruction number bytes per work-item that lie before a variable,
     * plus 1. */
    uint32_t *offset;
    const struct ir_inst **variables; /* those that have an offset */
    uint32_t n_variables;
    rval base, items; /* where they begin; work-items of a complete work-group */
    rval linear;      /* id of lane 0 */
};

/* Places a variable (or what each work-item brings to a reduction) behind so many bytes; returns the bytes then. */
uint32_t private_memory_add(struct emit *e, const struct ir_inst *inst, uint32_t bytes);
void private_memory_begin(struct emit *e);                                /* before a vector of work-items runs */
rval private_memory_of_group(struct emit *e, const struct ir_inst *inst); /* where those of all work-items begin */
/* The lanes' addresses; false: it is on the stack. */
bool private_memory_of_item(struct emit *e, const struct ir_inst *inst, struct lanes *address);
/* As many copies as there are lanes, one after the other, and their bytes. */
lval private_memory_on_stack(struct emit *e, const struct ir_inst *inst);
uint64_t private_memory_vector_bytes(const struct emit *e, const struct ir_inst *inst);
/* Its address, wherever it is. */
void private_memory_variable(struct emit *e, const struct ir_inst *inst, struct lanes *result);
