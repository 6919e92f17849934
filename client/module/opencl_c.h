/* Modules of OpenCL C. */
#pragma once

#include <fusiond/fusiond.h>
#include <stdbool.h>

/* By its name. */
bool client_is_opencl_c(const char *name);
