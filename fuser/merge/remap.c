/*
 * Buffers that lose their memory where a work-item, or a work-group, touches more than one element: where each load
 * and store goes instead. A work-item's bytes become variables, slice by slice; a work-group's an array in
 * work-group memory. An address is what the ids and scalars contribute plus a rest; the rest says which element.
 */
#include "fuser/merge/remap.h"

#include "fuser/access/linear_ids.h"
#include "fuser/merge/part_range.h"
#include "fuser/merge/pointer_offsets.h"
#include "fuser/passes/util.h"

/* ---- the frame: variables and arrays ---- */

void remap_frame(struct fuse *f, struct ir_builder *b, uint32_t param)
{
    const struct fuse_param *p = &f->request->params[param];
    struct fuse_remap *w = &f->remaps[param];
    if (p->storage == FUSER_STORAGE_LOCAL) {
        uint64_t size = ir_type_size(f->module, p->elem);
        ir_type array = ir_array_type(f->module, p->elem, (p->local_bytes + size - 1) / size);
        w->array = ir_global_new(f->module, p->name, IR_SPACE_LOCAL, array);
        w->array->linkage = IR_LINKAGE_INTERNAL;
        return;
    }
    w->variables = ir_alloc(f->module, p->n_slices * sizeof(*w->variables));
    for (uint32_t i = 0; i < p->n_slices; i++) {
        const struct fuse_slice *slice = &p->slices[i];
        ir_type type = slice->count == 1 ? slice->type : ir_array_type(f->module, slice->type, slice->count);
        w->variables[i] = ir_build_ptr(b, IR_OP_VAR, type, IR_SPACE_PRIVATE, NULL, 0)->results[0];
        ir_value_set_name(f->kernel, w->variables[i], p->name);
    }
}

/* ---- a part's accesses ---- */

struct rewriting {
    struct fuse *f;
    const struct fuse_part *part;
    struct ir_function *copy;
    const struct fuse_param *to;
    struct fuse_remap *remap;
    const struct access_summary *summary;
    struct ir_value **slices; /* the copy's parameters for the variables */
};

static bool lost(struct rewriting *r, const struct ir_inst *inst, const char *what)
{
    return fuse_refuse(r->f, "kernel %s, line %u: %s of %s %s", r->f->part, inst->loc.line, ir_op_info(inst->op)->text,
                       r->to->name, what);
}

static const struct access_site *site_of(const struct rewriting *r, const struct ir_inst *inst)
{
    for (uint32_t i = 0; i < r->summary->n_sites; i++)
        if (r->summary->sites[i].inst == inst) return &r->summary->sites[i];
    return NULL;
}

static struct ir_value *id_of(struct ir_builder *b, unsigned i)
{
    static const enum ir_op ids[] = {IR_OP_GLOBAL_ID, IR_OP_LOCAL_ID, IR_OP_GROUP_ID};
    if (i < AFFINE_SUB_GROUP) return ir_build_id(b, ids[i / 3], i % 3);
    enum ir_op op = i == AFFINE_LANE ? IR_OP_SUB_GROUP_LOCAL_ID : IR_OP_SUB_GROUP_ID;
    return ir_build1(b, IR_OP_ZEXT, IR_I64, ir_build(b, op, IR_VOID, NULL, 0)->results[0]);
}

/* Where the site's first byte is when all ids, counted from 0 on, are 0. */
static int64_t start_of(const struct rewriting *r, const struct access_site *site)
{
    struct access_site placed = *site;
    if (!r->f->linear) return site_start(&site->index, &r->f->request->range);
    linear_ids_of_site(&placed, &r->part->range, part_range_base(r->f, r->part));
    return placed.index.constant;
}

static struct ir_value *number(const struct ir_builder *b, int64_t v)
{
    return ir_const_int(b->module, IR_I64, (uint64_t)v);
}

/* sum - factor * x */
static struct ir_value *less(struct ir_builder *b, struct ir_value *sum, struct ir_value *x, int64_t factor)
{
    if (!factor) return sum;
    x = ir_build2(b, IR_OP_MUL, IR_I64, x, number(b, factor));
    return ir_build2(b, IR_OP_SUB, IR_I64, sum, x);
}

/* What scalar arguments contribute to an address, taken off. */
static struct ir_value *less_scalars(struct ir_builder *b, struct ir_value *sum, const struct rewriting *r,
                                     const struct affine *a)
{
    for (uint32_t i = 0; i < a->n_symbols; i++) {
        struct ir_value *v = r->copy->params[a->symbols[i].param].value;
        if (v->type != IR_I64)
            v = ir_build1(b, a->symbols[i].extension == AFFINE_UNSIGNED ? IR_OP_ZEXT : IR_OP_SEXT, IR_I64, v);
        sum = less(b, sum, v, a->symbols[i].factor);
    }
    return sum;
}

