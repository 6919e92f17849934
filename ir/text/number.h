/* Scalar constants as text and back, exactly. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/core/type.h"

enum { IR_NUMBER_TEXT = 40 };

/* The shortest text that gives the bits again: true, -7, 2.5; 0x and the bits where no decimal does. */
void ir_number_format(enum ir_kind kind, uint64_t bits, char text[IR_NUMBER_TEXT]);
/* text: a literal of n characters. NULL, or what is wrong with it (a phrase). Bits are zero-extended. */
const char *ir_number_parse(enum ir_kind kind, const char *text, size_t n, uint64_t *bits);
