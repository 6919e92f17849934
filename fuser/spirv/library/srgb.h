/* The tables of sRGB colours. */
#pragma once

#include "ir/core/ir.h"

/* Gives the library's variables @image_linear and @image_least the values that ir/image converts by. */
void library_fill_srgb(struct ir_module *library);
