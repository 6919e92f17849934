/* What expansions are written with, besides ir/formula/notation.h: `w` is who writes, `kind` what is computed in. */
#pragma once

#include "fuser/spirv/numbers/native.h"
#include "ir/formula/notation.h"

#define K(v) f->number(f, kind, (uint64_t)(v))
#define AS_BITS(v) BITS(spw_int_kind((v).kind), v)
