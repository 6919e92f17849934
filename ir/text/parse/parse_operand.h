/* Values: names, their scope, constants. */
#pragma once

#include "ir/text/parse/parser.h"

bool parse_starts_operand(const struct token *t);
/* expected: the type of a literal that carries none; IR_VOID: it must carry one. */
bool parse_operand(struct parser *p, ir_type expected, struct ir_value **v);
/* value NULL: its definition failed. */
bool parse_define(struct parser *p, const struct token *name, struct ir_value *value);
void parse_hide(struct parser *p, size_t n_visible); /* at the end of a block */
