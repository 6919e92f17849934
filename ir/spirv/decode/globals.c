/* Variables of the module, with their initial values as bytes. */
#include <string.h>

#include "ir/spirv/decode/reader.h"

int spirv_builtin(const struct spirv_reader *r, uint32_t id)
{
    const struct spirv_inst *d = r->ids[id].def;
    if (!d || d->op != SpvOpVariable) return -1;
    const uint32_t *builtin = spirv_decoration(r, id, SpvDecorationBuiltIn, NULL);
    return builtin ? (int)builtin[0] : -1;
}

/* ---- initial values ---- */

struct init {
    struct spirv_reader *r;
    const struct spirv_inst *user;
    struct ir_global *g;
    uint8_t *bytes; /* of its value */
    bool failed;
};

static void write_number(const struct init *in, const struct ir_value *v, uint8_t *bytes)
{
    (void)in;
    if (v->kind != IR_VALUE_CONST) return; /* undefined: zero will do */
    unsigned size = ir_type_bits(v->type) / 8;
    if (!size) size = 1;
    for (unsigned k = 0; k < ir_type_lanes(v->type); k++) memcpy(bytes + k * size, &v->of.lanes[k], size);
}

/* An address takes of the budget what it takes of memory. */
static void write_address(struct init *in, uint32_t id, uint8_t *bytes)
{
    struct spirv_reader *r = in->r;
    struct ir_address address = {.offset = (uint64_t)(bytes - in->bytes)};
    uint64_t cost = 2 * sizeof address;
    in->failed = true;
    if (r->init_budget < cost) {
        spirv_fail(r, in->user, "initial values are too large for a module of %zu bytes", r->n_words * 4);
        return;
    }
    r->init_budget -= cost;
    if (!spirv_initial_address(r, in->user, id, &address)) return;
    if (address.target)
        ir_global_add_address(r->module, in->g, &address);
    else
        memcpy(bytes, &address.at, sizeof address.at);
    in->failed = false;
}

/* As deep as types are inside each other. */
static void write_init(struct init *in, uint32_t id, uint8_t *bytes)
{
    struct spirv_reader *r = in->r;
    const struct spirv_id *own = &r->ids[id];
    const struct spirv_inst *d = own->def;
    if (in->failed || d->op == SpvOpConstantNull || d->op == SpvOpUndef) return;
    if (spirv_is_constant(r, id) && own->known) {
        write_number(in, own->of.one, bytes);
    } else if (d->op == SpvOpConstantComposite || d->op == SpvOpSpecConstantComposite) {
        ir_type t = r->ids[d->type].type;
        const struct ir_struct *s = ir_type_struct(r->module, t);
        const struct ir_array *a = ir_type_array(r->module, t);
        uint64_t step = a ? ir_type_size(r->module, a->element) : 0;
        for (uint32_t k = 3; k < d->n; k++)
            write_init(in, d->words[k], bytes + (s ? s->fields[k - 3].offset : (k - 3) * step));
    } else {
        write_address(in, id, bytes);
    }
}

void spirv_initialize(struct spirv_reader *r, const struct spirv_inst *i, struct ir_global *g, uint32_t id)
{
    const struct spirv_inst *d = r->ids[id].def;
    uint64_t size = ir_type_size(r->module, g->type);
    if (d->op == SpvOpConstantNull || d->op == SpvOpUndef) return;
    if (size > r->init_budget) {
        spirv_fail(r, i, "initial values are too large for a module of %zu bytes", r->n_words * 4);
        return;
    }
    r->init_budget -= size;
    struct init in = {.r = r, .user = i, .g = g, .bytes = ir_alloc(r->module, size)};
    g->init = in.bytes;
    write_init(&in, id, in.bytes);
    ir_global_sort_addresses(g);
}

/* ---- variables ---- */

