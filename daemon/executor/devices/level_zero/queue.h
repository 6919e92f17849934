/* The queue of the device. */
#pragma once

#include "daemon/executor/devices/level_zero/driver.h"

/* Command lists are recorded and run under this lock: those of launches are made by the thread that runs submissions,
   and freed by the one that answers the broker. */
void level_zero_lock(void);
void level_zero_unlock(void);

/* An open list: a new one, or *list where there is one. */
ze_result_t level_zero_begin(ze_command_list_handle_t *list);
/* Runs a closed one to its end. object is what errors are about. A lost device ends the process. */
int level_zero_submit(ze_command_list_handle_t list, const char *object, struct error *e);
/* Closes one that is open, where recording went well, runs it, and destroys it: NULL is fine. */
int level_zero_finish(ze_command_list_handle_t list, ze_result_t recorded, const char *object, struct error *e);
