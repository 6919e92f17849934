/* Accesses of structs and arrays as those of their parts. */
#include "ir/spirv/translate/values/access.h"

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/types.h"
#include "ir/spirv/translate/values/values.h"

struct access {
    struct spirv_body *s;
    struct ir_value *address;
    uint32_t align; /* of the whole; 0: natural */
    bool is_volatile;
    bool whole; /* the value has one part */
    struct ir_value **loaded;
    struct ir_value *const *stored;
};

/* The part at an offset: its address and what its access says. */
static struct ir_value *part_address(const struct access *a, uint64_t offset)
{
    if (!offset) return a->address;
    return ir_build2(&a->s->b, IR_OP_ELEM, IR_I8, a->address, spirv_int(a->s, IR_I64, offset));
}

static uint32_t part_align(const struct access *a, ir_type type, uint64_t offset, bool packed)
{
    uint32_t natural = ir_type_align(a->s->r->module, type), align = a->align ? a->align : natural;
    if (!a->align && packed) align = 1;
    while (offset & (align - 1)) align >>= 1;
    return align < natural ? align : 0;
}

static void visit_part(void *data, uint32_t leaf, ir_type type, uint64_t offset)
{
    struct access *a = data;
    struct spirv_body *s = a->s;
    struct ir_value *address = part_address(a, offset);
    struct ir_inst *inst;
    if (a->loaded) {
        inst = ir_build(&s->b, IR_OP_LOAD, type, &address, 1);
        a->loaded[leaf] = inst->results[0];
    } else {
        inst = ir_build(&s->b, IR_OP_STORE, type, (struct ir_value *[]){address, a->stored[leaf]}, 2);
    }
    inst->attrs.align = part_align(a, type, offset, !a->whole);
    inst->attrs.is_volatile = a->is_volatile;
}

bool spirv_holds_handle(const struct spirv_reader *r, uint32_t type)
{
    enum ir_kind k = ir_type_kind(r->types[type].ir);
    return k == IR_KIND_IMAGE || k == IR_KIND_SAMPLER || k == IR_KIND_PIPE;
}

bool spirv_is_handle_variable(const struct spirv_reader *r, uint32_t id)
{
    const struct spirv_inst *d = spirv_def(r, id);
    return d && d->op == SpvOpVariable && spirv_holds_handle(r, spirv_pointee(r, d->type));
}

static void access_parts(struct access *a, const struct spirv_inst *i, uint32_t type)
{
    if (spirv_holds_handle(a->s->r, type)) {
        spirv_fail(a->s->r, i, "an image, sampler or pipe cannot lie in memory");
        return;
    }
    /* The alignment of a struct bounds that of its parts where it is packed. */
    uint32_t own = ir_type_align(a->s->r->module, a->s->r->types[type].ir);
    a->whole = spirv_n_parts(a->s->r, type) == 0 || ir_type_is_vector(a->s->r->types[type].ir);
    if (!a->align && !a->whole) a->align = own;
    spirv_each_leaf(a->s->r, type, visit_part, a);
}

void spirv_load(struct spirv_body *s, const struct spirv_inst *i, uint32_t type, struct ir_value *address,
                uint32_t align, bool is_volatile, struct ir_value **leaves)
{
    struct access a = {.s = s, .address = address, .align = align, .is_volatile = is_volatile, .loaded = leaves};
    access_parts(&a, i, type);
}

void spirv_store(struct spirv_body *s, const struct spirv_inst *i, uint32_t type, struct ir_value *address,
                 uint32_t align, bool is_volatile, struct ir_value *const *leaves)
{
    struct access a = {.s = s, .address = address, .align = align, .is_volatile = is_volatile, .stored = leaves};
    access_parts(&a, i, type);
}
