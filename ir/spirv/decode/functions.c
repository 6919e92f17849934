/* The functions of the module, and which of them are kernels. */
#include "ir/spirv/decode/functions.h"

#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"

static void find_functions(struct spirv_reader *r)
{
    size_t n = 0;
    for (size_t k = 0; k < r->index.n_insts; k++) n += r->index.insts[k].op == SpvOpFunction;
    r->functions.items = arena_alloc(r->arena, (n + 1) * sizeof *r->functions.items);
    for (size_t k = 0; k < r->index.n_insts; k++) {
        const struct spirv_inst *i = &r->index.insts[k];
        struct spirv_function *f = r->functions.n ? &r->functions.items[r->functions.n - 1] : NULL;
        if (i->op == SpvOpFunction) {
            f = &r->functions.items[r->functions.n++];
            *f = (struct spirv_function){.first = i, .id = i->id};
        } else if (f && i->op == SpvOpLabel) {
            f->has_body = true;
        } else if (f && i->op == SpvOpFunctionEnd) {
            f->end = i;
        }
    }
}

/* The functions stand in the order of their instructions. */
struct spirv_function *spirv_function_of(const struct spirv_reader *r, uint32_t id)
{
    const struct spirv_inst *d = spirv_def(r, id);
    size_t low = 0, high = r->functions.n;
    while (d && low < high) {
        size_t middle = (low + high) / 2;
        struct spirv_function *f = &r->functions.items[middle];
        if (f->first == d) return f;
        if (f->first < d)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void find_entries(struct spirv_reader *r)
{
    for (size_t k = 0; k < r->index.n_entries; k++) {
        const struct spirv_inst *e = r->index.entries[k];
        struct spirv_function *f = spirv_function_of(r, e->words[2]);
        if (e->words[1] != SpvExecutionModelKernel) {
            spirv_fail(r, e, "execution model %u is not Kernel", e->words[1]);
        } else if (f && f->entry) {
            spirv_fail(r, e, "function %u has two names as a kernel, %s and %s", f->id,
                       spirv_string(f->entry->words + 3), spirv_string(e->words + 3));
        } else if (f) {
            f->entry = e;
        }
    }
}

/* What an entry point calls where it only passes its parameters on: compilers make such an envelope of each kernel. */
static struct spirv_function *passed_to(const struct spirv_reader *r, const struct spirv_function *f)
{
    const struct spirv_inst *i = f->first + 1;
    uint32_t params[256], n = 0;
    for (; i < f->end && i->op == SpvOpFunctionParameter && n < 256; i++) params[n++] = i->id;
    if (i->op == SpvOpLabel) i++;
    if (i->op != SpvOpFunctionCall || i->n != n + 4u || i[1].op != SpvOpReturn) return NULL;
    for (uint32_t k = 0; k < n; k++)
        if (i->words[k + 4] != params[k]) return NULL;
    return spirv_function_of(r, i->words[3]);
}

/* An envelope and what is in it become one, where nothing else calls that. */
static void find_wrapped(struct spirv_reader *r)
{
    for (size_t k = 0; k < r->index.n_insts; k++) {
        const struct spirv_inst *i = &r->index.insts[k];
        if (i->op != SpvOpFunctionCall) continue;
        struct spirv_function *f = spirv_function_of(r, i->words[3]);
        if (f) f->calls++;
    }
    for (size_t k = 0; k < r->functions.n; k++) {
        struct spirv_function *f = &r->functions.items[k];
        struct spirv_function *inner = f->entry && f->has_body ? passed_to(r, f) : NULL;
        if (!inner || !inner->has_body || inner->entry || inner->calls != 1 || inner->wrapped_by) continue;
        f->wraps = inner;
        inner->wrapped_by = f;
        inner->entry = f->entry;
    }
}

static void find_contraction(struct spirv_reader *r)
{
    r->functions.contract = true;
    for (size_t k = 0; k < r->index.n_modes; k++)
        if (r->index.modes[k]->words[2] == SpvExecutionModeContractionOff) r->functions.contract = false;
}

void spirv_find_functions(struct spirv_reader *r)
{
    r->functions.names.arena = r->arena;
    find_functions(r);
    find_entries(r);
    find_wrapped(r);
    find_contraction(r);
}
