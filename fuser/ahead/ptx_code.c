/*
 * PTX for Nvidia's GPUs: the SPIR-V of a kernel becomes IR of LLVM, is linked with libclc, which has OpenCL's
 * functions, and goes through clang's NVPTX backend. All of one version of LLVM, which is looked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuser/ahead/code.h"
#include "fuser/ahead/spirv_of.h"
#include "fuser/ahead/tools.h"
#include "fuser/spirv/writer.h"

enum { FIRST_VERSION = 15, LAST_VERSION = 30, LAST_WITH_TYPED_POINTERS = 16 };

struct compiler {
    int version;
    char translate[32], print[32], read[32], link[32], clang[32]; /* programs */
    char library[128];
};

/* ---- what is there ---- */

static bool programs_found(struct compiler *c, const char **missing)
{
    const struct {
        char *name;
        const char *base;
    } programs[] = {{c->translate, "llvm-spirv"},
                    {c->clang, "clang"},
                    {c->print, "llvm-dis"},
                    {c->read, "llvm-as"},
                    {c->link, "llvm-link"}};
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
        snprintf(programs[i].name, sizeof c->clang, "%s-%d", programs[i].base, c->version);
        if (program_found(programs[i].name)) continue;
        *missing = programs[i].name;
        return false;
    }
    return true;
}

/* Where the distributions have it, or where $LIBCLC says. */
static bool library_found(struct compiler *c)
{
    const char *given = getenv("LIBCLC"),
               *formats[] = {"/usr/lib/clc/nvptx64--nvidiacl.bc", "/usr/lib/llvm-%d/share/clc/nvptx64--nvidiacl.bc",
                             "/usr/share/clc/nvptx64--nvidiacl.bc"};
    if (given) {
        snprintf(c->library, sizeof c->library, "%s", given);
        return access(c->library, R_OK) == 0;
    }
    for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++) {
        snprintf(c->library, sizeof c->library, formats[i], c->version);
        if (access(c->library, R_OK) == 0) return true;
    }
    return false;
}

static bool find_compiler(struct compiler *c, struct error *e)
{
    const char *missing = "llvm-spirv";
    char nearest[64] = "llvm-spirv";
    for (c->version = FIRST_VERSION; c->version <= LAST_VERSION; c->version++) {
        if (!programs_found(c, &missing)) {
            if (strncmp(missing, "llvm-spirv", 10) != 0) snprintf(nearest, sizeof nearest, "%s", missing);
            continue;
        }
        if (library_found(c)) return true;
        snprintf(nearest, sizeof nearest, "libclc (nvptx64--nvidiacl.bc)");
    }
    error_set(e, 1, "ptx64",
              "%s is not there: PTX is made by clang, llvm-spirv, llvm-link and libclc of one version of LLVM",
              nearest);
    return false;
}

/* ---- a kernel ---- */

/*
 * The translator's IR is for SPIR: its calling conventions, its target and its numbers of memories go, outside of
 * texts. Private and global memory and that of a work-group have the same numbers for NVPTX; generic pointers have none
 * there, as private ones. Constants lie in global memory, as whoever launches the kernel has all memory there.
 */
static const struct {
    const char *from, *to;
} words[] = {
    {"spir_kernel", "ptx_kernel"}, {"spir_func ", ""}, {"addrspace(2)", "addrspace(1)"}, {" addrspace(4)", ""}};

/* A line without its end. A cast between private and generic pointers changes nothing then. */
static bool casts_to_itself(const char *line, size_t n)
{
    static const char cast[] = " addrspacecast ";
    const char *at = memmem(line, n, cast, strlen(cast));
    if (!at) return false;
    size_t left = n - (size_t)(at - line);
    return !memmem(at, left, "addrspace(1)", 12) && !memmem(at, left, "addrspace(2)", 12) &&
           !memmem(at, left, "addrspace(3)", 12);
}

/* Copies what is left of a line, which never becomes longer. */
static char *retarget_line(char *to, const char *line, size_t n)
{
    bool quoted = false, same = casts_to_itself(line, n);
    for (size_t at = 0; at < n;) {
        size_t skipped = 0;
        if (line[at] == '"') quoted = !quoted;
        for (unsigned i = 0; !quoted && !skipped && i < sizeof words / sizeof *words; i++) {
            size_t length = strlen(words[i].from);
            if (n - at < length || strncmp(line + at, words[i].from, length) != 0) continue;
            to = stpcpy(to, words[i].to);
            skipped = length;
        }
        if (!quoted && !skipped && same && n - at > 14 && strncmp(line + at, "addrspacecast ", 14) == 0) {
            to = stpcpy(to, "bitcast ");
            skipped = 14;
        }
        if (!skipped) *to++ = line[at++];
        at += skipped;
    }
    return to;
}

