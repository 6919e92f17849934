/* Addresses of lanes as 32-bit offsets from a place in the memory that they lead into, where that is small. */
#pragma once

#include "fuser/cpu/simd/lanes.h"

/* Of an `elem` whose result varies; NULL: what it leads into is not known, or no instruction would use it. */
const struct near_lanes *near_element(struct emit *e, const struct ir_inst *inst);
/* The same address `bytes` further on; near may be NULL. */
const struct near_lanes *near_plus(struct emit *e, const struct near_lanes *near, uint64_t bytes);
/* Where lanes access memory `offset` bytes behind an address that is not the same for all, as instructions take it that
   access lanes anywhere; offsets have 64 bits where nothing nearer is known. */
struct near_lanes near_places(struct emit *e, const struct lanes *address, uint64_t offset);
