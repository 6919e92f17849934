/* The queue of the device. */
#include "daemon/executor/devices/level_zero/queue.h"

#include <pthread.h>

#include "daemon/executor/devices/gpu/lost.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void level_zero_lock(void)
{
    pthread_mutex_lock(&lock);
}

void level_zero_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

ze_result_t level_zero_begin(ze_command_list_handle_t *list)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                         .commandQueueGroupOrdinal = level_zero.ordinal};
    return *list ? ze.CommandListReset(*list)
                 : ze.CommandListCreate(level_zero.context, level_zero.device, &desc, list);
}

int level_zero_submit(ze_command_list_handle_t list, const char *object, struct error *e)
{
    ze_result_t result = ze.CommandQueueExecuteCommandLists(level_zero.queue, 1, &list, NULL);
    if (result == ZE_RESULT_SUCCESS) result = ze.CommandQueueSynchronize(level_zero.queue, UINT64_MAX);
    if (result == ZE_RESULT_ERROR_DEVICE_LOST) gpu_lost("level_zero", level_zero.description.name, object);
    return result == ZE_RESULT_SUCCESS ? 0 : level_zero_fail(e, object, "running it failed", result);
}

int level_zero_finish(ze_command_list_handle_t list, ze_result_t recorded, const char *object, struct error *e)
{
    if (recorded == ZE_RESULT_SUCCESS) recorded = ze.CommandListClose(list);
    int code = recorded == ZE_RESULT_SUCCESS ? level_zero_submit(list, object, e)
                                             : level_zero_fail(e, object, "its commands cannot be recorded", recorded);
    if (list) ze.CommandListDestroy(list);
    return code;
}
