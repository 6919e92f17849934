/* Optional features in SPIR-V. It has no place for attributes of SYCL, so producers leave them as strings: UserSemantic
   decorations of functions and structs (clang's annotate), and OpModuleProcessed for the numbers of aspects. What a
   body uses is told by the types of its instructions, also of those that translating drops: variables that nobody uses.
 */
#include "ir/spirv/translate/features.h"

#include <stdio.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/name_map.h"
#include "ir/features/usage.h"
#include "ir/link/sub_group_size.h"
#include "ir/spirv/base/semantic.h"
#include "ir/spirv/decode/decorations.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"
#include "ir/spirv/decode/types.h"

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0) return true;
    return false;
}

static const char *const declaring[] = {"sycl::device_has", "device_has", "sycl_declared_aspects", NULL};
static const char *const using[] = {"sycl_detail::uses_aspects", "__sycl_detail__::__uses_aspects__", "uses_aspects",
                                    "sycl_used_aspects", NULL};
static const char *const fixing[] = {"-fsycl-fixed-targets", "sycl_fixed_targets", NULL};
static const char *const sizing[] = {"sycl::reqd_sub_group_size", "intel::reqd_sub_group_size",
                                     "intel_reqd_sub_group_size", "intel::named_sub_group_size", NULL};

/* ---- what decorations say ---- */

/* Of whom: a function, or a struct. */
struct subject {
    struct spirv_reader *r;
    const struct spirv_inst *at;
    struct ir_function *f;
    struct ir_struct *s;
};

static uint64_t read_aspects(const struct subject *x, struct spirv_semantic *s)
{
    char name[64];
    uint64_t set = 0;
    while (spirv_semantic_name(s, name)) {
        int bit = ir_module_aspect(x->r->module, name);
        if (bit < 0)
            spirv_fail(x->r, x->at, "names the aspect %s, which has no number", name);
        else
            set |= (uint64_t)1 << bit;
    }
    return set;
}

static void read_targets(const struct subject *x, struct spirv_semantic *s)
{
    char name[64];
    struct ir_module *m = x->r->module;
    x->f->has_targets = true;
    while (spirv_semantic_name(s, name)) {
        x->f->targets = arena_grow(m->arena, x->f->targets, x->f->n_targets, sizeof *x->f->targets);
        x->f->targets[x->f->n_targets++] = ir_strdup(m, name);
    }
}

static void read_size(const struct subject *x, struct spirv_semantic *s)
{
    char name[64];
    if (!spirv_semantic_name(s, name) || !ir_sub_group_size_parse(name, &x->f->sub_group_size))
        spirv_fail(x->r, x->at,
                   "gives the sub-group size %s, which is neither a power of two, nor automatic, nor primary", name);
}

static void read_semantic(void *data, const uint32_t *words)
{
    const struct subject *x = data;
    struct spirv_semantic s;
    if (!spirv_semantic_split(spirv_string(words), &s)) return;
    if (is_one_of(s.word, using))
        *(x->s ? &x->s->aspects_used : &x->f->aspects_used) |= read_aspects(x, &s);
    else if (x->f && is_one_of(s.word, declaring)) {
        x->f->has_declared = true;
        x->f->aspects_declared |= read_aspects(x, &s);
    } else if (x->f && is_one_of(s.word, fixing))
        read_targets(x, &s);
    else if (x->f && is_one_of(s.word, sizing))
        read_size(x, &s);
}

static void read_struct(struct spirv_reader *r, const struct spirv_inst *i)
{
    struct subject x = {.r = r, .at = i};
    if (!r->types[i->id].known || ir_type_kind(r->types[i->id].ir) != IR_KIND_STRUCT) return;
    x.s = r->module->structs[ir_type_detail(r->types[i->id].ir)];
    spirv_each_decoration(r, i->id, SpvDecorationUserSemantic, read_semantic, &x);
}

/* "sycl_aspects(fp16=5, ext_intel_amx=9)" */
static void read_numbers(struct spirv_reader *r, const struct spirv_inst *i)
{
    struct spirv_semantic s;
    char item[64], name[64];
    unsigned number;
    if (!spirv_semantic_split(spirv_string(i->words + 1), &s) || strcmp(s.word, "sycl_aspects") != 0) return;
    while (spirv_semantic_name(&s, item)) {
        if (sscanf(item, "%63[A-Za-z0-9_]=%u", name, &number) != 2)
            spirv_fail(r, i, "gives the aspect %s no number", item);
        else
            ir_module_number_aspect(r->module, name, number);
    }
}

/* "sycl::device_has(fp16) of k", as our writer has it: for versions of SPIR-V that have no such decorations. */
static void read_of_function(struct spirv_reader *r, const struct spirv_inst *i, const struct names *functions)
{
    const char *of = spirv_semantic_of(spirv_string(i->words + 1));
    struct subject x = {.r = r, .at = i};
    if (!of) return;
    x.f = names_get(functions, of, strlen(of));
    if (x.f) read_semantic(&x, i->words + 1);
}

static void read_of_functions(struct spirv_reader *r)
{
    struct names functions = {.arena = arena_new()};
    for (size_t k = 0; k < r->functions.n; k++) {
        struct ir_function *f = r->functions.items[k].ir;
        if (f && f->name && !r->functions.items[k].refused) *names_put(&functions, f->name, strlen(f->name)) = f;
    }
    for (size_t k = 0; k < r->index.n_insts; k++)
        if (r->index.insts[k].op == SpvOpModuleProcessed) read_of_function(r, &r->index.insts[k], &functions);
    arena_free(functions.arena);
}

/* ---- what bodies name ---- */

static uint64_t type_aspects(struct spirv_reader *r, struct ir_usage *u, uint32_t type)
{
    uint32_t pointee = spirv_pointee(r, type);
    uint64_t set = r->types[type].known ? ir_usage_of_type(u, r->types[type].ir) : 0;
    return set | (pointee && r->types[pointee].known ? ir_usage_of_type(u, r->types[pointee].ir) : 0);
}

static void read_function(struct spirv_reader *r, struct ir_usage *u, struct spirv_function *f)
{
    uint64_t set = 0;
    struct subject x = {.r = r, .at = f->first, .f = f->ir};
    spirv_begin_function(r, f);
    spirv_each_decoration(r, f->id, SpvDecorationUserSemantic, read_semantic, &x);
    if (f->wrapped_by) spirv_each_decoration(r, f->wrapped_by->id, SpvDecorationUserSemantic, read_semantic, &x);
    for (const struct spirv_inst *i = f->first + 1; i < f->end; i++)
        if (i->type) set |= type_aspects(r, u, i->type);
    f->ir->aspects_used |= set & ~ir_usage_own(u, f->ir);
    spirv_begin_function(r, NULL);
}

void spirv_read_features(struct spirv_reader *r)
{
    for (size_t k = 0; k < r->index.n_insts; k++)
        if (r->index.insts[k].op == SpvOpModuleProcessed) read_numbers(r, &r->index.insts[k]);
    for (size_t k = 0; k < r->index.n_insts; k++)
        if (r->index.insts[k].op == SpvOpTypeStruct) read_struct(r, &r->index.insts[k]);
    read_of_functions(r);
    struct ir_usage *u = ir_usage_new(r->module);
    for (size_t k = 0; k < r->functions.n; k++)
        if (r->functions.items[k].ir && !r->functions.items[k].refused) read_function(r, u, &r->functions.items[k]);
    ir_usage_free(u);
}
