/* Kernels as a reply describes them. */
#pragma once

#include "client/module/state.h"
#include "proto/fields.h"

/* Fills in the module's kernels. Where memory is out, the module's pool has failed. */
void client_module_read_kernels(fusion_module *m, const msgpack_object *reply);
/* What the compiler of its source said comes first. Where memory is out, it is lost. */
void client_module_add_warning(fusion_module *m, const char *text);
