/* The queues of the device. */
#pragma once

#include "daemon/executor/devices/level_zero/driver.h"

/* Command lists are recorded and run under this lock: those of launches are made by the thread that runs submissions,
   and freed by the one that answers the broker. */
void level_zero_lock(void);
void level_zero_unlock(void);

/* An open list for a queue that computes: a new one, or *list where there is one. */
ze_result_t level_zero_begin(ze_command_list_handle_t *list);
/* Runs closed ones to their end at the same time, list i in queue i. object is what errors are about. A lost device
   ends the process. */
int level_zero_submit(ze_command_list_handle_t *lists, uint32_t n, const char *object, struct error *e);

/* A list of copies and fills alone: an open one, */
ze_result_t level_zero_begin_copies(ze_command_list_handle_t *list);
/* which is closed, where recording went well, run, and destroyed: NULL is fine. */
int level_zero_finish_copies(ze_command_list_handle_t list, ze_result_t recorded, const char *object, struct error *e);