static void retarget(char *ir)
{
    char *to = ir;
    for (const char *at = ir; *at;) {
        size_t n = strcspn(at, "\n");
        bool more = at[n] != 0;
        if (strncmp(at, "target ", 7) != 0) to = retarget_line(to, at, n);
        at += n + more;
        if (more) *to++ = '\n';
    }
    *to = 0;
}

static bool retarget_file(const struct workshop *w, struct error *e)
{
    size_t size;
    char *ir = (char *)workshop_get(w, "k.ll", &size);
    if (!ir) return error_set(e, 1, "llvm-dis", "it gave nothing") == 0;
    retarget(ir);
    bool good = workshop_put(w, "p.ll", ir, strlen(ir), e);
    free(ir);
    return good;
}

static bool run(const struct workshop *w, const struct compiler *c, struct error *e)
{
    const char *pointers = c->version <= LAST_WITH_TYPED_POINTERS ? "-opaque-pointers" : NULL;
    const char *const translate[] = {c->translate, "-r", "k.spv", "-o", "k.bc", NULL};
    const char *const print[] = {c->print, "k.bc", "-o", "k.ll", NULL};
    const char *const read[] = {c->read, "p.ll", "-o", "p.bc", pointers, NULL};
    const char *const link[] = {c->link, "-only-needed", "p.bc", c->library, "-o", "l.bc", pointers, NULL};
    const char *const compile[] = {c->clang,       "--target=nvptx64-nvidia-cuda",
                                   "-march=sm_60", "-nogpulib",
                                   "-O2",          "-S",
                                   "-x",           "ir",
                                   "l.bc",         "-o",
                                   "k.ptx",        NULL};
    return program_run(w, c->translate, (char *const *)translate, e) &&
           program_run(w, c->print, (char *const *)print, e) && retarget_file(w, e) &&
           program_run(w, c->read, (char *const *)read, e) && program_run(w, c->link, (char *const *)link, e) &&
           program_run(w, c->clang, (char *const *)compile, e);
}

/* What libclc lacks is declared, and nowhere defined. */
static void keep(const struct ahead_image *i, const struct ir_function *kernel, const char *ptx, size_t size)
{
    char why[256];
    const char *open = strstr(ptx, ".extern .func");
    if (!open) {
        ahead_add_code(i, kernel, NULL, "ptx", ptx, size, 1, "");
        return;
    }
    const char *name = strstr(open, "_Z");
    snprintf(why, sizeof why, "libclc lacks %.*s", name ? (int)strcspn(name, "\n( ") : 10, name ? name : "a function");
    ahead_warn(i, kernel, why);
}

static bool compile(const struct ahead_image *i, const struct ir_function *kernel, const struct spirv_module *m,
                    const struct compiler *c, struct error *e)
{
    struct workshop w;
    size_t size = 0;
    if (!workshop_open(&w, e)) return false;
    bool good = workshop_put(&w, "k.spv", m->words, m->n_words * sizeof *m->words, e) && run(&w, c, e);
    char *ptx = good ? (char *)workshop_get(&w, "k.ptx", &size) : NULL;
    if (good && !ptx) error_set(e, 1, c->clang, "it made no PTX, and did not say why");
    if (ptx) keep(i, kernel, ptx, size);
    free(ptx);
    workshop_close(&w);
    return ptx;
}

bool ahead_ptx_code(const struct ahead_image *i, struct error *e)
{
    struct compiler c = {0};
    struct spirv_target target = spirv_target_kernel;
    const struct ir_function *kernel;
    target.features &= ~(uint32_t)SPIRV_PIPES; /* libclc has none */
    bool good = find_compiler(&c, e);
    for (uint32_t at = 0; good && (kernel = ahead_next_kernel(i, &at));) {
        struct spirv_module m;
        struct diag_list list = {0};
        if (ahead_spirv_of(kernel, &target, &m, &list)) {
            good = compile(i, kernel, &m, &c, e);
        } else {
            char *text = diag_format(&list);
            ahead_warn(i, kernel, text);
            free(text);
        }
        diag_clear(&list);
        spirv_module_clear(&m);
    }
    return good;
}
