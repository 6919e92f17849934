/*
 * Warnings about optional features, in the words of seed 004: a use of what is not declared, and a use that a target to
 * which the function is fixed does not have. They are findings of no module's text, but lines to be shown.
 */
#pragma once

#include "ir/features/targets.h"
#include "ir/features/usage.h"

/* Functions, defined here, that use an aspect that is not among those that they declare. Calls `warn` for each with a
   text of several lines, until it returns false. */
typedef bool ir_warn(void *data, const char *text);
void ir_warn_undeclared(struct ir_usage *u, ir_warn *warn, void *data);
/* Functions with fixed targets that use or declare what one of them lacks, sizes included. Targets that are not among
   those known are told, too. */
void ir_warn_targets(struct ir_usage *u, const struct ir_targets *known, ir_warn *warn, void *data);
