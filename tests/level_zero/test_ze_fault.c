/* A kernel that reaches for memory that it was not given: the device is lost, the program goes on. */
#include "tests/level_zero/kit.h"

static struct kit kit;

static void run_on(uint64_t block, ze_result_t expected)
{
    ze_module_handle_t module = kit_module(&kit, "kernels.spv");
    ze_kernel_handle_t kernel = kit_kernel(module, "add_block");
    good(zeKernelSetArgumentValue(kernel, 0, sizeof block, &block));
    ze_command_list_handle_t list = kit_list(&kit);
    kit_append(list, kernel, 1);
    kit_submit(&kit, list);
    assert_int_equal(zeCommandQueueSynchronize(kit.queue, UINT64_MAX), expected);
    good(zeCommandListDestroy(list));
    good(zeKernelDestroy(kernel));
    good(zeModuleDestroy(module));
}

static void memory_of_the_host_is_no_kernels(void **state)
{
    (void)state;
    int own = 0;
    void **block = kit_shared(&kit, 3 * sizeof *block);
    for (int i = 0; i < 3; i++) block[i] = block;
    run_on((uintptr_t)block, ZE_RESULT_SUCCESS);
    for (int i = 0; i < 3; i++) block[i] = &own;
    run_on((uintptr_t)block, ZE_RESULT_ERROR_DEVICE_LOST);
    assert_int_equal(own, 0);
    fails(zeDeviceGetStatus(kit.device), ZE_RESULT_ERROR_DEVICE_LOST);
    kit_free(&kit, block);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_of_the_host_is_no_kernels)};
    kit_start(&kit, argc > 1 ? argv[1] : ".");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kit_stop(&kit);
    return failed;
}
