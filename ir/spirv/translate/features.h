/* Aspects that SPIR-V's functions and types name. */
#pragma once

#include "ir/spirv/decode/reader.h"

/* Gives functions and structs what producers say of them, and functions the aspects of types that their bodies named
   before they were translated. After all bodies. */
void spirv_read_features(struct spirv_reader *r);