/* The words of its linkage, or NULL; the last one is the type. */
static const uint32_t *linkage_of(const struct spirv_reader *r, const struct spirv_inst *i, uint32_t *n)
{
    if (i->words[3] == SpvStorageClassInput || i->words[3] == SpvStorageClassWorkgroup) return NULL;
    return spirv_decoration(r, i->id, SpvDecorationLinkageAttributes, n);
}

static void read_linkage(struct spirv_reader *r, const struct spirv_inst *i, struct ir_global *g)
{
    uint32_t n;
    const uint32_t *linkage = linkage_of(r, i, &n);
    if (!linkage) return;
    if (linkage[n - 1] == SpvLinkageTypeExport) g->linkage = IR_LINKAGE_EXPORT;
    if (linkage[n - 1] == SpvLinkageTypeLinkOnceODR) g->linkage = IR_LINKAGE_EXPORT_ONCE;
    if (linkage[n - 1] == SpvLinkageTypeImport) g->linkage = IR_LINKAGE_IMPORT;
}

static void read_variable(struct spirv_reader *r, const struct spirv_inst *i)
{
    uint32_t pointee = spirv_pointee(r, i->type);
    if (i->words[3] == SpvStorageClassInput || i->words[3] == SpvStorageClassFunction) return;
    enum ir_space space = spirv_space(r, i, i->words[3]);
    ir_type t = spirv_type(r, i, pointee);
    if (r->failed_function) return;
    if (space == IR_SPACE_PRIVATE || space == IR_SPACE_GENERIC) {
        spirv_fail(r, i, "storage class %u is none of a module's variables", i->words[3]);
        return;
    }
    if (!ir_type_is_number(t) && !ir_type_is_ptr(t) && ir_type_kind(t) != IR_KIND_STRUCT &&
        ir_type_kind(t) != IR_KIND_ARRAY) {
        spirv_fail(r, i, "is a variable of a type that cannot lie in memory");
        return;
    }
    const char *name = r->ids[i->id].name;
    if (!linkage_of(r, i, NULL)) name = spirv_unique_name(r, &r->globals, name, "global");
    struct ir_global *g = ir_global_new(r->module, name, space, t);
    const uint32_t *align = spirv_decoration(r, i->id, SpvDecorationAlignment, NULL);
    if (align && align[0] > g->align && (align[0] & (align[0] - 1)) == 0 && align[0] <= 4096) g->align = align[0];
    read_linkage(r, i, g);
    if (i->n > 4 && space != IR_SPACE_LOCAL && g->linkage != IR_LINKAGE_IMPORT) spirv_initialize(r, i, g, i->words[4]);
    if (r->failed_function) { /* it stays as one that nobody uses */
        g->init = NULL;
        g->n_addresses = 0;
        g->linkage = IR_LINKAGE_INTERNAL;
        return;
    }
    r->ids[i->id].global = g;
}

const char *spirv_why_refused(const struct spirv_reader *r, uint32_t id)
{
    for (size_t k = 0; k < r->n_refusals; k++)
        if (r->refusals[k].id == id) return r->refusals[k].why;
    return NULL;
}

/* Names that other modules know are taken first, so that no other variable has them. */
static void take_linked_names(struct spirv_reader *r)
{
    for (size_t k = 0; k < r->n_insts && r->insts[k].op != SpvOpFunction; k++) {
        const struct spirv_inst *i = &r->insts[k];
        const uint32_t *linkage = i->op == SpvOpVariable ? linkage_of(r, i, NULL) : NULL;
        if (linkage) r->ids[i->id].name = spirv_unique_name(r, &r->globals, spirv_string(linkage), "global");
    }
}

void spirv_globals(struct spirv_reader *r)
{
    r->init_budget = 16 * (uint64_t)r->n_words * 4 + 4096;
    take_linked_names(r);
    for (size_t k = 0; k < r->n_insts && r->insts[k].op != SpvOpFunction; k++) {
        if (r->insts[k].op != SpvOpVariable) continue;
        r->variable = &r->insts[k];
        r->failed_function = false;
        read_variable(r, r->variable);
    }
    r->variable = NULL;
}
