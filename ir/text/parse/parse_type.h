/* Types and the literals of numbers. */
#pragma once

#include "ir/text/parse/parser.h"

bool parse_starts_type(const struct token *t);
bool parse_type(struct parser *p, ir_type *t);
const char *parse_nearest_type(const struct token *t);    /* that was meant by another word; NULL: none */
const char *parse_type_name(struct parser *p, ir_type t); /* for messages */
/* A number or a vector of a number type; lanes has room for IR_MAX_LANES. */
bool parse_lanes(struct parser *p, ir_type t, uint64_t *lanes);
