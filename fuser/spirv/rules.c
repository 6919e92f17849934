/*
 * Pointers that are no addresses ("logical" ones: into variables) are what variables and access chains give, and
 * nothing else; nobody computes with them or stores them. Accesses by an address say how it is aligned, which is at
 * least as the scalars there are (VUID-StandaloneSpirv-PhysicalStorageBuffer64-06314).
 */
#include "fuser/spirv/rules.h"

#include <stdio.h>

#include <spirv/unified1/spirv.h>

#include "ir/base/arena.h"

/* What a type is. */
struct known_type {
    bool pointer;
    uint32_t storage, pointee; /* of a pointer */
    uint32_t scalar_bytes;     /* of a number's, or of those of a vector; 0: neither */
};

struct rules {
    const struct spirv_words *m;
    struct known_type *types; /* by id */
    char *text;
    size_t size;
};

static const char *broken(const struct rules *r, const char *rule, uint32_t id)
{
    snprintf(r->text, r->size, "%s (%%%u)", rule, id);
    return r->text;
}

static void see_type(struct rules *r, const uint32_t *w)
{
    uint32_t bound = r->m->bound;
    switch (w[0] & 0xffff) {
    case SpvOpTypeInt:
    case SpvOpTypeFloat: r->types[w[1]].scalar_bytes = w[2] / 8; break;
    case SpvOpTypeVector:
        if (w[2] < bound) r->types[w[1]].scalar_bytes = r->types[w[2]].scalar_bytes;
        break;
    case SpvOpTypePointer:
        r->types[w[1]] = (struct known_type){.pointer = true, .storage = w[2], .pointee = w[3]};
        break;
    default: break;
    }
}

static const struct known_type *type_of(const struct rules *r, uint32_t id)
{
    static const struct known_type none;
    return id < r->m->bound ? &r->types[r->m->value_types[id]] : &none;
}

static bool is_logical(const struct known_type *t)
{
    return t->pointer && t->storage != SpvStorageClassPhysicalStorageBuffer;
}

static bool gives_logical(uint32_t opcode)
{
    return opcode == SpvOpVariable || opcode == SpvOpAccessChain || opcode == SpvOpInBoundsAccessChain ||
           opcode == SpvOpFunctionParameter || opcode == SpvOpCopyObject || opcode == SpvOpImageTexelPointer;
}

/* pointer: an operand; `at`: the word of the access's memory operands. */
static const char *check_access(const struct rules *r, const uint32_t *w, uint32_t pointer, uint32_t at)
{
    const struct known_type *t = type_of(r, pointer);
    if (!t->pointer || is_logical(t)) return NULL;
    uint32_t n = w[0] >> 16, bytes = t->pointee < r->m->bound ? r->types[t->pointee].scalar_bytes : 0;
    if (n <= at + 1 || !(w[at] & SpvMemoryAccessAlignedMask))
        return broken(r, "an access by an address does not say how it is aligned", pointer);
    if (w[at + 1] < bytes || w[at + 1] & (w[at + 1] - 1))
        return broken(r, "an access by an address is aligned less than its scalars", pointer);
    return NULL;
}

/* Where an instruction that takes no pointers into variables has one: its first operand behind type and result, or its
   second. */
static const char *check_operands(const struct rules *r, const uint32_t *w)
{
    uint32_t n = w[0] >> 16;
    switch (w[0] & 0xffff) {
    case SpvOpLoad: return check_access(r, w, w[3], 4);
    case SpvOpStore:
        if (is_logical(type_of(r, w[2]))) return broken(r, "a pointer into a variable is stored", w[2]);
        return check_access(r, w, w[1], 3);
    case SpvOpConvertPtrToU:
    case SpvOpBitcast:
    case SpvOpPtrEqual:
    case SpvOpPtrNotEqual:
    case SpvOpPtrDiff:
        for (uint32_t i = 3; i < n; i++)
            if (is_logical(type_of(r, w[i]))) return broken(r, "a pointer into a variable is computed with", w[i]);
        return NULL;
    default: return NULL;
    }
}

const char *spirv_broken_rule(const struct spirv_words *m, char *text, size_t size)
{
    struct rules r = {m, arena_alloc(m->arena, (m->bound + 1) * sizeof *r.types), text, size};
    const char *rule = NULL;
    for (size_t at = SPIRV_HEADER_WORDS; at < m->n_words && !rule; at += m->words[at] >> 16) {
        const uint32_t *w = m->words + at;
        uint32_t type, id = spirv_result(m, w, &type);
        see_type(&r, w);
        if (id && is_logical(type_of(&r, id)) && !gives_logical(w[0] & 0xffff))
            rule = broken(&r, "a pointer into a variable is neither one nor a part of one", id);
        else
            rule = check_operands(&r, w);
    }
    return rule;
}
