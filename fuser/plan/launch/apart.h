/*
 * Buffers that several groups use, each for itself: a loop of steps has one buffer for what is new in each of them, and
 * writes it again before it reads it. No value flows from group to group then, and each may keep it where it likes.
 */
#pragma once

#include "fuser/plan/launch/attempt.h"

void apart_find(struct launching *l, const struct plan_groups *groups, struct apart_buffers *out);
/* Those that some launch of the plan has in memory are so no more: whether there are any. */
bool apart_drop_kept(struct apart_buffers *apart, const struct fuser_plan *plan);
/* Adds the conditions to those of a launch that keeps such a buffer out of memory. */
void apart_add_conditions(struct launching *l, struct attempt *r);
