/* Images. */
#pragma once

#include "ir/interp/machine.h"

bool interp_image_bind(struct machine *m, const struct interp_arg *arg, uint32_t param, uint64_t *handle,
                       const char **why);
/* False: not an instruction of images. */
bool interp_image_exec(struct machine *m, struct item *item, const struct code_inst *at, uint64_t *r);
void interp_image_block_exec(struct machine *m, struct item *item);
