/*
 * Memory of the session as kernels reach it: where it is, if the device reaches all memory of the process; else a copy
 * of the device's own, which commands fill before kernels run and give back afterwards.
 */
#pragma once

#include "daemon/executor/devices/gpu/transfers.h"
#include "daemon/executor/devices/level_zero/driver.h"

gpu_share level_zero_share;
/* Where kernels find it. */
uint64_t level_zero_shared_address(const struct gpu_shared *shared);
/* Appends the copy of what is moved of memory that is used, to the device or back. */
ze_result_t level_zero_record_move(const struct gpu_used *used, ze_command_list_handle_t list, bool back);
/* Between the device's own memories. */
gpu_transferer level_zero_transfer;
