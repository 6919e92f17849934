/* fusion-inspect compile --targets: modules compiled ahead of time, into a bundle; and what is in one. Need no service.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Whether the arguments of `compile` ask for that. */
bool ahead_is_asked(int argc, char **argv);
int ahead_command(int argc, char **argv);
void ahead_usage(FILE *out);

int bundle_command(int argc, char **argv);
