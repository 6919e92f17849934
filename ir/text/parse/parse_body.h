/* Bodies of functions. */
#pragma once

#include "ir/text/parse/parser.h"

bool parse_body(struct parser *p);
