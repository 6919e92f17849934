/* Job compile: one kernel in, one object out. The least that is made of it is itself, which executors interpret. */
#include <stdio.h>
#include <stdlib.h>

#include "daemon/compiler/devices.h"
#include "daemon/compiler/gpu_compile.h"
#include "daemon/compiler/job.h"
#include "fuser/cpu/compile.h"
#include "ir/base/diag.h"
#include "ir/core/ir.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

/* What the job answers. */
struct made {
    struct cpu_object code;
    uint8_t *spirv;
    const void *bytes;
    size_t size;
    unsigned lanes;
    const char *effort, *assembly;
};

static void fail(const struct ir_function *kernel, int result, const struct diag_list *findings, struct error *e)
{
    char name[300];
    snprintf(name, sizeof name, "kernel %s", kernel->name);
    job_fail_findings(e, result == -1 ? FUSION_KERNEL_NOT_SUPPORTED : FUSION_COMPILER, name, NULL, findings);
}

/* 0, 1 where there is no code for the kernel within the limits, or -1 with the error. */
static int compile_for_cpu(const struct ir_function *kernel, bool keep_assembly, struct made *made, struct error *e)
{
    struct diag_list findings = {0};
    static const enum cpu_effort by_care[] = {
        [JOB_ANY] = CPU_EFFORT_FULL, [JOB_SCALAR] = CPU_EFFORT_SCALAR, [JOB_NO_CODE] = CPU_EFFORT_NONE};
    struct cpu_options options = {
        .target = *devices_cpu_target(), .keep_assembly = keep_assembly, .effort = devices_cpu_effort()};
    if (options.effort < by_care[job_care]) options.effort = by_care[job_care];
    int result = cpu_compile(kernel, &options, &made->code, &findings);
    if (result < 0) fail(kernel, result, &findings, e);
    diag_clear(&findings);
    made->bytes = made->code.elf;
    made->size = made->code.elf_size;
    made->lanes = made->code.lanes;
    made->effort = cpu_effort_name(made->code.effort);
    made->assembly = made->code.assembly;
    return result < 0 ? -1 : result;
}

static int compile_for_gpu(const struct ir_function *kernel, const struct device *device, struct made *made,
                           struct error *e)
{
    struct diag_list findings = {0};
    int result = gpu_compile(kernel, device->gpu, &made->spirv, &made->size, &findings);
    if (result < 0) fail(kernel, result, &findings, e);
    diag_clear(&findings);
    made->bytes = made->spirv;
    made->lanes = 1;
    made->effort = cpu_effort_name(CPU_EFFORT_FULL);
    made->assembly = "";
    return result < 0 ? -1 : 0;
}

static int compile(const struct ir_function *kernel, bool keep_assembly, struct made *made, struct error *e)
{
    const struct device *gpu = devices_gpu();
    return gpu ? compile_for_gpu(kernel, gpu, made, e) : compile_for_cpu(kernel, keep_assembly, made, e);
}

int job_compile(const struct proto_message *m, struct proto_writer *reply, struct error *e)
{
    const void *bytes;
    size_t size;
    bool keep_assembly = false;
    if (!proto_get_bytes(&m->params, "kernel", &bytes, &size)) return job_missing(e, m, "kernel");
    proto_get_bool(&m->params, "keep_assembly", &keep_assembly);
    if (job_read_gpu(m, e) != 0) return -1;
    struct ir_module *module = job_decode_module(bytes, size, "of the kernel", e);
    if (!module) return -1;
    struct made made = {0};
    const struct ir_function *kernel = ir_module_only_kernel(module);
    int result = kernel ? compile(kernel, keep_assembly, &made, e)
                        : error_set(e, FUSION_INVALID, "kernel", "the module does not hold exactly one kernel");
    if (result == 1)
        made = (struct made){.bytes = bytes,
                             .size = size,
                             .lanes = 1,
                             .effort = cpu_effort_name(CPU_EFFORT_NONE),
                             .assembly = "# too large for code\n"};
    if (result >= 0) {
        proto_begin_reply(reply, m->id);
        proto_pack_map(reply, 4);
        proto_pack_bytes(reply, "object", made.bytes, made.size);
        proto_pack_uint(reply, "lanes", made.lanes);
        proto_pack_string(reply, "effort", made.effort);
        proto_pack_string(reply, "assembly", made.assembly);
    }
    cpu_object_clear(&made.code);
    free(made.spirv);
    ir_module_free(module);
    return result < 0 ? -1 : 0;
}
