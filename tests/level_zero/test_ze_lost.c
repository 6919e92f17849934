/* A device that is lost while it works: everything ends with that error, nothing waits for ever. */
#include <stdlib.h>

#include "tests/level_zero/kit.h"

static struct kit kit;

static void all_waits_end(void **state)
{
    (void)state;
    ze_module_handle_t module = kit_module(&kit, "kernels.spv");
    ze_kernel_handle_t kernel = kit_kernel(module, "scale");
    int *data = kit_shared(&kit, sizeof *data), factor = 2;
    *data = 1;
    good(zeKernelSetArgumentValue(kernel, 0, sizeof data, &data));
    good(zeKernelSetArgumentValue(kernel, 1, sizeof factor, &factor));
    good(zeKernelSetArgumentValue(kernel, 2, sizeof data, &data));
    ze_event_handle_t done = kit_event(&kit, 0);
    ze_command_list_handle_t list = kit_list(&kit);
    ze_group_count_t one = {1, 1, 1};
    for (int i = 0; i < 4; i++)
        good(zeCommandListAppendLaunchKernel(list, kernel, &one, i == 3 ? done : NULL, 0, NULL));
    kit_submit(&kit, list);
    fails(zeCommandQueueSynchronize(kit.queue, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    fails(zeEventHostSynchronize(done, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    assert_int_equal(*data, 8); /* the fourth launch did not run */
    fails(zeCommandQueueExecuteCommandLists(kit.queue, 1, &list, NULL), ZE_RESULT_ERROR_DEVICE_LOST);
    fails(zeDeviceGetStatus(kit.device), ZE_RESULT_ERROR_DEVICE_LOST);
    fails(zeContextGetStatus(kit.context), ZE_RESULT_ERROR_DEVICE_LOST);
    /* What is left can be given back. */
    good(zeCommandListDestroy(list));
    good(zeEventDestroy(done));
    good(zeKernelDestroy(kernel));
    good(zeModuleDestroy(module));
    kit_free(&kit, data);
}

int main(int argc, char **argv)
{
    setenv("FUSIOND_TEST_ZE_LOST_AFTER", "3", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_waits_end)};
    kit_start(&kit, argc > 1 ? argv[1] : ".");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kit_stop(&kit);
    return failed;
}
