/*
 * What several threads see: one lock and one condition for the whole device. Events, fences, queues and the loss of the
 * device change under it, and whoever waits for any of them looks again after each change.
 */
#pragma once

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stdint.h>

void state_lock(void);
void state_unlock(void); /* wakes those who wait */

/* Waits until is_so(of), which is asked under the lock. Not under the lock: ZE_RESULT_NOT_READY after so many
 * nanoseconds, UINT64_MAX being never; ZE_RESULT_ERROR_DEVICE_LOST. */
ze_result_t state_await(bool (*is_so)(const void *of), const void *of, uint64_t nanoseconds);

/* The device is lost from now on, for the rest of the process. */
void state_lose_device(void);
bool state_device_is_lost(void);

uint64_t state_nanoseconds(void); /* the device's clock, which is the host's */
