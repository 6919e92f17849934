/*
 * The job compile of a compiler with a defect: it dies of kernels: of one whatever it does, of one whenever it makes
 * code, of others where it does not make it with care; or does not come to an end, or fails. A constant in the kernel
 * tells.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/compiler/job.h"
#include "ir/text/print/print.h"
#include "proto/fields.h"
#include "proto/frame.h"
#include "proto/writer.h"

int sound_job_compile(const struct proto_message *m, struct proto_writer *reply, struct error *e);

static bool holds(const struct proto_message *m, const char *text)
{
    const void *bytes;
    size_t size;
    if (!proto_get_bytes(&m->params, "kernel", &bytes, &size)) return false;
    struct ir_module *module = job_decode_module(bytes, size, "of the kernel", &(struct error){0});
    char *whole = ir_print(module);
    bool found = strstr(whole, text);
    free(whole);
    ir_module_free(module);
    return found;
}

int job_compile(const struct proto_message *m, struct proto_writer *reply, struct error *e)
{
    if (holds(m, "900001")) abort();
    if (job_care < JOB_NO_CODE && holds(m, "900005")) abort();
    if (job_care != JOB_ANY) return sound_job_compile(m, reply, e);
    if (holds(m, "900002")) abort();
    while (holds(m, "900003")) continue;
    if (holds(m, "900004")) return error_set(e, FUSION_COMPILER, "kernel", "internal compiler error");
    return sound_job_compile(m, reply, e);
}
