/* Numbers that are known when code is made, found again by their bits and by their expressions. */
#include "fuser/cpu/jit/constant.h"

struct constant *constant_get(struct emit *e, enum ir_kind kind, uint64_t bits)
{
    struct map *of_kind = &e->jit.constants[kind];
    struct constant *c = map_get(of_kind, bits);
    if (c) return c;
    c = arena_alloc(e->arena, sizeof *c);
    c->bits = bits;
    if (!map_put(of_kind, bits, c)) arena_no_memory(sizeof *c);
    return c;
}

void constant_set(struct emit *e, struct constant *c, rval number, bool is_number)
{
    c->number = number;
    c->is_number = is_number;
    if (!map_put(&e->jit.numbers, (uintptr_t)number, c)) arena_no_memory(sizeof *c);
}

struct constant *constant_of(const struct emit *e, rval number)
{
    return map_get(&e->jit.numbers, (uintptr_t)number);
}

void constants_clear(struct emit *e)
{
    for (unsigned kind = 0; kind < IR_KIND_COUNT; kind++) map_clear(&e->jit.constants[kind]);
    map_clear(&e->jit.numbers);
}
