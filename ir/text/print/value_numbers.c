/* A hash table: scratch of values belongs to the running pass. */
#include "ir/text/print/value_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"

static size_t slot_of(const struct numbers *n, const struct ir_value *v)
{
    size_t i = ((uintptr_t)v >> 4) * 0x9e3779b97f4a7c15u >> 20;
    for (i &= n->capacity - 1; n->values[i] && n->values[i] != v; i = (i + 1) & (n->capacity - 1)) continue;
    return i;
}

static void enlarge_table(struct numbers *n)
{
    struct numbers larger = {.n = n->n, .capacity = n->capacity ? 2 * n->capacity : 64};
    larger.values = arena_realloc(NULL, larger.capacity * sizeof *larger.values);
    larger.number = arena_realloc(NULL, larger.capacity * sizeof *larger.number);
    memset(larger.values, 0, larger.capacity * sizeof *larger.values);
    for (size_t i = 0; i < n->capacity; i++) {
        if (!n->values[i]) continue;
        size_t to = slot_of(&larger, n->values[i]);
        larger.values[to] = n->values[i];
        larger.number[to] = n->number[i];
    }
    free(n->values);
    free(n->number);
    *n = larger;
}

static void number_value(struct numbers *n, const struct ir_value *v)
{
    if (!v || v->name) return;
    if (2 * n->n >= n->capacity) enlarge_table(n);
    size_t i = slot_of(n, v);
    if (n->values[i]) return;
    n->values[i] = v;
    n->number[i] = (uint32_t)n->n++;
}

static void number_inst(struct ir_inst *inst, void *data)
{
    for (uint32_t i = 0; i < inst->n_results; i++) number_value(data, inst->results[i]);
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; inst->blocks[k] && i < inst->blocks[k]->n_args; i++)
            number_value(data, inst->blocks[k]->args[i]);
}

void print_forget_numbers(struct printer *p)
{
    free(p->numbers.values);
    free(p->numbers.number);
    p->numbers = (struct numbers){0};
}

void print_number_function(struct printer *p, const struct ir_function *f)
{
    print_forget_numbers(p);
    for (uint32_t i = 0; i < f->n_params; i++) number_value(&p->numbers, f->params[i].value);
    if (f->body && !f->refused) ir_walk(f->body, number_inst, &p->numbers);
}

bool print_number_of(const struct printer *p, const struct ir_value *v, uint32_t *number)
{
    if (!p->numbers.capacity) return false;
    size_t slot = slot_of(&p->numbers, v);
    *number = p->numbers.number[slot];
    return p->numbers.values[slot] != NULL;
}
