/* What has been computed already where the code is, of numbers over the lanes: so that what follows need not again. */
#pragma once

#include "fuser/cpu/jit/emit.h"

/* What was made of it, `detail` apart from what else is; NULL: nothing that counts here. */
void *computed_find(const struct emit *e, const void *of, uint64_t detail);
/* From here on, as far as the block that is being emitted goes. */
void computed_add(struct emit *e, const void *of, uint64_t detail, void *made);
