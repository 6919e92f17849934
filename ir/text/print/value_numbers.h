/* Numbers of a function's values that have no name. */
#pragma once

#include "ir/text/print/printer.h"

/* Numbers the values of a function; those of the function before are forgotten. */
void print_number_function(struct printer *p, const struct ir_function *f);
/* False: the value has none. */
bool print_number_of(const struct printer *p, const struct ir_value *v, uint32_t *number);
void print_forget_numbers(struct printer *p);
