/* What a client may say about how its module is to be read. */
#pragma once

#include "daemon/compiler/job.h"
#include "ir/spirv/spirv.h"

enum { MODULE_MAX_CONSTANTS = 1024 };

struct module_options {
    uint32_t sub_group_size;       /* the default of functions without one; 0: none was given */
    struct ir_spirv_options spirv; /* values of specialization constants */
    uint32_t part;                 /* of a saved executable: which module */
};

/* From the parameters of the job. 0, or -1 with the error; clear it in both cases. */
int module_options_read(struct module_options *o, const struct proto_message *m, const char *object, struct error *e);
void module_options_clear(struct module_options *o);
