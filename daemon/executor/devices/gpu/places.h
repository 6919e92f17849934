/* The memory that launches of a program use, by numbers: slots, then states. */
#pragma once

#include "daemon/executor/program/program.h"

uint32_t gpu_places(const struct program *p);
/* Of what a parameter points into; -1: into nothing of these. */
int64_t gpu_place(const struct program *p, const struct program_param *param);
/* Two launches, as the memory that they touch: must one of them be done before the other begins? */
bool gpu_meet(const struct program *p, const struct program_launch *a, const struct program_launch *b);
