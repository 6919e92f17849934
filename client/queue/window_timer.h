/* A thread that submits what a queue has gathered for too long. */
#pragma once

#include "client/session/state.h"

struct window_timer;

struct window_timer *window_timer_new(fusion_session *s); /* NULL: no memory, or no thread */
void window_timer_free(struct window_timer *t);           /* NULL is fine */
void window_timer_set(struct window_timer *t, uint64_t microseconds);
void window_timer_stop(struct window_timer *t);
