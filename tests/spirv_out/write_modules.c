/*
 * Writes the kernels of modules as SPIR-V, and says of each whether it could be: the module's words that were accepted,
 * or why not. write_modules kernel|level_zero|vulkan FOLDER|- FILE.spv|FILE.fk ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/manager/pipelines.h"
#include "fuser/spirv/writer.h"
#include "ir/spirv/spirv.h"
#include "ir/text/parse/parse.h"

static unsigned written, refused, wrong;

static void save(const char *folder, const char *module, const char *kernel, const char *dialect,
                 const struct spirv_module *m)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/%s.%s.%s.spv", folder, module, kernel, dialect);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(m->words, sizeof *m->words, m->n_words, out) != m->n_words) fprintf(stderr, "%s: %m\n", path);
    if (out) fclose(out);
}

static void write_kernel(const char *folder, const char *module, struct ir_function *f,
                         const struct spirv_target *target)
{
    struct spirv_module m;
    struct diag_list list = {0};
    pipeline_run(&pipeline_cleanup, f);
    const char *dialect = target->dialect == SPIRV_VULKAN      ? "vulkan"
                          : target == &spirv_target_level_zero ? "level_zero"
                                                               : "kernel";
    int result = spirv_write(f, target, &m, &list);
    *(result == 0 ? &written : result == -1 ? &refused : &wrong) += 1;
    if (result == 0) {
        printf("%s %s %s: %zu words\n", module, f->name, dialect, m.n_words);
        if (strcmp(folder, "-") != 0) save(folder, module, f->name, dialect, &m);
    } else {
        char *text = diag_format(&list);
        printf("%s %s %s: %s %s\n", module, f->name, dialect, result == -1 ? "refused" : "WRONG", text);
        free(text);
    }
    spirv_module_clear(&m);
    diag_clear(&list);
}

static char *read_file(const char *path, size_t *size)
{
    char *bytes = malloc(IR_SPIRV_MAX_SIZE + 1);
    FILE *in = fopen(path, "rb");
    *size = in ? fread(bytes, 1, IR_SPIRV_MAX_SIZE, in) : 0;
    bytes[*size] = 0;
    if (in) fclose(in);
    return bytes;
}

static void write_file(const char *folder, const char *path, const struct spirv_target *target)
{
    struct diag_list list = {0};
    size_t size;
    char *bytes = read_file(path, &size);
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct ir_module *module =
        ir_is_spirv(bytes, size) ? ir_read_spirv(bytes, size, name, &list) : ir_parse(bytes, size, name, &list);
    if (!module) fprintf(stderr, "%s cannot be read\n", path);
    for (uint32_t i = 0; module && i < module->n_functions; i++) {
        struct ir_function *f = module->functions[i];
        if (f->linkage == IR_LINKAGE_KERNEL && !f->refused) write_kernel(folder, name, f, target);
    }
    ir_module_free(module);
    diag_clear(&list);
    free(bytes);
}

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    const struct spirv_target *target = strcmp(argv[1], "vulkan") == 0       ? &spirv_target_vulkan
                                        : strcmp(argv[1], "level_zero") == 0 ? &spirv_target_level_zero
                                                                             : &spirv_target_kernel;
    struct spirv_target own = *target;
    if (target == &spirv_target_level_zero) own.features |= SPIRV_SPECIALIZES;
    for (int i = 3; i < argc; i++) write_file(argv[2], argv[i], &own);
    printf("%u written, %u refused, %u wrong\n", written, refused, wrong);
    return wrong > 0;
}
