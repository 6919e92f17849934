/* Which waiting work-items go on past a barrier or an operation of a group. */
#pragma once

#include "ir/interp/machine.h"

/* Lets those go on that have come to the same one. False: none can. */
bool interp_pass_barrier(struct machine *m);
void interp_report_divergence(struct machine *m); /* says which wait for which */
