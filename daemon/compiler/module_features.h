/* What a reply tells of the optional features of a module: what kernels require, which device images they would be in,
   and what there is to be warned of, of its pipes too. */
#pragma once

#include "ir/core/ir.h"
#include "proto/writer.h"

/* What a module was made of: its parts, or itself alone. */
struct module_units {
    const struct ir_module *const *modules;
    uint32_t n;
};

struct module_features *module_features_new(struct ir_module *module, struct module_units units);
void module_features_free(struct module_features *m);
/* The keys aspects, targets and image of a kernel's map. */
void module_features_pack(struct module_features *m, struct proto_writer *w, const struct ir_function *f);
/* The key warnings. */
void module_features_pack_warnings(struct module_features *m, struct proto_writer *w);
