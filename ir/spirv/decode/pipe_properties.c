/* Properties of pipes, as strings. */
#include "ir/spirv/decode/pipe_properties.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/name_map.h"
#include "ir/core/pipe_properties.h"
#include "ir/spirv/base/semantic.h"
#include "ir/spirv/decode/decorations.h"
#include "ir/spirv/decode/fail.h"
#include "ir/spirv/decode/ids.h"

struct subject {
    struct spirv_reader *r;
    const struct spirv_inst *at;
    struct ir_global *pipe;
};

/* "sycl-uses-valid" and "sycl::ext::intel::experimental::uses_valid" are uses_valid. */
static int property_of(const char *word)
{
    static const char sycl[] = "sycl-";
    char name[64];
    for (const char *p = word; (p = strstr(p, "::"));) word = p += 2;
    if (strncmp(word, sycl, strlen(sycl)) == 0) word += strlen(sycl);
    size_t n = strlen(word);
    for (size_t i = 0; i <= n; i++) name[i] = word[i] == '-' ? '_' : word[i];
    return ir_pipe_property_find(name);
}

static bool value_of(unsigned what, const char *text, uint32_t *value)
{
    unsigned n;
    char *end;
    const char *const *words = ir_pipe_property_words(what, &n);
    for (*value = 0; words && *value < n; ++*value)
        if (strcmp(words[*value], text) == 0) return true;
    unsigned long number = strtoul(text, &end, 10);
    *value = (uint32_t)number;
    return *text >= '0' && *text <= '9' && !*end && number <= UINT32_MAX;
}

static void read_property(void *data, const uint32_t *words)
{
    const struct subject *x = data;
    struct spirv_semantic s;
    char text[64];
    uint32_t value;
    int what = spirv_semantic_split(spirv_string(words), &s) ? property_of(s.word) : -1;
    if (what < 0) return;
    if (!spirv_semantic_name(&s, text) || !value_of((unsigned)what, text, &value))
        spirv_fail(x->r, x->at, "gives pipe %s no value of %s", x->pipe->name, ir_pipe_property_name((unsigned)what));
    else if (!ir_pipe_add_property(x->r->module, x->pipe, (unsigned)what, value) &&
             ir_pipe_property(x->pipe, (unsigned)what) != value)
        spirv_fail(x->r, x->at, "gives pipe %s two values of %s", x->pipe->name, ir_pipe_property_name((unsigned)what));
}

static struct ir_global *pipe_of(const struct spirv_reader *r, const struct spirv_inst *i)
{
    struct ir_global *g = r->globals.by_id[i->id];
    bool declares = i->op == SpvOpVariable || i->op == SpvOpConstantPipeStorage || i->op == SpvOpConstantNull;
    return declares && g && ir_type_kind(g->type) == IR_KIND_PIPE ? g : NULL;
}

static void read_decorations(struct spirv_reader *r, struct names *pipes)
{
    for (size_t k = 0; k < r->index.n_insts && r->index.insts[k].op != SpvOpFunction; k++) {
        struct subject x = {.r = r, .at = &r->index.insts[k], .pipe = pipe_of(r, &r->index.insts[k])};
        if (!x.pipe) continue;
        spirv_each_decoration(r, x.at->id, SpvDecorationUserSemantic, read_property, &x);
        *names_put(pipes, x.pipe->name, strlen(x.pipe->name)) = x.pipe;
    }
}

static void read_of_pipe(struct spirv_reader *r, const struct spirv_inst *i, const struct names *pipes)
{
    const char *of = spirv_semantic_of(spirv_string(i->words + 1));
    struct subject x = {.r = r, .at = i};
    if (!of) return;
    x.pipe = names_get(pipes, of, strlen(of));
    if (x.pipe) read_property(&x, i->words + 1);
}

void spirv_read_pipe_properties(struct spirv_reader *r)
{
    struct names pipes = {.arena = arena_new()};
    read_decorations(r, &pipes);
    for (size_t k = 0; k < r->index.n_insts; k++)
        if (r->index.insts[k].op == SpvOpModuleProcessed) read_of_pipe(r, &r->index.insts[k], &pipes);
    arena_free(pipes.arena);
}
