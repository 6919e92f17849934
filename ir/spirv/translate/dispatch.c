/* Instructions one after the other. */
#include "ir/spirv/translate/dispatch.h"

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/location.h"
#include "ir/spirv/translate/calls.h"
#include "ir/spirv/translate/instructions/arith.h"
#include "ir/spirv/translate/instructions/atomic.h"
#include "ir/spirv/translate/instructions/builtin.h"
#include "ir/spirv/translate/instructions/composite.h"
#include "ir/spirv/translate/instructions/convert.h"
#include "ir/spirv/translate/instructions/dot.h"
#include "ir/spirv/translate/instructions/group.h"
#include "ir/spirv/translate/instructions/image.h"
#include "ir/spirv/translate/instructions/memory.h"
#include "ir/spirv/translate/instructions/pipe.h"
#include "ir/spirv/translate/instructions/sub_group.h"
#include "ir/spirv/translate/opencl_std/opencl_std.h"

static bool is_ignored(unsigned op)
{
    switch (op) {
    case SpvOpLine:
    case SpvOpNoLine:
    case SpvOpNop:
    case SpvOpPhi:
    case SpvOpLabel:
    case SpvOpLoopMerge:
    case SpvOpSelectionMerge:
    case SpvOpLifetimeStart:
    case SpvOpLifetimeStop:
    case SpvOpAssumeTrueKHR: return true;
    default: return false;
    }
}

typedef bool emit_family(struct spirv_body *s, const struct spirv_inst *i);

/* Each says whether the instruction is one of its own. Built-in variables come first: their loads are none of memory.
 */
static emit_family *const families[] = {
    spirv_emit_builtin,  spirv_emit_arith, spirv_emit_dot,  spirv_emit_convert, spirv_emit_composite,
    spirv_emit_memory,   spirv_emit_ext,   spirv_emit_call, spirv_emit_atomic,  spirv_emit_group,
    spirv_emit_subgroup, spirv_emit_image, spirv_emit_pipe,
};

void spirv_emit(struct spirv_body *s, const struct spirv_inst *i)
{
    if (is_ignored(i->op)) return;
    s->b.loc = spirv_loc(s->r, i);
    if (spirv_failed(s->r)) return;
    for (size_t k = 0; k < sizeof families / sizeof *families; k++)
        if (families[k](s, i)) return;
    spirv_fail(s->r, i, "cannot be read");
}

void spirv_emit_block(struct spirv_body *s, const struct cfg_node *node)
{
    for (const struct spirv_inst *i = node->label + 1; i < node->end && !spirv_failed(s->r); i++) spirv_emit(s, i);
}
