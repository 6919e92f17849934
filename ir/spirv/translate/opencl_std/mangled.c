/* Built-in functions that a translator has left as calls of imported ones, by their C++ names: those of
 * cl_intel_subgroups and its relatives, where it was not told to use the extension's instructions; broadcasts,
 * reductions and scans whose names begin with intel_ it always leaves. */
#include "ir/spirv/translate/opencl_std/mangled.h"

#include <stdlib.h>
#include <string.h>

#include "ir/spirv/decode/decorations.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/instructions/lanes.h"
#include "ir/spirv/translate/values/values.h"

enum shape { SHUFFLE /* value, id */, SHIFT /* two values, distance */, READ, WRITE, BROADCAST, COMBINE };

static const struct mangled {
    const char *name; /* or its beginning: element types and counts follow */
    bool prefix;
    uint8_t shape;
    uint16_t op, image_op;
} functions[] = {
    {"intel_sub_group_broadcast", false, BROADCAST, IR_OP_GROUP_BROADCAST, 0},
    {"intel_sub_group_reduce_", true, COMBINE, IR_OP_GROUP_REDUCE, 0},
    {"intel_sub_group_scan_inclusive_", true, COMBINE, IR_OP_GROUP_SCAN_INCL, 0},
    {"intel_sub_group_scan_exclusive_", true, COMBINE, IR_OP_GROUP_SCAN_EXCL, 0},
    {"sub_group_rotate", false, SHUFFLE, IR_OP_SUB_GROUP_ROTATE, 0},
    {"intel_sub_group_shuffle", false, SHUFFLE, IR_OP_SUB_GROUP_SHUFFLE, 0},
    {"intel_sub_group_shuffle_xor", false, SHUFFLE, IR_OP_SUB_GROUP_SHUFFLE_XOR, 0},
    {"intel_sub_group_shuffle_up", false, SHIFT, IR_OP_SUB_GROUP_SHUFFLE_UP, 0},
    {"intel_sub_group_shuffle_down", false, SHIFT, IR_OP_SUB_GROUP_SHUFFLE_DOWN, 0},
    {"intel_sub_group_block_read", true, READ, IR_OP_BLOCK_READ, IR_OP_IMAGE_BLOCK_READ},
    {"intel_sub_group_block_write", true, WRITE, IR_OP_BLOCK_WRITE, IR_OP_IMAGE_BLOCK_WRITE},
};

/* What _Z<length><name><types> says. */
struct symbol {
    const char *name, *types; /* the name ends where the types begin */
};

static bool demangle(const struct spirv_reader *r, const struct spirv_function *f, struct symbol *to)
{
    const uint32_t *linkage = spirv_decoration(r, f->id, SpvDecorationLinkageAttributes, NULL);
    const char *symbol = linkage && !f->has_body ? spirv_string(linkage) : "";
    if (strncmp(symbol, "_Z", 2) != 0) return false;
    char *end;
    unsigned long length = strtoul(symbol + 2, &end, 10);
    if (length > strlen(end)) return false;
    *to = (struct symbol){end, end + length};
    return true;
}

/* SPIR-V's integers have no sign: only the mangled type says that the first argument is unsigned. */
static bool takes_unsigned(const struct symbol *s)
{
    const char *type = s->types;
    if (strncmp(type, "Dv", 2) == 0) type += strcspn(type, "_") + 1; /* Dv4_h */
    return *type && strchr("htjmy", *type);
}

/* What a reduction or scan combines with, by the end of its name; IR_GROUP_OP_COUNT: none that there is. */
static enum ir_group_op combination(const struct mangled *m, const struct symbol *s)
{
    const char *word = s->name + strlen(m->name);
    size_t n = (size_t)(s->types - word);
    if (n != 3) return IR_GROUP_OP_COUNT;
    if (strncmp(word, "add", n) == 0) return IR_GROUP_ADD;
    if (strncmp(word, "min", n) == 0) return takes_unsigned(s) ? IR_GROUP_UMIN : IR_GROUP_SMIN;
    if (strncmp(word, "max", n) == 0) return takes_unsigned(s) ? IR_GROUP_UMAX : IR_GROUP_SMAX;
    return IR_GROUP_OP_COUNT;
}

