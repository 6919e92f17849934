/* Steps that go from work-item to work-item. */
#pragma once

#include "fuser/cpu/batch/frame.h"

void items_step(struct run *run, const struct step *s);
