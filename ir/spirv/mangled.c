/* Built-in functions that a translator has left as calls of imported ones, by their C++ names: those of
 * cl_intel_subgroups and its relatives, where it was not told to use the extension's instructions. */
#include <stdlib.h>
#include <string.h>

#include "ir/spirv/body.h"

enum shape { SHUFFLE /* value, id */, SHIFT /* two values, distance */, READ, WRITE };

static const struct mangled {
    const char *name; /* or its beginning: element types and counts follow */
    bool prefix;
    uint8_t shape;
    uint16_t op, image_op;
} functions[] = {
    {"intel_sub_group_shuffle", false, SHUFFLE, IR_OP_SUB_GROUP_SHUFFLE, 0},
    {"intel_sub_group_shuffle_xor", false, SHUFFLE, IR_OP_SUB_GROUP_SHUFFLE_XOR, 0},
    {"intel_sub_group_shuffle_up", false, SHIFT, IR_OP_SUB_GROUP_SHUFFLE_UP, 0},
    {"intel_sub_group_shuffle_down", false, SHIFT, IR_OP_SUB_GROUP_SHUFFLE_DOWN, 0},
    {"intel_sub_group_block_read", true, READ, IR_OP_BLOCK_READ, IR_OP_IMAGE_BLOCK_READ},
    {"intel_sub_group_block_write", true, WRITE, IR_OP_BLOCK_WRITE, IR_OP_IMAGE_BLOCK_WRITE},
};

/* The name in _Z<length><name><types>. */
static const char *demangled(const char *symbol, size_t *n)
{
    if (strncmp(symbol, "_Z", 2) != 0) return NULL;
    char *end;
    unsigned long length = strtoul(symbol + 2, &end, 10);
    if (length > strlen(end)) return NULL;
    *n = length;
    return end;
}

static const struct mangled *find(const struct spirv_reader *r, const struct spirv_function *f)
{
    const uint32_t *linkage = spirv_decoration(r, f->id, SpvDecorationLinkageAttributes, NULL);
    size_t n;
    const char *name = linkage && !f->has_body ? demangled(spirv_string(linkage), &n) : NULL;
    for (size_t k = 0; name && k < sizeof functions / sizeof *functions; k++) {
        size_t length = strlen(functions[k].name);
        if ((functions[k].prefix ? n >= length : n == length) && strncmp(name, functions[k].name, length) == 0)
            return &functions[k];
    }
    return NULL;
}

bool spirv_is_mangled_builtin(const struct spirv_reader *r, const struct spirv_function *f)
{
    return find(r, f) != NULL;
}

static void emit_block_access(struct spirv_body *s, const struct spirv_inst *i, const struct mangled *m, uint32_t n,
                              struct ir_value **args)
{
    bool write = m->shape == WRITE, image = ir_type_kind(args[0]->type) == IR_KIND_IMAGE;
    if (n != (image ? 2u : 1u) + write) {
        spirv_fail(s->r, i, "of %s with %u arguments", m->name, n);
        return;
    }
    ir_type t = write ? args[n - 1]->type : s->r->ids[i->type].type;
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
    const struct mangled *m = find(s->r, f);
    if (!m) return false;
    struct ir_value *args[3];
    uint32_t n = i->n - 4u;
    for (uint32_t k = 0; k < n && k < 3; k++) args[k] = spirv_value(s, i, i->words[4 + k]);
    if (s->r->failed_function) return true;
    uint32_t wanted = m->shape == SHUFFLE ? 2 : m->shape == SHIFT ? 3 : n;
    if (n < 1 || n > 3 || n != wanted) {
        spirv_fail(s->r, i, "of %s with %u arguments", m->name, n);
    } else if (m->shape == SHUFFLE) {
        spirv_set(s, i, spirv_shuffle(s, (enum ir_op)m->op, args[0], args[1]));
    } else if (m->shape == SHIFT) {
        spirv_set(s, i, spirv_shift(s, (enum ir_op)m->op, args[0], args[1], args[2]));
    } else {
        emit_block_access(s, i, m, n, args);
    }
    return true;
}