static const struct mangled *find_mangled(const struct spirv_reader *r, const struct spirv_function *f,
                                          struct symbol *s)
{
    if (!demangle(r, f, s)) return NULL;
    size_t n = (size_t)(s->types - s->name);
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        const struct mangled *m = &functions[k];
        size_t length = strlen(m->name);
        if (!(m->prefix ? n >= length : n == length) || strncmp(s->name, m->name, length) != 0) continue;
        if (m->shape != COMBINE || combination(m, s) != IR_GROUP_OP_COUNT) return m;
    }
    return NULL;
}

bool spirv_is_mangled_builtin(const struct spirv_reader *r, const struct spirv_function *f)
{
    struct symbol s;
    return find_mangled(r, f, &s) != NULL;
}

static void emit_group(struct spirv_body *s, const struct spirv_inst *i, const struct mangled *m,
                       const struct symbol *symbol, struct ir_value **args, uint32_t n)
{
    struct ir_inst *inst = ir_build(&s->b, (enum ir_op)m->op, args[0]->type, args, n);
    inst->attrs.scope = IR_SCOPE_SUB_GROUP;
    if (m->shape == COMBINE) inst->attrs.group_op = combination(m, symbol);
    spirv_set(s, i, inst->results[0]);
}

static void emit_block_access(struct spirv_body *s, const struct spirv_inst *i, const struct mangled *m, uint32_t n,
                              struct ir_value **args)
{
    bool write = m->shape == WRITE, image = ir_type_kind(args[0]->type) == IR_KIND_IMAGE;
    if (n != (image ? 2u : 1u) + write) {
        spirv_fail(s->r, i, "of %s with %u arguments", m->name, n);
        return;
    }
    ir_type t = write ? args[n - 1]->type : spirv_result_type(s->r, i);
    ir_type ints = IR_TYPE(ir_type_bits(t) == 8    ? IR_KIND_I8
                           : ir_type_bits(t) == 16 ? IR_KIND_I16
                           : ir_type_bits(t) == 32 ? IR_KIND_I32
                                                   : IR_KIND_I64,
                           ir_type_lanes(t), 0);
    if (write && ints != t) args[n - 1] = ir_build1(&s->b, IR_OP_BITCAST, ints, args[n - 1]);
    struct ir_inst *inst = ir_build(&s->b, (enum ir_op)(image ? m->image_op : m->op), ints, args, n);
    if (write) return;
    spirv_set(s, i, ints == t ? inst->results[0] : ir_build1(&s->b, IR_OP_BITCAST, t, inst->results[0]));
}

bool spirv_emit_mangled(struct spirv_body *s, const struct spirv_inst *i, const struct spirv_function *f)
{
    struct symbol symbol;
    const struct mangled *m = find_mangled(s->r, f, &symbol);
    if (!m) return false;
    struct ir_value *args[3];
    uint32_t n = i->n - 4u;
    for (uint32_t k = 0; k < n && k < 3; k++) args[k] = spirv_value(s, i, i->words[4 + k]);
    if (spirv_failed(s->r)) return true;
    static const uint8_t counts[] = {[SHUFFLE] = 2, [BROADCAST] = 2, [SHIFT] = 3, [COMBINE] = 1, [WRITE] = 0};
    uint32_t wanted = counts[m->shape] ? counts[m->shape] : n; /* blocks: of images one more */
    if (n < 1 || n > 3 || n != wanted) {
        spirv_fail(s->r, i, "of %s with %u arguments", m->name, n);
    } else if (m->shape == SHUFFLE) {
        spirv_set(s, i, spirv_shuffle(s, (enum ir_op)m->op, args[0], args[1]));
    } else if (m->shape == SHIFT) {
        spirv_set(s, i, spirv_shift(s, (enum ir_op)m->op, args[0], args[1], args[2]));
    } else if (m->shape == BROADCAST || m->shape == COMBINE) {
        emit_group(s, i, m, &symbol, args, n);
    } else {
        emit_block_access(s, i, m, n, args);
    }
    return true;
}
