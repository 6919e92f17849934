/* Pipes of the module: variables of pipe storage, whose initial value says how large packets are and how many fit. */
#include "ir/spirv/decode/pipes.h"

#include "ir/spirv/decode/decorations.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/names.h"
#include "ir/spirv/decode/types.h"

enum { MAX_PACKET = 1 << 20 };

bool spirv_is_pipe_storage(const struct spirv_reader *r, uint32_t type)
{
    const struct spirv_inst *d = spirv_def(r, type);
    return d && d->op == SpvOpTypePipeStorage;
}

/* What packets are is not said: numbers where their size and alignment are a number's, else bytes. */
static ir_type packet_type(struct spirv_reader *r, uint32_t size, uint32_t align)
{
    switch (size == align ? size : 0) {
    case 1: return IR_I8;
    case 2: return IR_I16;
    case 4: return IR_I32;
    case 8: return IR_I64;
    default: return ir_array_type(r->module, IR_I8, size);
    }
}

/* ---- what is made of storage ---- */

enum { IN_VARIABLE = 1, READS = 2, WRITES = 4 };

static void see_pipe(struct spirv_reader *r, const struct spirv_inst *i)
{
    const struct spirv_inst *from = spirv_def(r, i->words[3]), *type = spirv_def(r, i->type);
    uint32_t storage = from && from->op == SpvOpLoad ? from->words[3] : i->words[3];
    if (storage >= r->pipes.bound || !type || type->op != SpvOpTypePipe) return;
    if (type->words[2] != SpvAccessQualifierWriteOnly) r->pipes.seen[storage] |= READS;
    if (type->words[2] != SpvAccessQualifierReadOnly) r->pipes.seen[storage] |= WRITES;
}

void spirv_begin_pipes(struct spirv_reader *r)
{
    if (!r->pipes.bound) return;
    r->pipes.seen = arena_alloc(r->arena, r->pipes.bound);
    for (size_t k = 0; k < r->index.n_insts; k++) {
        const struct spirv_inst *i = &r->index.insts[k];
        if (i->op == SpvOpCreatePipeFromPipeStorage) see_pipe(r, i);
        if (i->op == SpvOpVariable && i->n > 4 && i->words[4] < r->pipes.bound)
            r->pipes.seen[i->words[4]] |= IN_VARIABLE;
    }
}

/* The kernels' end, where it is one. */
static enum ir_handle_access access_of(const struct spirv_reader *r, uint32_t storage)
{
    switch (r->pipes.seen[storage] & (READS | WRITES)) {
    case READS: return IR_HANDLE_READ;
    case WRITES: return IR_HANDLE_WRITE;
    default: return IR_HANDLE_READ_WRITE;
    }
}

/* ---- pipes ---- */

static const uint32_t *storage_of(const struct spirv_reader *r, uint32_t id)
{
    return id < r->pipes.bound ? r->pipes.storage[id] : NULL;
}

/* Other modules may know the pipe by its name: then kernels of theirs may have any of its ends. */
static enum ir_linkage linkage_of(const struct spirv_reader *r, const struct spirv_inst *i)
{
    uint32_t n;
    const uint32_t *linkage = spirv_decoration(r, i->id, SpvDecorationLinkageAttributes, &n);
    if (!linkage || i->op != SpvOpVariable) return IR_LINKAGE_INTERNAL;
    return linkage[n - 1] == SpvLinkageTypeExport        ? IR_LINKAGE_EXPORT
           : linkage[n - 1] == SpvLinkageTypeLinkOnceODR ? IR_LINKAGE_EXPORT_ONCE
                                                         : IR_LINKAGE_INTERNAL;
}

static void make_pipe(struct spirv_reader *r, const struct spirv_inst *i, const uint32_t *storage)
{
    uint32_t size = storage[0], align = storage[1], capacity = storage[2];
    if (!size || size > MAX_PACKET || r->module->n_arrays >= IR_MAX_ARRAYS) {
        spirv_fail(r, i, "is a pipe with packets of %u bytes; 1 to %d can be", size, MAX_PACKET);
        return;
    }
    enum ir_linkage linkage = linkage_of(r, i);
    const char *name = r->index.ids[i->id].name;
    if (linkage == IR_LINKAGE_INTERNAL) name = spirv_unique_name(r, &r->globals.names, name, "pipe");
    struct ir_global *g =
        ir_global_new(r->module, name, IR_SPACE_GLOBAL, IR_TYPE(IR_KIND_PIPE, 1, IR_HANDLE_READ_WRITE));
    if (linkage == IR_LINKAGE_INTERNAL) g->type = IR_TYPE(IR_KIND_PIPE, 1, access_of(r, i->id));
    g->linkage = linkage;
    g->packet = packet_type(r, size, align);
    g->capacity = capacity ? capacity : 1;
    const char *const *ids = r->pipes.host_access;
    if (i->id < r->pipes.bound && ids[i->id]) g->host_access = ir_strdup(r->module, ids[i->id]);
    r->globals.by_id[i->id] = g;
}

void spirv_read_pipe_variable(struct spirv_reader *r, const struct spirv_inst *i)
{
    const uint32_t *storage = i->n > 4 ? storage_of(r, i->words[4]) : NULL;
    if (storage)
        make_pipe(r, i, storage);
    else
        spirv_fail(r, i, "is a pipe without storage, which says what its packets are");
}

void spirv_read_pipe_constants(struct spirv_reader *r)
{
    for (size_t k = 0; r->pipes.bound && k < r->index.n_insts && r->index.insts[k].op != SpvOpFunction; k++) {
        const struct spirv_inst *i = &r->index.insts[k];
        if (!i->id || !storage_of(r, i->id) || r->pipes.seen[i->id] & IN_VARIABLE) continue;
        spirv_begin_variable(r, i);
        make_pipe(r, i, storage_of(r, i->id));
    }
}
