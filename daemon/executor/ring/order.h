/*
 * Which submissions run one after another, in the order in which they came, and which may run beside each other: those
 * of which nobody can tell, but by what waits for pipes.
 */
#pragma once

struct submission;

enum order {
    ORDER_NONE,  /* they may run beside each other */
    ORDER_POLLS, /* one sees by what it does without waiting how far the other is in a pipe: after the first, unless
                    that waits for the second */
    ORDER_AFTER
};

/* The places of both are known. */
enum order order_of(const struct submission *first, const struct submission *second);
