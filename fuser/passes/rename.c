/* Names for values that move into a function: each name once. */
#include "fuser/passes/rename.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/arena.h"

/* Takes a name; false: it is taken. The map keeps with each name the last number tried behind it. */
static bool take(struct rename *r, const char *name)
{
    void **slot = names_put(&r->names, name, strlen(name));
    if (*slot) return false;
    *slot = arena_alloc(r->names.arena, sizeof(uint32_t));
    return true;
}

static uint32_t next_number(struct rename *r, const char *base)
{
    take(r, base);
    uint32_t *last = names_get(&r->names, base, strlen(base));
    return ++*last;
}

/* The name without the number a renaming has put behind it. */
static char *base_of(struct ir_module *m, const char *name)
{
    char *base = ir_strdup(m, name), *end = base + strlen(base);
    while (end > base && isdigit((unsigned char)end[-1])) end--;
    if (end - base > 1 && end[-1] == '.' && *end) end[-1] = 0;
    return base;
}

void rename_value(struct rename *r, struct ir_module *m, struct ir_value *v)
{
    if (!v->name || take(r, v->name)) return;
    const char *base = base_of(m, v->name);
    size_t size = strlen(base) + 12;
    char *name = ir_alloc(m, size);
    do {
        snprintf(name, size, "%s.%u", base, next_number(r, base));
    } while (names_get(&r->names, name, strlen(name)));
    take(r, name);
    v->name = name;
}

static void learn(struct ir_inst *inst, void *data)
{
    for (uint32_t i = 0; i < inst->n_results; i++)
        if (inst->results[i]->name) take(data, inst->results[i]->name);
    for (int b = 0; b < 2; b++)
        for (uint32_t i = 0; inst->blocks[b] && i < inst->blocks[b]->n_args; i++)
            if (inst->blocks[b]->args[i]->name) take(data, inst->blocks[b]->args[i]->name);
}

void rename_open(struct rename *r, struct ir_function *f)
{
    r->names = (struct names){.arena = arena_new()};
    for (uint32_t i = 0; i < f->n_params; i++)
        if (f->params[i].value->name) take(r, f->params[i].value->name);
    ir_walk(f->body, learn, r);
}

void rename_close(struct rename *r)
{
    arena_free(r->names.arena);
}
