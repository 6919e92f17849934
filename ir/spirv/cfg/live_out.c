/* Finds the values that are used behind the loop that defines them: they leave it as its results. */
#include "ir/spirv/translate/values/body.h"

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
static bool is_result(const struct spirv_body *s, uint32_t id)
{
    if (id >= s->r->bound) return false;
    const struct spirv_id *v = &s->r->ids[id];
    return v->block && v->def->type && v->def > s->f->first && v->def < s->f->end;
}

/* A use of id in a block. */
static void use(struct spirv_body *s, uint32_t id, uint32_t block)
{
    struct spirv_reader *r = s->r;
    const struct cfg *g = &s->cfg;
    if (!is_result(s, id)) return;
    uint32_t loop = g->nodes[r->ids[id].block - 1].loop;
    for (; loop != CFG_NONE && !cfg_in_loop(g, block, loop); loop = g->loops[loop]->parent) {
        struct cfg_loop *left = g->loops[loop];
        if (r->ids[id].left && r->ids[id].left <= left->depth + 1) continue;
        r->ids[id].left = (uint8_t)(left->depth + 1);
        left->live = arena_grow(r->arena, left->live, left->n_live, sizeof *left->live);
        left->live[left->n_live++] = id;
    }
}

static void see(struct spirv_body *s, const struct spirv_inst *i, uint32_t block)
{
    uint32_t first, end;
    operand_words(i, &first, &end);
    for (uint32_t k = first; k < end; k++) use(s, i->words[k], block);
    if (i->op != SpvOpPhi) return;
    for (uint32_t k = 3; k + 1 < i->n; k += 2) {
        uint32_t from = cfg_block(&s->cfg, i->words[k + 1]);
        if (from != CFG_NONE) use(s, i->words[k], from);
    }
}

void spirv_find_live(struct spirv_body *s)
{
    for (uint32_t k = 0; k < s->cfg.n; k++)
        for (const struct spirv_inst *i = s->cfg.nodes[k].label; i <= s->cfg.nodes[k].end; i++) see(s, i, k);
}
