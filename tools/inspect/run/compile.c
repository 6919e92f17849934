/* Kernels written as SPIR-V into files: of a module, or the fused ones of an executable. */
#include "tools/inspect/run/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuser/passes/manager/pipelines.h"
#include "fuser/spirv/writer.h"
#include "ir/features/usage.h"
#include "ir/spirv/spirv.h"
#include "ir/text/parse/parse.h"
#include "tools/inspect/terminal/complain.h"

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static void print_findings(const char *what, const char *status, struct diag_list *list)
{
    char *text = diag_format(list);
    size_t n = strlen(text);
    if (n && text[n - 1] == '\n') text[n - 1] = 0; /* behind each finding */
    complain(what, status, "%s", text);
    free(text);
    diag_clear(list);
}

static const struct spirv_target *target_of(const struct compile_request *r)
{
    if (!r->dialect || strcmp(r->dialect, "kernel") == 0) return &spirv_target_kernel;
    if (strcmp(r->dialect, "vulkan") == 0) return &spirv_target_vulkan;
    complain("--dialect", "invalid", "it takes kernel or vulkan, not `%s`", r->dialect);
    return NULL;
}

static bool save(const struct compile_request *r, const char *kernel, const struct spirv_module *m)
{
    char path[4096];
    bool folder = is_folder(r->spirv);
    int n = snprintf(path, sizeof path, folder ? "%s/%s.spv" : "%s", r->spirv, kernel);
    FILE *out = n < (int)sizeof path ? fopen(path, "wbe") : NULL;
    bool ok = out && fwrite(m->words, sizeof *m->words, m->n_words, out) == m->n_words;
    if (out) ok = fclose(out) == 0 && ok;
    if (!ok) complain_at(path, 0, 0, "%s", strerror(errno));
    if (ok) printf("%s: %s, %zu words\n", path, kernel, m->n_words);
    return ok;
}

static bool write_kernel(const struct ir_function *f, const struct spirv_target *target,
                         const struct compile_request *r)
{
    struct spirv_module m;
    struct diag_list list = {0};
    bool ok = spirv_write(f, target, &m, &list) == 0 && save(r, f->name, &m);
    if (list.n) print_findings(f->name, "feature_not_supported", &list);
    spirv_module_clear(&m);
    return ok;
}

static bool is_written(const struct ir_function *f)
{
    return f->linkage == IR_LINKAGE_KERNEL && !f->refused;
}

static unsigned count_kernels(const struct ir_module *m)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < m->n_functions; i++) n += is_written(m->functions[i]);
    return n;
}

/* One file holds one kernel. */
static bool has_room(const struct compile_request *r, unsigned n)
{
    if (n == 1 || is_folder(r->spirv)) return true;
    complain("compile", "invalid", "there are %u kernels: --spirv needs a folder for them, which %s is not", n,
             r->spirv);
    return false;
}

static char *read_file(const char *path, size_t *size)
{
    char *bytes = malloc(IR_SPIRV_MAX_SIZE);
    FILE *in = fopen(path, "rbe");
    if (in && bytes) *size = fread(bytes, 1, IR_SPIRV_MAX_SIZE, in);
    if (!in) complain_at(path, 0, 0, "%s", strerror(errno));
    if (in) fclose(in);
    if (in) return bytes;
    free(bytes);
    return NULL;
}

bool compile_module(const char *path, const struct compile_request *r)
{
    const struct spirv_target *target = target_of(r);
    struct diag_list list = {0};
    size_t size = 0;
    char *bytes = target ? read_file(path, &size) : NULL;
    if (!bytes) return false;
    struct ir_module *m =
        ir_is_spirv(bytes, size) ? ir_read_spirv(bytes, size, path, &list) : ir_parse(bytes, size, path, &list);
    if (!m) print_findings(path, "invalid", &list);
    bool ok = m && has_room(r, count_kernels(m));
    for (uint32_t i = 0; ok && i < m->n_functions; i++) {
        struct ir_function *f = m->functions[i];
        if (!is_written(f)) continue;
        ir_usage_keep(f);
        pipeline_run(&pipeline_cleanup, f);
        ok = write_kernel(f, target, r);
    }
    ir_module_free(m);
    diag_clear(&list);
    free(bytes);
    return ok;
}

bool compile_launches(const fusion_exec *exec, const struct compile_request *r)
{
    const fusion_report *report = fusion_exec_report(exec);
    const struct spirv_target *target = target_of(r);
    unsigned n = 0;
    for (uint32_t i = 0; i < report->n_groups; i++) n += report->groups[i].ir != NULL;
    bool ok = target && has_room(r, n);
    for (uint32_t i = 0; ok && i < report->n_groups; i++) {
        const char *text = report->groups[i].ir;
        struct diag_list list = {0};
        if (!text) continue;
        struct ir_module *m = ir_parse(text, strlen(text), report->groups[i].kernel, &list);
        const struct ir_function *f = m ? ir_module_only_kernel(m) : NULL;
        if (!f) print_findings(report->groups[i].kernel, "internal", &list);
        ok = f && write_kernel(f, target, r);
        ir_module_free(m);
        diag_clear(&list);
    }
    return ok;
}
