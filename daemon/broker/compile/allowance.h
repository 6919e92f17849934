/*
 * How much compiling a user may have done before his jobs let others go first: a part of a processor for as long as he
 * likes, and more for a moment. It is processor time that counts, not how long a job was there. So who has stepped back
 * and gets nothing is soon within his allowance again: nobody starves.
 */
#pragma once

#include <stdint.h>

#include "daemon/broker/core/user.h"

/* Its jobs have used so much more. */
void allowance_use(struct user *user, uint64_t used_ns, uint64_t now_ns);
/* Has it used more than it may, as of now? Less than half, once it has: nobody steps to and fro all the time. */
bool allowance_exceeded(struct user *user, uint64_t now_ns);
