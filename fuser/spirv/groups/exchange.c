#include "fuser/spirv/groups/exchange.h"

#include <spirv/unified1/spirv.h>

#include "fuser/spirv/base/ids.h"
#include "fuser/spirv/base/scope.h"

static uint32_t word_type(struct spw *w)
{
    return spw_type_int(&w->m, 32, 1);
}

static uint32_t pointer_type(struct spw *w)
{
    return spw_type_pointer(&w->m, SpvStorageClassWorkgroup, word_type(w));
}

/* Kernel dialect. */
static uint32_t start(struct spw *w)
{
    return spw_once(&w->m, SPW_PROLOGUE, SpvOpBitcast, pointer_type(w), &w->params[SPIRV_KERNEL_LOCAL], 1);
}

uint32_t spw_exchange_items(struct spw *w)
{
    if (w->vulkan) return spw_group_items(w);
    uint32_t n = 0;
    for (unsigned d = 0; d < 3; d++) {
        uint32_t size = spw_id_of(w, IR_OP_LOCAL_SIZE, d);
        size = spw_once(&w->m, SPW_PROLOGUE, SpvOpUConvert, word_type(w), &size, 1);
        n = d ? spw_once(&w->m, SPW_PROLOGUE, SpvOpIMul, word_type(w), (uint32_t[]){n, size}, 2) : size;
    }
    return n;
}

static uint32_t in_row(struct spw *w, unsigned row, uint32_t at)
{
    if (!row) return at;
    uint32_t first = SPW_EMIT(w, SpvOpIMul, word_type(w), spw_exchange_items(w), spw_const_u32(&w->m, row));
    return SPW_EMIT(w, SpvOpIAdd, word_type(w), at, first);
}

static uint32_t place(struct spw *w, unsigned row, uint32_t at)
{
    uint32_t bytes = (row + 1) * (uint32_t)sizeof(uint32_t);
    if (w->out->item_bytes < bytes) w->out->item_bytes = bytes;
    at = in_row(w, row, at);
    if (!w->vulkan) return SPW_EMIT(w, SpvOpPtrAccessChain, pointer_type(w), start(w), at);
    if (!w->exchange) w->exchange = spw_id(&w->m);
    return SPW_EMIT(w, SpvOpAccessChain, pointer_type(w), w->exchange, at);
}

/* Operands of an access to it, behind so many others. */
static uint32_t shared_access(const struct spw *w, uint32_t *operands, uint32_t n)
{
    operands[n++] = w->vulkan ? SpvMemoryAccessNonPrivatePointerMask : SpvMemoryAccessAlignedMask;
    if (!w->vulkan) operands[n++] = sizeof(uint32_t);
    return n;
}

void spw_exchange_put(struct spw *w, unsigned row, uint32_t at, uint32_t x)
{
    uint32_t operands[4] = {place(w, row, at), x};
    spw_do_n(w, SpvOpStore, operands, shared_access(w, operands, 2));
}

uint32_t spw_exchange_get(struct spw *w, unsigned row, uint32_t at)
{
    uint32_t operands[3] = {place(w, row, at)};
    return spw_emit_n(w, SpvOpLoad, word_type(w), operands, shared_access(w, operands, 1));
}

void spw_exchange_wait(struct spw *w)
{
    uint32_t scope = spw_scope(w, IR_SCOPE_WORK_GROUP);
    SPW_DO(w, SpvOpControlBarrier, scope, scope, spw_semantics(w, IR_ORDER_ACQ_REL, IR_FENCE_LOCAL));
}

/* Of the work-groups that this module is specialized for. */
void spw_exchange_close(struct spw *w)
{
    uint32_t storage = SpvStorageClassWorkgroup, word = word_type(w);
    if (!w->exchange) return;
    uint32_t words[3] = {SpvOpIMul, spw_group_items(w), spw_const_u32(&w->m, w->out->item_bytes / sizeof(uint32_t))};
    uint32_t n = spw_once(&w->m, SPW_GLOBALS, SpvOpSpecConstantOp, word, words, 3);
    uint32_t pointer = spw_type_pointer(&w->m, storage, spw_type_array(&w->m, word, n));
    SPW_PUT(&w->m.sections[SPW_GLOBALS], SpvOpVariable, pointer, w->exchange, storage);
    spw_append(&w->interface, &w->exchange, 1);
}
