/* Launches that do what they should where values are what they were when the graph was finalized, and those that run
   where they are not. */
#pragma once

#include <msgpack.h>

#include "daemon/executor/program/program_types.h"

/* A launch's conditions and spares, of a program whose values are known. False with the error. */
bool conditions_read(const msgpack_object *map, const struct program *p, struct program_launch *l, struct error *e);
/* All launches are there: marks the spares, and checks that they are nothing else, and that only they take slots that
   have memory for them alone. False with the error. */
bool conditions_check(struct program *p, struct error *e);
/* A list of conditions alone. False with the error. */
bool conditions_read_list(const msgpack_object_array *list, const struct program *p,
                          struct program_condition **conditions, uint32_t *n, struct error *e);
/* Those of values, which are by number. */
bool conditions_hold(const struct program *p, const struct program_condition *conditions, uint32_t n,
                     const uint8_t *const *values);
