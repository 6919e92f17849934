/* Aspects, and the other sets of names that functions have. Each: false after an error, which is reported. */
#pragma once

#include "ir/text/parse/parser.h"

/* "(fp16, fp64)", added to the set: names known everywhere, or numbered in the module above. */
bool parse_aspects(struct parser *p, uint64_t *set);
bool parse_assumptions(struct parser *p, struct ir_function *f);
bool parse_targets(struct parser *p, struct ir_function *f);
bool parse_compiled(struct parser *p, struct ir_function *f);
/* "aspects { name = number, ... }", from the word on. */
bool parse_aspect_numbers(struct parser *p);
