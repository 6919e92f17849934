/* Packed dot products that a translator has left as calls: dot_4x8packed_su_int. */
#include "ir/spirv/translate/opencl_std/packed_dot.h"

#include <string.h>

#include "ir/spirv/decode/decorations.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/instructions/dot.h"

static bool find_named(const struct spirv_reader *r, const struct spirv_function *function, struct spirv_dot *f)
{
    static const char plain[] = "dot_4x8packed_", saturated[] = "dot_acc_sat_4x8packed_";
    const uint32_t *linkage = spirv_decoration(r, function->id, SpvDecorationLinkageAttributes, NULL);
    const char *name = linkage && !function->has_body ? spirv_string(linkage) : "";
    if (strncmp(name, "_Z", 2) != 0) return false;
    name += 2 + strspn(name + 2, "0123456789");
    bool accumulates = strncmp(name, saturated, strlen(saturated)) == 0;
    if (!accumulates && strncmp(name, plain, strlen(plain)) != 0) return false;
    name += strlen(accumulates ? saturated : plain);
    if ((name[0] != 's' && name[0] != 'u') || (name[1] != 's' && name[1] != 'u') || name[2] != '_') return false;
    bool is_signed = name[0] == 's' || name[1] == 's';
    *f = (struct spirv_dot){name[0] == 's' ? IR_OP_SEXT : IR_OP_ZEXT, name[1] == 's' ? IR_OP_SEXT : IR_OP_ZEXT,
                            !accumulates ? IR_OP_COUNT
                            : is_signed  ? IR_OP_SADD_SAT
                                         : IR_OP_UADD_SAT};
    return true;
}

bool spirv_is_named_dot(const struct spirv_reader *r, const struct spirv_function *f)
{
    struct spirv_dot dot;
    return find_named(r, f, &dot);
}

bool spirv_emit_named_dot(struct spirv_body *s, const struct spirv_inst *i, const struct spirv_function *function)
{
    struct spirv_dot f;
    if (!find_named(s->r, function, &f)) return false;
    if (i->n != (f.accumulate == IR_OP_COUNT ? 6 : 7) || spirv_result_type(s->r, i) != IR_I32)
        spirv_fail(s->r, i, "of a dot product with %u arguments", i->n - 4u);
    else
        spirv_build_dot(s, i, &f, i->words + 4);
    return true;
}
