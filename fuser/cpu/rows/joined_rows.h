/* Rows of a work-group that run as one, for a kernel that is checked and may become more code. */
#pragma once

#include "fuser/passes/pass.h"

extern const struct pass pass_joined_rows;
