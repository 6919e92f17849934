/* Where control goes next: the end of a piece of structured code, whose original goes on at one of several blocks. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* A block that control may go on at, with the values its phis get then. */
struct flow_target {
    uint32_t node;
    struct ir_value *const *phis; /* leaves of all phis, in order */
};

/* Targets ascend. With two, cond decides: targets[yes] where it is true. With more, selector is the number of the
   target's block. None: control does not get here, and the block of ir has its terminator. */
struct flow {
    uint32_t n;
    struct flow_target *targets;
    struct ir_value *cond;
    uint32_t yes;
    struct ir_value *selector;
};

/* Types of the leaves of a block's phis. */
uint32_t flow_phi_types(struct spirv_body *s, uint32_t node, const ir_type **types);
/* What the phis of `to` get from `from`. */
struct flow_target flow_edge(struct spirv_body *s, uint32_t from, uint32_t to);
/* The block's phis become these values. */
void flow_bind_phis(struct spirv_body *s, const struct flow_target *t);

/* Takes n words of what control flow may carry; false, with a finding: there are not so many left. */
bool flow_spend(struct spirv_body *s, uint64_t n);
/* The flow without target number i, which takes f's place; what it needs to compute is put where the builder stands. */
struct flow flow_without(struct spirv_body *s, struct flow *f, uint32_t i);
struct flow flow_only(struct spirv_body *s, const struct flow *f, uint32_t i);
/* An if whose block *is is taken where control goes to target i, else *other. */
struct ir_inst *flow_if(struct spirv_body *s, const struct flow *f, uint32_t i, struct ir_block **is,
                        struct ir_block **other);
/* Ends both blocks of an if, where control goes on as the flows say; the result stands for both behind it. */
struct flow flow_merge(struct spirv_body *s, struct ir_inst *inst, struct ir_block *is, const struct flow *f,
                       struct ir_block *other, const struct flow *g);

/* The value can be used at the end of the block. */
bool flow_visible(const struct ir_block *block, const struct ir_value *v);
