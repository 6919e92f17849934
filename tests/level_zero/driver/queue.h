/* Command queues: a thread each, which runs what is submitted in its order. */
#pragma once

#include <level_zero/ze_api.h>

struct command;

/* Of an immediate list: runs the command after all before it, and frees it. Waits for it where the queue is
 * synchronous. */
ze_result_t queue_run_now(ze_command_queue_handle_t queue, struct command *c);
