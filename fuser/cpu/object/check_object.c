/* Objects of others. */
#include "fuser/cpu/object/check_object.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MAX_SEGMENTS = 16, MAX_SYMBOLS = 1 << 16, PAGE_BYTES = 4096 };
static const uint64_t max_memory = (uint64_t)1 << 31;

struct elf {
    const uint8_t *bytes;
    size_t size;
    Elf64_Ehdr header;
    Elf64_Phdr segments[MAX_SEGMENTS];
    uint64_t strings, strings_size, symbols, relocations, relocations_size, calls, calls_size, hash;
    unsigned n_libraries;
    uint64_t libraries[4];
};

static bool within(uint64_t at, uint64_t n, uint64_t size)
{
    return at <= size && n <= size - at;
}

/* A copy of what lies in the file, which may be anywhere. */
static bool take(const struct elf *f, void *to, uint64_t at, size_t n)
{
    if (!within(at, n, f->size)) return false;
    memcpy(to, f->bytes + at, n);
    return true;
}

/* Where the bytes at an address lie in the file: one segment holds them all. */
static bool place_of(const struct elf *f, uint64_t address, uint64_t n, uint64_t *place)
{
    for (unsigned i = 0; i < f->header.e_phnum; i++) {
        const Elf64_Phdr *s = &f->segments[i];
        if (s->p_type != PT_LOAD || address < s->p_vaddr || !within(address - s->p_vaddr, n, s->p_filesz)) continue;
        *place = s->p_offset + (address - s->p_vaddr);
        return true;
    }
    return false;
}

static bool is_writable(const struct elf *f, uint64_t address, uint64_t n)
{
    for (unsigned i = 0; i < f->header.e_phnum; i++) {
        const Elf64_Phdr *s = &f->segments[i];
        if (s->p_type == PT_LOAD && s->p_flags & PF_W && address >= s->p_vaddr &&
            within(address - s->p_vaddr, n, s->p_memsz))
            return true;
    }
    return false;
}

/* ---- head ---- */

