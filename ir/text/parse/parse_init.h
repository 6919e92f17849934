/* Initial values of variables. */
#pragma once

#include "ir/text/parse/parser.h"

bool parse_init(struct parser *p, struct ir_global *g);
/* Finds the variables whose addresses were read, once all are declared. */
bool parse_resolve_addresses(struct parser *p);