/* A number without its factor, which is a constant that `by` divides; NULL: it is none. */
static struct ir_value *without_factor(struct ir_builder *b, const struct ir_inst *product, uint64_t by)
{
    uint64_t c;
    bool shifts = product->op == IR_OP_SHL;
    if ((product->op != IR_OP_MUL && !shifts) || !ir_value_uint(product->operands[1], &c) ||
        c > (shifts ? 30 : 1 << 30))
        return NULL;
    if (shifts) c = (uint64_t)1 << c;
    if (c % by) return NULL;
    return c == by ? product->operands[0] : ir_build2(b, IR_OP_MUL, IR_I64, product->operands[0], number(b, c / by));
}

/* A multiple of `by`, divided term by term; NULL: some term is not plainly one. Terms are known sums: they do not wrap.
 */
static struct ir_value *quotient(struct ir_builder *b, const struct ir_value *v, uint64_t by)
{
    uint64_t c;
    if (ir_value_uint(v, &c)) return (int64_t)c % (int64_t)by ? NULL : number(b, (int64_t)c / (int64_t)by);
    if (v->kind == IR_VALUE_PARAM && ir_type_is_ptr(v->type)) return number(b, 0); /* where the buffer begins */
    if (v->kind != IR_VALUE_RESULT || v->type != IR_I64) return NULL;
    const struct ir_inst *inst = v->of.inst;
    if (inst->op != IR_OP_ADD && inst->op != IR_OP_SUB) return without_factor(b, inst, by);
    struct ir_value *x = quotient(b, inst->operands[0], by);
    struct ir_value *y = x ? quotient(b, inst->operands[1], by) : NULL;
    return y ? ir_build2(b, inst->op, IR_I64, x, y) : NULL;
}

static struct ir_value *divided(struct ir_builder *b, struct ir_value *v, uint64_t by)
{
    if (by == 1) return v;
    struct ir_value *plain = quotient(b, v, by);
    if (plain) return plain;
    if ((by & (by - 1)) == 0) return ir_build2(b, IR_OP_LSHR, IR_I64, v, number(b, __builtin_ctzll(by)));
    return ir_build2(b, IR_OP_UDIV, IR_I64, v, number(b, (int64_t)by));
}

static struct ir_value *element(struct ir_builder *b, ir_type type, struct ir_value *base, struct ir_value *index)
{
    struct ir_value *operands[2] = {base, index};
    return ir_build(b, IR_OP_ELEM, type, operands, 2)->results[0];
}

/* ---- variables ---- */

static uint64_t length_of(const struct rewriting *r, const struct fuse_slice *slice)
{
    return (slice->count - 1) * slice->stride + ir_type_size(r->copy->module, slice->type);
}

static uint32_t find_slice(const struct rewriting *r, const struct access_site *site, int64_t first)
{
    uint32_t i = 0;
    int64_t end = first + (site->index.high - site->index.low) + (int64_t)site->bytes;
    while (i < r->to->n_slices &&
           (first < r->to->slices[i].first || end > r->to->slices[i].first + (int64_t)length_of(r, &r->to->slices[i])))
        i++;
    return i;
}

/* A counter that has no part in ids, which one that begins at an id has. */
static bool counts_from_constant(const struct ir_value *v)
{
    return v->kind == IR_VALUE_BLOCK_ARG && v->of.block->parent->operands[v->index]->kind == IR_VALUE_CONST;
}

/* What a varying address adds to the part that ids and scalars have in it, in units: NULL where that is not plain to
   see. Counters of loops are what varies. *constant: what is not varying in it. */
