/* What a program says of itself when it is asked. */
#pragma once

#include <stdbool.h>

/* Whether --help or --version is all that it was given, which this answers. */
bool usage_is_asked(const char *program, const char *usage, int argc, char **argv);
