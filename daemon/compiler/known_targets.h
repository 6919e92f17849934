/* Targets that code may be fixed to, as far as this machine knows them. */
#pragma once

#include "ir/features/targets.h"

/* Those that come with fusiond, and the devices. Found out when it is first asked for, in each job's process. */
const struct ir_targets *known_targets(void);
