/* Which ways lead through the producer for the ids of a box. */
#pragma once

#include "fuser/access/sites.h"

/* f gives what is in the variable that is its first instruction; its last three parameters are ids. Ifs that go one way
   for all ids of the box, integers being what they are taken to be, are decided. False: that the variable is always
   stored to is not proved. */
bool recompute_decide_ways(struct ir_function *f, const struct access_items *box, const int64_t *numbers);
