/* Code of processors: our own, the objects that executors load. */
#include <stdlib.h>
#include <string.h>

#include "fuser/ahead/code.h"
#include "fuser/ahead/target_device.h"
#include "fuser/cpu/compile.h"
#include "ir/msgpack/codec.h"

/* "x86_64_avx2": avx2; "x86_64": no vectors. */
static enum cpu_isa isa_of(const char *target)
{
    const char *name = target + strlen("x86_64");
    for (int isa = CPU_ISA_GENERIC + 1; isa < CPU_ISA_COUNT; isa++)
        if (*name == '_' && strcmp(name + 1, cpu_isa_name((enum cpu_isa)isa)) == 0) return (enum cpu_isa)isa;
    return CPU_ISA_GENERIC;
}

static void warn_findings(const struct ahead_image *i, const struct ir_function *kernel, const struct diag_list *list)
{
    char *text = diag_format(list);
    ahead_warn(i, kernel, text);
    free(text);
}

/* As the service's compilers do: of the kernel as it reaches them. */
static void compile(const struct ahead_image *i, const struct ir_function *kernel, const struct ahead_launch *launch,
                    enum cpu_isa isa)
{
    struct diag_list list = {0};
    struct cpu_object object = {0};
    const struct cpu_options options = {.target = {.isa = isa}, .effort = CPU_EFFORT_FULL};
    struct ir_module *m = ir_decode(launch->bytes, launch->size, &list);
    int result = m ? cpu_compile(ir_module_only_kernel(m), &options, &object, &list) : -2;
    if (result == 0)
        ahead_add_code(i, kernel, launch, "so", object.elf, object.elf_size, object.lanes,
                       cpu_effort_name(object.effort));
    else if (result == 1)
        ahead_warn(i, kernel, "it is too large for code");
    else
        warn_findings(i, kernel, &list);
    cpu_object_clear(&object);
    ir_module_free(m);
    diag_clear(&list);
}

bool ahead_cpu_code(const struct ahead_image *i, struct error *e)
{
    enum cpu_isa isa = isa_of(i->target->name);
    struct fuser_device device = target_device(i->target, CPU_PRIMARY_SUB_GROUP_SIZE, isa >= CPU_ISA_AVX2);
    const struct ir_function *kernel;
    for (uint32_t at = 0; (kernel = ahead_next_kernel(i, &at));) {
        struct ahead_launches all;
        if (!ahead_launches_find(&all, kernel, &device, i->sizes, i->n_sizes, e)) ahead_warn(i, kernel, e->reason);
        for (uint32_t k = 0; k < all.n; k++) compile(i, kernel, &all.items[k], isa);
        ahead_launches_clear(&all);
    }
    return true;
}
