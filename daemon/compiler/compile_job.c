/* Job compile: one kernel in, one object out. */
#include <stdio.h>

#include "daemon/compiler/devices.h"
#include "daemon/compiler/job.h"
#include "fuser/cpu/gccjit.h"
#include "ir/base/diag.h"
#include "ir/core/ir.h"

static int compile(const struct ir_function *kernel, bool keep_assembly, struct gccjit_object *object,
                   struct job_error *e)
{
    struct diag_list findings = {0};
    struct gccjit_options options = {
        .target = *devices_cpu_target(), .keep_assembly = keep_assembly, .effort = devices_cpu_effort()};
    if (job_with_care && options.effort < GCCJIT_EFFORT_SCALAR) options.effort = GCCJIT_EFFORT_SCALAR;
    int result = gccjit_compile(kernel, &options, object, &findings);
    if (result != 0) {
        char name[300];
        snprintf(name, sizeof name, "kernel %s", kernel->name);
        job_fail_findings(e, result == -1 ? FUSION_KERNEL_NOT_SUPPORTED : FUSION_COMPILER, name, NULL, &findings);
    }
    diag_clear(&findings);
    return result;
}

int job_compile(const struct proto_message *m, struct proto_writer *reply, struct job_error *e)
{
    const void *bytes;
    size_t size;
    bool keep_assembly = false;
    if (!proto_get_bytes(&m->params, "kernel", &bytes, &size)) return job_missing(e, m, "kernel");
    proto_get_bool(&m->params, "keep_assembly", &keep_assembly);
    struct ir_module *module = job_decode_module(bytes, size, "of the kernel", e);
    if (!module) return -1;
    struct gccjit_object object = {0};
    const struct ir_function *kernel = ir_module_only_kernel(module);
    int result = kernel ? compile(kernel, keep_assembly, &object, e)
                        : job_fail(e, FUSION_INVALID, "kernel", "the module does not hold exactly one kernel");
    if (result == 0) {
        proto_begin_reply(reply, m->id);
        proto_pack_map(reply, 4);
        proto_pack_bytes(reply, "object", object.elf, object.elf_size);
        proto_pack_uint(reply, "lanes", object.lanes);
        proto_pack_string(reply, "effort", gccjit_effort_name(object.effort));
        proto_pack_string(reply, "assembly", object.assembly);
    }
    gccjit_object_clear(&object);
    ir_module_free(module);
    return result;
}
