/* Launches that run band by band: read and checked. */
#pragma once

#include <msgpack.h>

#include "daemon/executor/program/program_types.h"

/* Key `bands` of the program, where it has it; all else of it is there. False with the error. */
bool bands_read(const msgpack_object *map, struct program *p, struct error *e);
