/* Steps of work-items together. */
#pragma once

#include "fuser/cpu/batch/frame.h"

void groups_step(struct run *run, const struct step *s);