static const char *check_head(struct elf *f)
{
    static const uint8_t ident[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
    const Elf64_Ehdr *h = &f->header;
    if (!take(f, &f->header, 0, sizeof f->header)) return "it is too short";
    if (memcmp(h->e_ident, ident, sizeof ident) != 0 || h->e_type != ET_DYN || h->e_version != EV_CURRENT)
        return "it is no shared object";
#ifdef __x86_64__
    if (h->e_machine != EM_X86_64) return "it is for another processor";
#endif
    if (h->e_phentsize != sizeof(Elf64_Phdr) || !h->e_phnum || h->e_phnum > MAX_SEGMENTS)
        return "its table of segments is not as ours are";
    if (!take(f, f->segments, h->e_phoff, h->e_phnum * sizeof *f->segments)) return "its segments are cut short";
    return NULL;
}

/* Segments follow each other in memory, none both writable and executable. */
static const char *check_segments(const struct elf *f)
{
    uint64_t end = 0;
    unsigned n_dynamic = 0;
    for (unsigned i = 0; i < f->header.e_phnum; i++) {
        const Elf64_Phdr *s = &f->segments[i];
        if (s->p_type == PT_DYNAMIC) n_dynamic++;
        if (s->p_type == PT_GNU_STACK && s->p_flags & PF_X) return "it asks for a stack that can be executed";
        if (s->p_type == PT_DYNAMIC || s->p_type == PT_GNU_STACK || s->p_type == PT_GNU_RELRO || s->p_type == PT_NOTE ||
            s->p_type == PT_NULL || s->p_type == PT_GNU_PROPERTY)
            continue;
        if (s->p_type != PT_LOAD) return "it has a segment of a kind that ours have not";
        if (s->p_flags & PF_W && s->p_flags & PF_X) return "it has memory that can be written and executed";
        if (!within(s->p_offset, s->p_filesz, f->size) || s->p_filesz > s->p_memsz) return "a segment is cut short";
        if (s->p_vaddr < end || !within(s->p_vaddr, s->p_memsz, max_memory))
            return "its segments overlap, or are far away";
        if (s->p_vaddr % PAGE_BYTES != s->p_offset % PAGE_BYTES) return "a segment is not where pages are";
        end = s->p_vaddr + s->p_memsz;
    }
    return n_dynamic == 1 ? NULL : "it has not one dynamic section";
}

/* Made read-only when it is loaded: whole pages of memory that can be written. */
static const char *check_read_only(const struct elf *f)
{
    for (unsigned i = 0; i < f->header.e_phnum; i++) {
        const Elf64_Phdr *s = &f->segments[i];
        if (s->p_type == PT_GNU_RELRO && s->p_memsz && !is_writable(f, s->p_vaddr, s->p_memsz))
            return "what becomes read-only is not its own";
    }
    return NULL;
}

/* ---- what the dynamic loader is told ---- */

/* False: ours say nothing of that kind, as what is to be run when they are loaded. */
static bool take_entry(struct elf *f, const Elf64_Dyn *d)
{
    switch (d->d_tag) {
    case DT_STRTAB: f->strings = d->d_un.d_ptr; return true;
    case DT_STRSZ: f->strings_size = d->d_un.d_val; return true;
    case DT_SYMTAB: f->symbols = d->d_un.d_ptr; return true;
    case DT_HASH: f->hash = d->d_un.d_ptr; return true;
    case DT_RELA: f->relocations = d->d_un.d_ptr; return true;
    case DT_RELASZ: f->relocations_size = d->d_un.d_val; return true;
    case DT_JMPREL: f->calls = d->d_un.d_ptr; return true;
    case DT_PLTRELSZ: f->calls_size = d->d_un.d_val; return true;
    case DT_SYMENT: return d->d_un.d_val == sizeof(Elf64_Sym);
    case DT_RELAENT: return d->d_un.d_val == sizeof(Elf64_Rela);
    case DT_PLTREL: return d->d_un.d_val == DT_RELA;
    case DT_FLAGS: return d->d_un.d_val == DF_BIND_NOW;
    case DT_FLAGS_1: return d->d_un.d_val == DF_1_NOW;
    case DT_NEEDED:
        if (f->n_libraries == sizeof f->libraries / sizeof *f->libraries) return false;
        f->libraries[f->n_libraries++] = d->d_un.d_val;
        return true;
    default:
        return d->d_tag == DT_GNU_HASH || d->d_tag == DT_PLTGOT || d->d_tag == DT_RELACOUNT || d->d_tag == DT_VERSYM ||
               d->d_tag == DT_VERNEED || d->d_tag == DT_VERNEEDNUM;
    }
}

static const char *read_dynamic(struct elf *f)
{
    const Elf64_Phdr *s = f->segments;
    while (s->p_type != PT_DYNAMIC) s++;
    uint64_t place;
    if (!place_of(f, s->p_vaddr, s->p_filesz, &place) || place != s->p_offset) return "its dynamic section is nowhere";
    for (uint64_t at = 0; within(at, sizeof(Elf64_Dyn), s->p_filesz); at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn d;
        if (!take(f, &d, place + at, sizeof d)) break;
        if (d.d_tag == DT_NULL) return NULL;
        if (!take_entry(f, &d)) return "it tells the dynamic loader something that ours do not";
    }
    return "its dynamic section has no end";
}

/* The text at an offset of the strings ends in them. */
static const char *text_at(const struct elf *f, uint64_t offset)
{
    uint64_t place;
    if (!place_of(f, f->strings, f->strings_size, &place) || offset >= f->strings_size) return NULL;
    const char *text = (const char *)f->bytes + place + offset;
    return memchr(text, 0, f->strings_size - offset) ? text : NULL;
}

static const char *check_libraries(const struct elf *f)
{
    for (unsigned i = 0; i < f->n_libraries; i++) {
        const char *name = text_at(f, f->libraries[i]);
        if (!name || (strcmp(name, "libm.so.6") != 0 && strcmp(name, "libsleef.so.3") != 0))
            return "it needs a library that kernels do not";
    }
    return NULL;
}

static const char *check_symbols(const struct elf *f, uint32_t *count)
{
    uint32_t head[2];
    uint64_t place;
    if (!place_of(f, f->hash, sizeof head, &place) || !take(f, head, place, sizeof head))
        return "it has no table of symbols";
    *count = head[1];
    if (*count > MAX_SYMBOLS || !place_of(f, f->symbols, *count * sizeof(Elf64_Sym), &place))
        return "its symbols are cut short";
    for (uint32_t i = 0; i < *count; i++) {
        Elf64_Sym s;
        if (!take(f, &s, place + i * sizeof s, sizeof s) || !text_at(f, s.st_name)) return "a symbol has no name";
        unsigned type = ELF64_ST_TYPE(s.st_info);
        if (type != STT_NOTYPE && type != STT_OBJECT && type != STT_FUNC)
            return "a symbol is of a kind that ours are not";
    }
    return NULL;
}

static const char *check_relocations(const struct elf *f, uint64_t address, uint64_t size, uint32_t n_symbols)
{
    uint64_t place;
    if (!size) return NULL;
    if (size % sizeof(Elf64_Rela) || !place_of(f, address, size, &place)) return "its relocations are cut short";
    for (uint64_t at = 0; at < size; at += sizeof(Elf64_Rela)) {
        Elf64_Rela r;
        if (!take(f, &r, place + at, sizeof r)) return "its relocations are cut short";
        uint64_t type = ELF64_R_TYPE(r.r_info);
        if (type != R_X86_64_RELATIVE && type != R_X86_64_64 && type != R_X86_64_GLOB_DAT && type != R_X86_64_JUMP_SLOT)
            return "a relocation is of a kind that ours are not";
        if (ELF64_R_SYM(r.r_info) >= n_symbols) return "a relocation has no symbol";
        if (!is_writable(f, r.r_offset, 8)) return "a relocation is outside of its data";
    }
    return NULL;
}

/* ---- all of it ---- */

const char *check_object(const void *bytes, size_t size)
{
    struct elf f = {.bytes = bytes, .size = size};
    uint32_t n_symbols = 0;
    const char *wrong = check_head(&f);
    if (!wrong) wrong = check_segments(&f);
    if (!wrong) wrong = check_read_only(&f);
    if (!wrong) wrong = read_dynamic(&f);
    if (!wrong) wrong = check_libraries(&f);
    if (!wrong) wrong = check_symbols(&f, &n_symbols);
    if (!wrong) wrong = check_relocations(&f, f.relocations, f.relocations_size, n_symbols);
    if (!wrong) wrong = check_relocations(&f, f.calls, f.calls_size, n_symbols);
    return wrong;
}
