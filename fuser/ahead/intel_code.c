/*
 * Binaries of Intel's GPUs, by Intel's own compiler: the program that $OCLOC names, else the library libocloc.so, else
 * the program ocloc. Each is the code of a launch, from the SPIR-V that a service writes of it. The library ends its
 * process where it does not like its input, so it has one of its own.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/ahead/code.h"
#include "fuser/ahead/target_device.h"
#include "fuser/ahead/tools.h"
#include "fuser/spirv/writer.h"
#include "ir/msgpack/codec.h"

enum { PRIMARY_SUB_GROUP_SIZE = 32 };

/* ---- the compiler ---- */

/* The library's only entry, which takes what the program does; sources and results are files here. */
typedef int invoke_fn(unsigned argc, const char *const *argv, uint32_t n_sources, const uint8_t **, const uint64_t *,
                      const char **, uint32_t n_headers, const uint8_t **, const uint64_t *, const char **,
                      uint32_t *n_outputs, uint8_t ***, uint64_t **, char ***);

struct invocation {
    invoke_fn *invoke;
    const char *const *argv;
    unsigned argc;
};

static int call_library(void *data)
{
    const struct invocation *i = data;
    return i->invoke(i->argc, i->argv, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ? 1 : 0;
}

static invoke_fn *find_library(void)
{
    static const char *const names[] = {"libocloc.so", "libocloc.so.1"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        invoke_fn *invoke = library ? (invoke_fn *)dlsym(library, "oclocInvoke") : NULL;
        if (invoke) return invoke;
    }
    return NULL;
}

static bool run_compiler(const struct workshop *w, const char *const *argv, unsigned argc, struct error *e)
{
    char *program[16] = {getenv("OCLOC")};
    struct invocation i = {program[0] ? NULL : find_library(), argv, argc};
    if (i.invoke) return function_run(w, "libocloc.so", call_library, &i, e);
    if (!program[0]) program[0] = "ocloc";
    for (unsigned k = 1; k < argc; k++) program[k] = (char *)argv[k];
    if (program_found(program[0])) return program_run(w, program[0], program, e);
    error_set(e, 1, program[0],
              "Intel's compiler for GPUs is not there: neither the library libocloc.so nor the program ocloc was found "
              "(Debian 12: package intel-opencl-icd)");
    return false;
}

/* "intel_gpu_dg2_g10" is its dg2-g10, intel_gpu_12_0_0 its 12.0.0. */
static void device_name(const char *target, char name[static 64])
{
    const char *from = target + strlen("intel_gpu_");
    bool version = *from >= '0' && *from <= '9';
    snprintf(name, 64, "%s", strcmp(from, "icl") == 0 ? "icllp" : strcmp(from, "tgl") == 0 ? "tgllp" : from);
    for (char *c = name; *c; c++)
        if (*c == '_') *c = version ? '.' : '-';
}

/* ---- kernels ---- */

static bool compile(const struct ahead_image *i, const struct ir_function *kernel, const struct ahead_launch *launch,
                    const struct spirv_module *m, struct error *e)
{
    struct workshop w;
    char device[64];
    size_t size = 0;
    device_name(i->target->name, device);
    const char *const argv[] = {"ocloc",    "compile", "-file",   "k.spv", "-spirv_input",
                                "-device",  device,    "-output", "k",     "-output_no_suffix",
                                "-out_dir", "."};
    if (!workshop_open(&w, e)) return false;
    bool good = workshop_put(&w, "k.spv", m->words, m->n_words * sizeof *m->words, e) &&
                run_compiler(&w, argv, sizeof argv / sizeof *argv, e);
    uint8_t *binary = good ? workshop_get(&w, "k", &size) : NULL;
    if (good && !binary) error_set(e, 1, "ocloc", "it made no binary for %s, and did not say why", device);
    if (binary) ahead_add_code(i, kernel, launch, "bin", binary, size, 1, "");
    free(binary);
    workshop_close(&w);
    return binary;
}

/* What cannot be written is compiled where it runs, or refused there. */
static bool code_launch(const struct ahead_image *i, const struct ir_function *kernel,
                        const struct ahead_launch *launch, struct error *e)
{
    struct diag_list list = {0};
    struct spirv_module spirv = {0};
    struct ir_module *m = ir_decode(launch->bytes, launch->size, &list);
    bool written = m && spirv_write(ir_module_only_kernel(m), &spirv_target_level_zero, &spirv, &list) == 0;
    bool good = !written || compile(i, kernel, launch, &spirv, e);
    if (!written) {
        char *text = diag_format(&list);
        ahead_warn(i, kernel, text);
        free(text);
    }
    spirv_module_clear(&spirv);
    ir_module_free(m);
    diag_clear(&list);
    return good;
}

bool ahead_intel_code(const struct ahead_image *i, struct error *e)
{
    struct fuser_device device = target_device(i->target, PRIMARY_SUB_GROUP_SIZE, true);
    const struct ir_function *kernel;
    bool good = true;
    for (uint32_t at = 0; good && (kernel = ahead_next_kernel(i, &at));) {
        struct ahead_launches all;
        if (!ahead_launches_find(&all, kernel, &device, i->sizes, i->n_sizes, e)) ahead_warn(i, kernel, e->reason);
        for (uint32_t k = 0; good && k < all.n; k++) good = code_launch(i, kernel, &all.items[k], e);
        ahead_launches_clear(&all);
    }
    return good;
}
