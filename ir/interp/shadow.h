/* Memory for the run. */
#pragma once

#include "ir/interp/machine.h"

/* Zeroed, n * size bytes; NULL, with the machine stopped, when there is too little. */
void *interp_shadow(struct machine *m, uint64_t n, uint64_t size);
void interp_shadow_free(struct machine *m);
