/* Variables of the module. */
#include "ir/spirv/decode/globals.h"

#include "ir/spirv/decode/decorations.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/initial_values.h"
#include "ir/spirv/decode/names.h"
#include "ir/spirv/decode/pipe_properties.h"
#include "ir/spirv/decode/pipes.h"
#include "ir/spirv/decode/types.h"

enum { INITIAL_BYTES_PER_BYTE = 16, INITIAL_BYTES = 4096 };

int spirv_builtin(const struct spirv_reader *r, uint32_t id)
{
    const struct spirv_inst *d = spirv_def(r, id);
    if (!d || d->op != SpvOpVariable) return -1;
    const uint32_t *builtin = spirv_decoration(r, id, SpvDecorationBuiltIn, NULL);
    return builtin ? (int)builtin[0] : -1;
}

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
    if (spirv_failed(r)) return;
    if (space == IR_SPACE_PRIVATE || space == IR_SPACE_GENERIC) {
        spirv_fail(r, i, "storage class %u is none of a module's variables", i->words[3]);
        return;
    }
    if (!ir_type_is_number(t) && !ir_type_is_ptr(t) && ir_type_kind(t) != IR_KIND_STRUCT &&
        ir_type_kind(t) != IR_KIND_ARRAY) {
        spirv_fail(r, i, "is a variable of a type that cannot lie in memory");
        return;
    }
    const char *name = r->index.ids[i->id].name;
    if (!linkage_of(r, i, NULL)) name = spirv_unique_name(r, &r->globals.names, name, "global");
    struct ir_global *g = ir_global_new(r->module, name, space, t);
    const uint32_t *align = spirv_decoration(r, i->id, SpvDecorationAlignment, NULL);
    if (align && align[0] > g->align && (align[0] & (align[0] - 1)) == 0 && align[0] <= 4096) g->align = align[0];
    read_linkage(r, i, g);
    if (i->n > 4 && space != IR_SPACE_LOCAL && g->linkage != IR_LINKAGE_IMPORT) spirv_initialize(r, i, g, i->words[4]);
    if (spirv_failed(r)) { /* it stays as one that nobody uses */
        g->init = NULL;
        g->n_addresses = 0;
        g->linkage = IR_LINKAGE_INTERNAL;
        return;
    }
    r->globals.by_id[i->id] = g;
}

const char *spirv_why_refused(const struct spirv_reader *r, uint32_t id)
{
    for (size_t k = 0; k < r->globals.n_refusals; k++)
        if (r->globals.refusals[k].id == id) return r->globals.refusals[k].why;
    return NULL;
}

/* Names that other modules know are taken first, so that no other variable has them. */
static void take_linked_names(struct spirv_reader *r)
{
    for (size_t k = 0; k < r->index.n_insts && r->index.insts[k].op != SpvOpFunction; k++) {
        const struct spirv_inst *i = &r->index.insts[k];
        const uint32_t *linkage = i->op == SpvOpVariable ? linkage_of(r, i, NULL) : NULL;
        if (linkage)
            r->index.ids[i->id].name = spirv_unique_name(r, &r->globals.names, spirv_string(linkage), "global");
    }
}

void spirv_read_globals(struct spirv_reader *r)
{
    r->globals.by_id = arena_alloc(r->arena, (size_t)r->index.bound * sizeof(*r->globals.by_id));
    r->globals.names.arena = r->arena;
    r->budget->initial_values = INITIAL_BYTES_PER_BYTE * (uint64_t)r->n_bytes + INITIAL_BYTES;
    take_linked_names(r);
    spirv_begin_pipes(r);
    for (size_t k = 0; k < r->index.n_insts && r->index.insts[k].op != SpvOpFunction; k++) {
        const struct spirv_inst *i = &r->index.insts[k];
        if (i->op != SpvOpVariable) continue;
        spirv_begin_variable(r, i);
        if (spirv_is_pipe_storage(r, spirv_pointee(r, i->type)))
            spirv_read_pipe_variable(r, i);
        else
            read_variable(r, i);
    }
    spirv_read_pipe_constants(r);
    spirv_begin_variable(r, NULL);
    if (r->pipes.bound) spirv_read_pipe_properties(r);
}
