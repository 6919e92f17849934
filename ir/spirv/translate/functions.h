/* The functions of a module: in come those that decoding listed, out go functions of ir with their bodies. */
#pragma once

#include "ir/spirv/decode/reader.h"

/* A function that cannot be read is refused; the others stay usable. */
void spirv_translate(struct spirv_reader *r);
