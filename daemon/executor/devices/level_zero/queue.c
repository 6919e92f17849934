/* The queues of the device. */
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

static ze_result_t open_list(uint32_t ordinal, ze_command_list_handle_t *list)
{
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
                                         .commandQueueGroupOrdinal = ordinal};
    return ze.CommandListCreate(level_zero.context, level_zero.device, &desc, list);
}

ze_result_t level_zero_begin(ze_command_list_handle_t *list)
{
    return *list ? ze.CommandListReset(*list) : open_list(level_zero.ordinal, list);
}

/* All that was begun is waited for, whatever became of the others. */
static ze_result_t run(const ze_command_queue_handle_t *queues, ze_command_list_handle_t *lists, uint32_t n)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t begun = 0;
    for (; begun < n && result == ZE_RESULT_SUCCESS; begun++)
        result = ze.CommandQueueExecuteCommandLists(queues[begun], 1, &lists[begun], NULL);
    for (uint32_t i = 0; i < begun; i++) {
        ze_result_t ended = ze.CommandQueueSynchronize(queues[i], UINT64_MAX);
        if (result == ZE_RESULT_SUCCESS || ended == ZE_RESULT_ERROR_DEVICE_LOST) result = ended;
    }
    return result;
}

static int check(ze_result_t result, const char *object, struct error *e)
{
    if (result == ZE_RESULT_ERROR_DEVICE_LOST) gpu_lost("level_zero", level_zero.description.name, object);
    return result == ZE_RESULT_SUCCESS ? 0 : level_zero_fail(e, object, "running it failed", result);
}

int level_zero_submit(ze_command_list_handle_t *lists, uint32_t n, const char *object, struct error *e)
{
    return check(run(level_zero.queues, lists, n), object, e);
}

ze_result_t level_zero_begin_copies(ze_command_list_handle_t *list)
{
    return open_list(level_zero.copy_ordinal, list);
}

int level_zero_finish_copies(ze_command_list_handle_t list, ze_result_t recorded, const char *object, struct error *e)
{
    if (recorded == ZE_RESULT_SUCCESS) recorded = ze.CommandListClose(list);
    int code = recorded == ZE_RESULT_SUCCESS ? check(run(&level_zero.copies, &list, 1), object, e)
                                             : level_zero_fail(e, object, "its commands cannot be recorded", recorded);
    if (list) ze.CommandListDestroy(list);
    return code;
}