static struct ir_value *plain_rest(struct ir_builder *b, struct ir_value *v, int64_t unit, int64_t *constant)
{
    const struct ir_inst *inst = v->kind == IR_VALUE_RESULT ? v->of.inst : NULL;
    uint64_t c;
    *constant = 0;
    if (ir_value_uint(v, &c)) {
        *constant = (int64_t)c / unit;
        return (int64_t)c % unit ? NULL : number(b, *constant);
    }
    if (v->kind == IR_VALUE_PARAM) return number(b, 0); /* the buffer, or a scalar */
    if (v->kind == IR_VALUE_BLOCK_ARG || (inst && (inst->op == IR_OP_ZEXT || inst->op == IR_OP_SEXT)))
        return unit == 1 && counts_from_constant(inst ? inst->operands[0] : v) ? v : NULL;
    if (!inst) return NULL;
    if (inst->op == IR_OP_GLOBAL_ID || inst->op == IR_OP_LOCAL_ID || inst->op == IR_OP_GROUP_ID) return number(b, 0);
    if (inst->op == IR_OP_ADD) {
        int64_t more;
        struct ir_value *x = plain_rest(b, inst->operands[0], unit, constant);
        struct ir_value *y = x ? plain_rest(b, inst->operands[1], unit, &more) : NULL;
        if (!y || __builtin_add_overflow(*constant, more, constant)) return NULL;
        return ir_build2(b, IR_OP_ADD, IR_I64, x, y);
    }
    bool shifts = inst->op == IR_OP_SHL;
    if ((inst->op != IR_OP_MUL && !shifts) || !ir_value_uint(inst->operands[1], &c) || c == 0 ||
        c > (shifts ? 30 : 1 << 30))
        return NULL;
    int64_t factor = shifts ? (int64_t)1 << c : (int64_t)c;
    if (factor % unit && unit % factor) return NULL;
    struct ir_value *x = plain_rest(b, inst->operands[0], factor % unit ? unit / factor : 1, constant);
    factor = factor % unit ? 1 : factor / unit;
    if (!x || __builtin_mul_overflow(*constant, factor, constant)) return NULL;
    return ir_build2(b, IR_OP_MUL, IR_I64, x, number(b, factor));
}

/* The element of an array that a varying address means: what is left of it without the ids, in strides. */
static struct ir_value *varying_slot(struct ir_builder *b, const struct rewriting *r, const struct access_site *site,
                                     struct ir_value *address, const struct fuse_slice *slice)
{
    const struct affine *a = &site->index;
    int64_t shift = start_of(r, site) - a->constant - slice->first, stride = (int64_t)slice->stride, constant;
    struct ir_value *plain = shift % stride == 0 ? plain_rest(b, address, stride, &constant) : NULL;
    if (plain && constant == a->constant / stride && a->constant % stride == 0)
        return ir_build2(b, IR_OP_ADD, IR_I64, plain, number(b, shift / stride));
    struct ir_value *rest = less_scalars(b, address, r, a);
    for (unsigned i = 0; i < AFFINE_IDS; i++)
        if (a->factor[i]) rest = less(b, rest, id_of(b, i), a->factor[i]);
    rest = ir_build2(b, IR_OP_ADD, IR_I64, rest, number(b, shift));
    return divided(b, rest, slice->stride);
}

/* Where the site's element is now; NULL: it cannot be said. */
static struct ir_value *variable_of(struct rewriting *r, struct ir_builder *b, struct ir_inst *inst,
                                    const struct access_site *site)
{
    int64_t first = start_of(r, site) + site->index.low;
    uint32_t at = find_slice(r, site, first);
    if (at == r->to->n_slices) {
        lost(r, inst, "is outside of what belongs to its work-item");
        return NULL;
    }
    const struct fuse_slice *slice = &r->to->slices[at];
    struct ir_value *address = inst->operands[0], *place = r->slices[at];
    uint64_t within = (uint64_t)(first - slice->first);
    if (!affine_is_exact(&site->index)) {
        if (within % slice->stride || (uint64_t)site->index.step % slice->stride) {
            lost(r, inst, "is between the elements of its work-item");
            return NULL;
        }
        return element(b, slice->type, place, varying_slot(b, r, site, address, slice));
    }
    if (slice->count > 1) return element(b, slice->type, place, number(b, (int64_t)(within / slice->stride)));
    if (!within && site->bytes == ir_type_size(r->copy->module, slice->type)) return place;
    ir_type lane = ir_type_element(slice->type);
    return element(b, lane, place, number(b, (int64_t)(within / ir_type_size(r->copy->module, lane))));
}

static bool redirect_to_variable(struct rewriting *r, struct ir_inst *inst, const struct access_site *site)
{
    struct ir_builder b = ir_builder_before(inst);
    struct ir_value *place = variable_of(r, &b, inst, site);
    if (!place) return false;
    inst->operands[0] = place;
    inst->attrs.align = 0;
    return true;
}

/* ---- blocks ---- */

