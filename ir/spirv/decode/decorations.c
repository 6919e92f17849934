/* Decorations, as lists by id. */
#include "ir/spirv/decode/decorations.h"

static const struct spirv_decoration *find_decoration(const struct spirv_reader *r, uint32_t id, SpvDecoration what,
                                                      uint32_t first_operand)
{
    for (uint32_t i = r->index.ids[id].decorations; i; i = r->index.decorations[i - 1].next) {
        const struct spirv_decoration *d = &r->index.decorations[i - 1];
        if (d->group) {
            /* The validator lets no group be the target of a group. */
            for (uint32_t k = r->index.ids[d->group].decorations; k; k = r->index.decorations[k - 1].next) {
                const struct spirv_decoration *e = &r->index.decorations[k - 1];
                if (!e->group && e->member == UINT32_MAX && e->words[0] == what &&
                    (first_operand == UINT32_MAX || (e->n > 1 && e->words[1] == first_operand)))
                    return e;
            }
        } else if (d->member == UINT32_MAX && d->words[0] == what &&
                   (first_operand == UINT32_MAX || (d->n > 1 && d->words[1] == first_operand))) {
            return d;
        }
    }
    return NULL;
}

const uint32_t *spirv_decoration(const struct spirv_reader *r, uint32_t id, SpvDecoration what, uint32_t *n)
{
    const struct spirv_decoration *d = find_decoration(r, id, what, UINT32_MAX);
    if (n) *n = d ? d->n - 1 : 0;
    return d ? d->words + 1 : NULL;
}

bool spirv_has_param_attr(const struct spirv_reader *r, uint32_t id, SpvFunctionParameterAttribute attr)
{
    return find_decoration(r, id, SpvDecorationFuncParamAttr, attr) != NULL;
}

static uint32_t each(const struct spirv_reader *r, uint32_t id, SpvDecoration what, const uint32_t **found, uint32_t n)
{
    for (uint32_t i = r->index.ids[id].decorations; i; i = r->index.decorations[i - 1].next) {
        const struct spirv_decoration *d = &r->index.decorations[i - 1];
        if (d->group && d->group != id) {
            n = each(r, d->group, what, found, n);
        } else if (!d->group && d->member == UINT32_MAX && d->words[0] == what) {
            if (found) found[n] = d->words + 1;
            n++;
        }
    }
    return n;
}

void spirv_each_decoration(const struct spirv_reader *r, uint32_t id, SpvDecoration what,
                           void (*visit)(void *data, const uint32_t *words), void *data)
{
    uint32_t n = each(r, id, what, NULL, 0);
    if (!n) return;
    const uint32_t **found = arena_alloc(r->arena, n * sizeof(*found));
    each(r, id, what, found, 0); /* lists begin with what came last */
    while (n) visit(data, found[--n]);
}

static void decorate(struct spirv_reader *r, uint32_t target, const struct spirv_decoration *d)
{
    if (target >= r->index.bound) return;
    r->index.decorations =
        arena_grow(r->arena, r->index.decorations, r->index.n_decorations, sizeof *r->index.decorations);
    struct spirv_decoration *own = &r->index.decorations[r->index.n_decorations++];
    *own = *d;
    own->next = r->index.ids[target].decorations;
    r->index.ids[target].decorations = (uint32_t)r->index.n_decorations;
}

void spirv_decorate(struct spirv_reader *r, const struct spirv_inst *i)
{
    const uint32_t *w = i->words;
    switch (i->op) {
    case SpvOpDecorate:
    case SpvOpDecorateId:
    case SpvOpDecorateString:
        decorate(r, w[1], &(struct spirv_decoration){.member = UINT32_MAX, .words = w + 2, .n = i->n - 2});
        break;
    case SpvOpMemberDecorate:
        decorate(r, w[1], &(struct spirv_decoration){.member = w[2], .words = w + 3, .n = i->n - 3});
        break;
    default:
        for (uint32_t k = 2; k < i->n; k++)
            decorate(r, w[k], &(struct spirv_decoration){.member = UINT32_MAX, .group = w[1]});
        break;
    }
}
