/* Aspects by name in a module. Own names have bits by their first use: a module may number many that it never uses. */
#include "ir/core/module_aspects.h"

#include <string.h>

#include "ir/base/arena.h"

static const struct ir_aspect_number *find_number(const struct ir_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->n_aspect_numbers; i++)
        if (strcmp(m->aspect_numbers[i].name, name) == 0) return &m->aspect_numbers[i];
    return NULL;
}

void ir_module_number_aspect(struct ir_module *m, const char *name, uint32_t number)
{
    m->aspect_numbers = arena_grow(m->arena, m->aspect_numbers, m->n_aspect_numbers, sizeof *m->aspect_numbers);
    m->aspect_numbers[m->n_aspect_numbers++] = (struct ir_aspect_number){ir_strdup(m, name), number};
}

int ir_module_aspect(struct ir_module *m, const char *name)
{
    int known = ir_aspect_find(name);
    if (known >= 0) return known;
    for (uint32_t i = 0; i < m->n_own_aspects; i++)
        if (strcmp(m->own_aspects[i], name) == 0) return (int)(IR_ASPECT_COUNT + i);
    const struct ir_aspect_number *row = find_number(m, name);
    if (!row || IR_ASPECT_COUNT + m->n_own_aspects >= IR_ASPECT_BITS) return -1;
    m->own_aspects = arena_grow(m->arena, m->own_aspects, m->n_own_aspects, sizeof *m->own_aspects);
    m->own_aspects[m->n_own_aspects++] = row->name;
    return (int)(IR_ASPECT_COUNT + m->n_own_aspects - 1);
}

const char *ir_module_aspect_name(const struct ir_module *m, unsigned bit)
{
    if (bit < IR_ASPECT_COUNT) return ir_aspect_name(bit);
    return bit - IR_ASPECT_COUNT < m->n_own_aspects ? m->own_aspects[bit - IR_ASPECT_COUNT] : NULL;
}

uint32_t ir_module_aspect_number(const struct ir_module *m, unsigned bit)
{
    const struct ir_aspect_number *row = find_number(m, ir_module_aspect_name(m, bit));
    return row ? row->number : ir_aspect_number(bit);
}

uint64_t ir_module_aspects(const struct ir_module *m)
{
    unsigned n = IR_ASPECT_COUNT + m->n_own_aspects;
    return n < IR_ASPECT_BITS ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
}

uint64_t ir_aspects_into(struct ir_module *into, const struct ir_module *from, uint64_t set)
{
    uint64_t known = ((uint64_t)1 << IR_ASPECT_COUNT) - 1, result = set & known;
    if (into == from) return set;
    for (unsigned bit = IR_ASPECT_COUNT; bit < IR_ASPECT_COUNT + from->n_own_aspects; bit++) {
        const char *name = from->own_aspects[bit - IR_ASPECT_COUNT];
        if (!(set >> bit & 1)) continue;
        if (!find_number(into, name)) ir_module_number_aspect(into, name, ir_module_aspect_number(from, bit));
        int there = ir_module_aspect(into, name);
        if (there >= 0) result |= (uint64_t)1 << there;
    }
    return result;
}

bool ir_aspects_equal(const struct ir_module *a, uint64_t x, const struct ir_module *b, uint64_t y)
{
    uint8_t of_a[IR_ASPECT_BITS], of_b[IR_ASPECT_BITS];
    unsigned n = ir_aspects_in_order(a, x, of_a);
    if (n != ir_aspects_in_order(b, y, of_b)) return false;
    for (unsigned i = 0; i < n; i++)
        if (strcmp(ir_module_aspect_name(a, of_a[i]), ir_module_aspect_name(b, of_b[i])) != 0) return false;
    return true;
}

unsigned ir_aspects_in_order(const struct ir_module *m, uint64_t set, uint8_t bits[static IR_ASPECT_BITS])
{
    unsigned n = 0;
    for (unsigned bit = 0; bit < IR_ASPECT_COUNT + m->n_own_aspects; bit++) {
        unsigned at = n;
        if (!(set >> bit & 1)) continue;
        while (at > 0 && bit >= IR_ASPECT_COUNT && bits[at - 1] >= IR_ASPECT_COUNT &&
               strcmp(ir_module_aspect_name(m, bits[at - 1]), ir_module_aspect_name(m, bit)) > 0) {
            bits[at] = bits[at - 1];
            at--;
        }
        bits[at] = (uint8_t)bit;
        n++;
    }
    return n;
}

void ir_module_copy_numbers(struct ir_module *into, const struct ir_module *from)
{
    for (uint32_t i = 0; i < from->n_aspect_numbers; i++)
        ir_module_number_aspect(into, from->aspect_numbers[i].name, from->aspect_numbers[i].number);
}
