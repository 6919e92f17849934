/* Values that leave loops, by their uses. */
#include "ir/spirv/cfg/live_out.h"

#include "ir/spirv/cfg/loops.h"
#include "ir/spirv/decode/ids.h"

struct live_out {
    struct cfg *g;
    const struct spirv_function *f;
};

/* The words of an instruction that can be ids of values: from *first up to *end. */
static void operand_words(const struct spirv_inst *i, uint32_t *first, uint32_t *end)
{
    *first = 1 + (i->type != 0) + (i->id != 0);
    *end = i->n;
    uint32_t most = UINT32_MAX;
    switch (i->op) {
    case SpvOpLoad:
    case SpvOpCompositeExtract:
    case SpvOpBranchConditional:
    case SpvOpSwitch:
    case SpvOpGenericCastToPtrExplicit:
    case SpvOpLifetimeStart:
    case SpvOpLifetimeStop: most = 1; break;
    case SpvOpSDot:
    case SpvOpUDot:
    case SpvOpSUDot:
    case SpvOpStore:
    case SpvOpCopyMemory:
    case SpvOpCompositeInsert:
    case SpvOpVectorShuffle: most = 2; break;
    case SpvOpSDotAccSat:
    case SpvOpUDotAccSat:
    case SpvOpSUDotAccSat:
    case SpvOpCopyMemorySized: most = 3; break;
    case SpvOpExtInst: *first += 2; break;
    case SpvOpPhi:
    case SpvOpLabel:
    case SpvOpBranch:
    case SpvOpLine: most = 0; break;
    default: break;
    }
    if (*end > *first && *end - *first > most) *end = *first + most;
}

/* A word can be a literal that happens to be the number of an id: such a value leaves for nothing. */
static bool is_result(const struct live_out *s, uint32_t id)
{
    const struct spirv_reader *r = s->g->r;
    if (id >= r->index.bound || !s->g->ids->block[id]) return false;
    const struct spirv_inst *d = spirv_def(r, id);
    return d->type && d > s->f->first && d < s->f->end;
}

/* A use of id in a block. */
static void see_use(struct live_out *s, uint32_t id, uint32_t block)
{
    const struct cfg *g = s->g;
    if (!is_result(s, id)) return;
    uint8_t *left_depth = &g->ids->left_depth[id];
    uint32_t loop = g->nodes[g->ids->block[id] - 1].loop;
    for (; loop != CFG_NONE && !cfg_in_loop(g, block, loop); loop = g->loops[loop]->parent) {
        struct cfg_loop *left = g->loops[loop];
        if (*left_depth && *left_depth <= left->depth + 1) continue;
        *left_depth = (uint8_t)(left->depth + 1);
        left->live = arena_grow(g->r->arena, left->live, left->n_live, sizeof *left->live);
        left->live[left->n_live++] = id;
    }
}

static void see_instruction(struct live_out *s, const struct spirv_inst *i, uint32_t block)
{
    uint32_t first, end;
    operand_words(i, &first, &end);
    for (uint32_t k = first; k < end; k++) see_use(s, i->words[k], block);
    if (i->op != SpvOpPhi) return;
    for (uint32_t k = 3; k + 1 < i->n; k += 2) {
        uint32_t from = cfg_block(s->g, i->words[k + 1]);
        if (from != CFG_NONE) see_use(s, i->words[k], from);
    }
}

void cfg_find_live_out(struct cfg *g, const struct spirv_function *f)
{
    struct live_out s = {g, f};
    for (uint32_t k = 0; k < g->n; k++)
        for (const struct spirv_inst *i = g->nodes[k].label; i <= g->nodes[k].end; i++) see_instruction(&s, i, k);
}
