/* Arguments and module-scope variables. */
#pragma once

#include "ir/interp/machine.h"

/* Makes them ready. False, with a finding, where they do not fit. */
bool interp_bind(struct machine *m);
void interp_bind_group(struct machine *m); /* local memory as a new group finds it */
