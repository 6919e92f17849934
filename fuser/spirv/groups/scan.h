/* Scans: from one work-item to the next. */
#pragma once

#include "fuser/spirv/base/body.h"

struct spw_scan {
    uint32_t own, n; /* words: this work-item's number, and how many there are */
    uint32_t (*fetch)(struct spw *w, ir_type t, uint32_t x, uint32_t number); /* what another has */
};
/* On one scalar of the operand: its result. */
uint32_t spw_scanned(struct spw *w, const struct ir_inst *inst, ir_type t, uint32_t x, struct spw_scan s);