/* A block's components are each an element of the work-item's own. */
static bool redirect_to_block(struct rewriting *r, struct ir_inst *inst, const struct access_site *sites)
{
    struct ir_builder b = ir_builder_before(inst);
    ir_type type = inst->type, scalar = ir_type_element(type);
    struct ir_value *parts[IR_MAX_LANES];
    uint32_t n = ir_type_lanes(type);
    for (uint32_t k = 0; k < n; k++) {
        struct ir_value *place = affine_is_exact(&sites[k].index) ? variable_of(r, &b, inst, &sites[k]) : NULL;
        if (!place) return lost(r, inst, "is at an address that is not known");
        if (inst->op == IR_OP_BLOCK_READ) {
            parts[k] = ir_build_load(&b, scalar, place, NULL);
            continue;
        }
        struct ir_value *v = inst->operands[1], *operands[2] = {v, number(&b, k)};
        if (n > 1) v = ir_build(&b, IR_OP_EXTRACT, type, operands, 2)->results[0];
        ir_build_store(&b, scalar, place, NULL, v);
    }
    if (inst->op == IR_OP_BLOCK_READ)
        ir_replace_uses(r->copy->body, inst->results[0],
                        n > 1 ? ir_build(&b, IR_OP_VEC, type, parts, n)->results[0] : parts[0]);
    ir_inst_remove(inst);
    return true;
}

/* ---- work-group memory ---- */

/* An address without what the group's id and the scalars contribute: exact ones as a sum of local ids, in bytes. */
static struct ir_value *exact_place(struct ir_builder *b, int64_t constant, const struct affine *a, int64_t unit)
{
    struct ir_value *sum = number(b, constant / unit);
    for (unsigned d = 0; d < 3; d++) {
        int64_t factor = a->factor[AFFINE_GLOBAL + d] + a->factor[AFFINE_LOCAL + d];
        if (!factor) continue;
        struct ir_value *x =
            ir_build2(b, IR_OP_MUL, IR_I64, ir_build_id(b, IR_OP_LOCAL_ID, d), number(b, factor / unit));
        sum = ir_build2(b, IR_OP_ADD, IR_I64, x, sum);
    }
    return sum;
}

static struct ir_value *varying_place(struct ir_builder *b, const struct rewriting *r, const struct affine *a,
                                      struct ir_value *address)
{
    const uint64_t *local = r->f->request->range.local;
    struct ir_value *rest = less_scalars(b, address, r, a);
    for (unsigned d = 0; d < 3; d++) {
        int64_t factor = a->factor[AFFINE_GLOBAL + d] * (int64_t)local[d] + a->factor[AFFINE_GROUP + d];
        if (factor) rest = less(b, rest, ir_build_id(b, IR_OP_GROUP_ID, d), factor);
    }
    return ir_build2(b, IR_OP_SUB, IR_I64, rest, number(b, r->to->local_first));
}

/* All that the address is made of is a multiple of the element's size. */
static bool is_aligned(const struct affine *a, int64_t constant, int64_t size)
{
    if (constant % size || a->low % size || a->step % size) return false;
    for (unsigned d = 0; d < 3; d++)
        if ((a->factor[AFFINE_GLOBAL + d] + a->factor[AFFINE_LOCAL + d]) % size) return false;
    return true;
}

static bool is_inside(const struct rewriting *r, const struct affine *a, int64_t constant, int64_t size)
{
    struct affine_bounds bounds = {{0}, {0}};
    struct affine rest = affine_between(a->low, a->high);
    int64_t low, high;
    rest.constant += constant;
    for (unsigned d = 0; d < 3; d++) {
        rest.factor[AFFINE_LOCAL + d] = a->factor[AFFINE_GLOBAL + d] + a->factor[AFFINE_LOCAL + d];
        bounds.high[AFFINE_LOCAL + d] = (int64_t)r->f->request->range.local[d] - 1;
    }
    return affine_range(&rest, &bounds, &low, &high) && low >= 0 &&
           (uint64_t)high + (uint64_t)size <= r->to->local_bytes;
}

static bool redirect_to_array(struct rewriting *r, struct ir_inst *inst, const struct access_site *site)
{
    struct ir_builder b = ir_builder_before(inst);
    const struct affine *a = &site->index;
    int64_t constant = start_of(r, site) - r->to->local_first, size = (int64_t)site->bytes;
    if (!is_inside(r, a, constant, size)) return lost(r, inst, "is outside of what belongs to its work-group");
    ir_type unit = is_aligned(a, constant, size) ? inst->type : IR_I8;
    if (unit == IR_I8) size = 1;
    struct ir_value *place;
    if (affine_is_exact(a)) {
        place = exact_place(&b, constant, a, size);
    } else {
        place = divided(&b, varying_place(&b, r, a, inst->operands[0]), (uint64_t)size);
    }
    inst->operands[0] = element(&b, unit, ir_build_global(&b, r->remap->array), place);
    if (unit == IR_I8) inst->attrs.align = inst->attrs.align ? inst->attrs.align : 1;
    return true;
}

/* ---- both ---- */

