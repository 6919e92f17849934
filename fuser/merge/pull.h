/* Packets that a part takes where a loop of another part puts them: the loop goes on where one is taken. */
#pragma once

#include "fuser/merge/merge_state.h"

/* The part is the last one in the kernel so far. For each pipe that it takes packets of, as the request says. */
bool pull_packets(struct fuse *f, uint32_t part);
