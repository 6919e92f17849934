/* The printer's part for what stands everywhere: types, strings, names and locations. */
#pragma once

#include "ir/text/print/printer.h"

void print_type(struct printer *p, ir_type t);
void print_string(struct printer *p, const char *s);
/* A string, or none for 0. */
void print_file(struct printer *p, uint32_t file);
/* It would get no mark: locations are not told, or it is where the last instruction was. */
bool print_is_here(const struct printer *p, struct ir_loc loc);
/* The mark behind an instruction whose place differs from that of the one before. */
void print_loc(struct printer *p, struct ir_loc loc);
void print_name(struct printer *p, const struct ir_value *v);