/* What must not differ between the accesses of a buffer: for variables each id's factor, for an array what a whole
   work-group adds to the address. */
static bool same_base(const struct rewriting *r, const struct affine *a, const struct affine *b)
{
    const uint64_t *local = r->f->request->range.local;
    for (unsigned i = 0; i < AFFINE_IDS && r->to->storage == FUSER_STORAGE_PRIVATE; i++)
        if (a->factor[i] != b->factor[i]) return false;
    for (unsigned d = 0; d < 3 && r->to->storage == FUSER_STORAGE_LOCAL; d++)
        if (a->factor[d] * (int64_t)local[d] + a->factor[AFFINE_GROUP + d] !=
            b->factor[d] * (int64_t)local[d] + b->factor[AFFINE_GROUP + d])
            return false;
    if (a->n_symbols != b->n_symbols) return false;
    uint32_t found = 0;
    for (uint32_t i = 0; i < a->n_symbols; i++)
        for (uint32_t k = 0; k < b->n_symbols; k++)
            found += a->symbols[i].param == b->symbols[k].param && a->symbols[i].factor == b->symbols[k].factor &&
                     a->symbols[i].extension == b->symbols[k].extension;
    return found == a->n_symbols;
}

/* The site's index, its scalars by the parameters of the request; the first one of the buffer is kept. */
static bool joins_others(struct rewriting *r, const struct access_site *site)
{
    struct access_site placed = *site;
    if (r->f->linear) linear_ids_of_site(&placed, &r->part->range, part_range_base(r->f, r->part));
    struct affine index = placed.index;
    if (!index.known) return false;
    for (uint32_t i = 0; i < index.n_symbols; i++) index.symbols[i].param = r->part->params[index.symbols[i].param];
    if (r->remap->leader) return same_base(r, r->remap->leader, &index);
    r->remap->leader = ir_alloc(r->f->module, sizeof index);
    *r->remap->leader = index;
    return true;
}

/* The site is one that the buffer's new storage was made for. */
static bool is_foreseen(struct rewriting *r, const struct ir_inst *inst, const struct access_site *site)
{
    if (!site->index.known || !site->found_one) return lost(r, inst, "is at an address that is not known");
    for (uint32_t i = 0; i < site->index.n_symbols; i++)
        if (site->index.symbols[i].extension == AFFINE_RAW &&
            r->copy->params[site->index.symbols[i].param].value->type != IR_I64)
            return lost(r, inst, "is at an address that wraps in fewer than 64 bits");
    return joins_others(r, site) || lost(r, inst, "has another base than the other accesses");
}

/* A block's components are sites one after the other. */
static bool redirect_access(struct ir_inst *inst, void *data)
{
    struct rewriting *r = data;
    const struct access_site *site = site_of(r, inst);
    if (!site) return lost(r, inst, "is at an address that is not known");
    uint32_t n = site_is_block(site) ? ir_type_lanes(inst->type) : 1;
    for (uint32_t k = 0; k < n; k++)
        if (!is_foreseen(r, inst, &site[k])) return false;
    if (site_is_block(site)) return redirect_to_block(r, inst, site);
    return r->to->storage == FUSER_STORAGE_LOCAL ? redirect_to_array(r, inst, site)
                                                 : redirect_to_variable(r, inst, site);
}

/* ---- the whole ---- */

/* A parameter for a pointer to one of the private variables. */
static struct ir_value *add_pointer(struct ir_function *copy, const struct ir_value *variable)
{
    struct ir_value *v = ir_function_add_param(copy, NULL, IR_PTR(IR_SPACE_PRIVATE));
    copy->params[v->index].elem = variable->of.inst->type;
    return v;
}

bool remap_accesses(struct fuse *f, const struct fuse_part *part, struct ir_function *copy, uint32_t i,
                    const struct access_summary *summary)
{
    uint32_t to = part->params[i];
    struct rewriting r = {
        .f = f, .part = part, .copy = copy, .to = &f->request->params[to], .remap = &f->remaps[to], .summary = summary};
    if (f->linear && r.to->storage == FUSER_STORAGE_LOCAL)
        return fuse_refuse(f, "%s cannot be in work-group memory: some kernel has its work-groups elsewhere",
                           r.to->name);
    r.slices = ir_alloc(f->module, (r.to->n_slices + 1) * sizeof(*r.slices));
    for (uint32_t k = 0; k < r.to->n_slices; k++) {
        r.slices[k] = add_pointer(copy, r.remap->variables[k]);
        f->extra[f->n_extra++] = r.remap->variables[k];
    }
    return pointer_offsets_make(f, copy, i, redirect_access, &r);
}
