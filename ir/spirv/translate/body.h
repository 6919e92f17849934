/* A function's body. */
#pragma once

#include "ir/spirv/translate/values/body.h"

/* The table that the bodies of a module share. */
struct spirv_binding *spirv_bindings_new(struct spirv_reader *r);
/* Translates the function's blocks into f->ir. */
void spirv_read_body(struct spirv_reader *r, const struct cfg_ids *ids, struct spirv_binding *bindings,
                     struct spirv_function *f);
