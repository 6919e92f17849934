/* A module on its way out. */
#include "fuser/spirv/module/module.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"

uint32_t spw_id(struct spw_module *m)
{
    if (!m->bound) m->bound = 1;
    return m->bound++;
}

/* ---- what exists once ---- */

static uint64_t hash_of(const uint32_t *words, size_t n)
{
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < n; i++) h = (h ^ words[i]) * 0x100000001b3;
    return h ? h : 1;
}

/* Where an entry of known_words begins: its length, its id, its words. */
static struct map_entry *find_known(struct spw_module *m, const uint32_t *words, size_t n)
{
    for (uint64_t key = hash_of(words, n);; key++) {
        struct map_entry *e = map_find(&m->known, key);
        if (!e) {
            e = map_make(&m->known, key);
            if (!e) arena_no_memory(sizeof *e);
            return e;
        }
        const uint32_t *known = m->known_words.words + e->number;
        if (known[0] == n && memcmp(known + 2, words, n * sizeof *words) == 0) return e;
    }
}

enum { LONGEST_KEY = 64 };

/* 0: it is new, and *id is what it is known by from now on. */
static uint32_t known_id(struct spw_module *m, enum spw_section section, unsigned opcode, uint32_t type,
                         const uint32_t *operands, size_t n, uint32_t id)
{
    struct spw_words key = {0};
    spw_append(&key, (uint32_t[]){section, opcode, type}, 3);
    spw_append(&key, operands, n);
    struct map_entry *e = find_known(m, key.words, key.n);
    uint32_t known = e->number ? m->known_words.words[e->number + 1] : 0;
    if (!e->number) {
        if (!m->known_words.n) spw_append(&m->known_words, (uint32_t[]){0}, 1);
        e->number = m->known_words.n;
        spw_append(&m->known_words, (uint32_t[]){(uint32_t)key.n, id}, 2);
        spw_append(&m->known_words, key.words, key.n);
    }
    free(key.words);
    return known;
}

uint32_t spw_once(struct spw_module *m, enum spw_section section, unsigned opcode, uint32_t type,
                  const uint32_t *operands, size_t n)
{
    uint32_t next = m->bound ? m->bound : 1, known = known_id(m, section, opcode, type, operands, n, next);
    if (known) return known;
    uint32_t id = spw_id(m), head[2] = {type, id};
    struct spw_words all = {0};
    spw_append(&all, type ? head : head + 1, type ? 2 : 1);
    spw_append(&all, operands, n);
    spw_put(&m->sections[section], opcode, all.words, all.n);
    free(all.words);
    return id;
}

void spw_once_only(struct spw_module *m, enum spw_section section, unsigned opcode, const uint32_t *operands, size_t n)
{
    if (!known_id(m, section, opcode, 0, operands, n, 1)) spw_put(&m->sections[section], opcode, operands, n);
}

void spw_capability(struct spw_module *m, uint32_t capability)
{
    spw_once_only(m, SPW_CAPABILITIES, SpvOpCapability, &capability, 1);
}

void spw_extension(struct spw_module *m, const char *name)
{
    uint32_t words[LONGEST_KEY];
    spw_once_only(m, SPW_EXTENSIONS, SpvOpExtension, words, spw_string(name, words, LONGEST_KEY));
}

uint32_t spw_import(struct spw_module *m, const char *name)
{
    uint32_t words[LONGEST_KEY];
    return spw_once(m, SPW_IMPORTS, SpvOpExtInstImport, 0, words, spw_string(name, words, LONGEST_KEY));
}

void spw_decorate(struct spw_module *m, uint32_t id, uint32_t decoration, const uint32_t *operands, size_t n)
{
    uint32_t words[LONGEST_KEY] = {id, decoration};
    if (n) memcpy(words + 2, operands, n * sizeof *operands);
    spw_once_only(m, SPW_ANNOTATIONS, SpvOpDecorate, words, 2 + n);
}

/* ---- the end ---- */

uint32_t *spw_assemble(const struct spw_module *m, size_t *n_words)
{
    struct spw_words all = {0};
    spw_append(&all, (uint32_t[]){SpvMagicNumber, m->version, 0, m->bound, 0}, 5);
    for (int s = 0; s < SPW_SECTIONS; s++) spw_append(&all, m->sections[s].words, m->sections[s].n);
    *n_words = all.n;
    return all.words;
}

void spw_clear(struct spw_module *m)
{
    for (int s = 0; s < SPW_SECTIONS; s++) free(m->sections[s].words);
    free(m->known_words.words);
    map_clear(&m->known);
}
