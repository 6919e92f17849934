/* SPIR-V for whatever compiles it where it runs: each kernel as it was written. */
#include <stdlib.h>

#include "fuser/ahead/code.h"
#include "fuser/ahead/spirv_of.h"
#include "fuser/passes/manager/pipelines.h"
#include "fuser/spirv/writer.h"
#include "ir/features/usage.h"

bool ahead_spirv_of(const struct ir_function *kernel, const struct spirv_target *target, struct spirv_module *out,
                    struct diag_list *list)
{
    struct ir_module *m = ir_module_new(kernel->module->name);
    ir_module_copy_numbers(m, kernel->module);
    struct ir_copy *c = ir_copy_open(m, kernel->module);
    struct ir_function *f = ir_copy_signature(c, kernel, kernel->name);
    ir_copy_bodies(c);
    ir_copy_close(c);
    *out = (struct spirv_module){0};
    bool good = !f->refused && f->body;
    if (!good) diag_add(list, f->name, NULL, 0, 0, "%s", f->refused ? f->refused : "it has no body");
    if (good) {
        ir_usage_keep(f);
        pipeline_run(&pipeline_cleanup, f);
        good = spirv_write(f, target, out, list) == 0;
    }
    ir_module_free(m);
    return good;
}

bool ahead_spirv_code(const struct ahead_image *i, struct error *e)
{
    const struct ir_function *kernel;
    (void)e;
    for (uint32_t at = 0; (kernel = ahead_next_kernel(i, &at));) {
        struct spirv_module m;
        struct diag_list list = {0};
        if (ahead_spirv_of(kernel, &spirv_target_kernel, &m, &list)) {
            ahead_add_code(i, kernel, NULL, "spv", m.words, m.n_words * sizeof *m.words, 1, "");
        } else {
            char *text = diag_format(&list);
            ahead_warn(i, kernel, text);
            free(text);
        }
        diag_clear(&list);
        spirv_module_clear(&m);
    }
    return true;
}
