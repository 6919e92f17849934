/* Commands, queues and what orders them, through the loader. */
#include <string.h>

#include "tests/level_zero/kit.h"

enum { N = 256 };
static struct kit kit;
static ze_module_handle_t module;

static void set_pointer(ze_kernel_handle_t kernel, uint32_t index, void *p)
{
    good(zeKernelSetArgumentValue(kernel, index, sizeof p, &p));
}

static void set_scale(ze_kernel_handle_t kernel, int *in, int factor, int *out)
{
    set_pointer(kernel, 0, in);
    good(zeKernelSetArgumentValue(kernel, 1, sizeof factor, &factor));
    set_pointer(kernel, 2, out);
}

static int *iota(void)
{
    int *data = kit_shared(&kit, N * sizeof *data);
    for (int i = 0; i < N; i++) data[i] = i;
    return data;
}

/* A launch keeps the arguments that it was appended with; a list may run again. */
static void arguments_are_those_of_the_append(void **state)
{
    (void)state;
    ze_kernel_handle_t kernel = kit_kernel(module, "scale");
    int *a = iota(), *b = iota(), *c = iota();
    good(zeKernelSetGroupSize(kernel, 64, 1, 1));
    ze_command_list_handle_t list = kit_list(&kit);
    set_scale(kernel, a, 3, b);
    kit_append(list, kernel, N / 64);
    good(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    set_scale(kernel, b, 5, c);
    kit_append(list, kernel, N / 64);
    set_scale(kernel, a, 0, a);
    kit_submit(&kit, list);
    good(zeCommandQueueSynchronize(kit.queue, UINT64_MAX));
    for (int i = 0; i < N; i++) assert_int_equal(c[i], 15 * i);
    a[7] = 100;
    good(zeCommandQueueExecuteCommandLists(kit.queue, 1, &list, NULL));
    good(zeCommandQueueSynchronize(kit.queue, UINT64_MAX));
    assert_int_equal(c[7], 1500);
    good(zeCommandListDestroy(list));
    kit_free(&kit, a);
    kit_free(&kit, b);
    kit_free(&kit, c);
    good(zeKernelDestroy(kernel));
}

/* What a list has of a kernel is its own. */
static void lists_outlive_kernels(void **state)
{
    (void)state;
    ze_module_handle_t own = kit_module(&kit, "kernels.spv");
    ze_kernel_handle_t kernel = kit_kernel(own, "scale");
    int *a = iota();
    good(zeKernelSetGroupSize(kernel, 64, 1, 1));
    ze_command_list_handle_t list = kit_list(&kit);
    set_scale(kernel, a, 3, a);
    kit_append(list, kernel, N / 64);
    good(zeCommandListClose(list));
    good(zeKernelDestroy(kernel));
    good(zeModuleDestroy(own));
    good(zeCommandListDestroy(list));
    kit_free(&kit, a);
}

static void memory_is_reached_through_a_block(void **state)
{
    (void)state;
    ze_kernel_handle_t kernel = kit_kernel(module, "add_block");
    int *a = iota(), *b = iota(), *out = iota();
    void **block = kit_shared(&kit, 3 * sizeof *block);
    block[0] = a, block[1] = b, block[2] = out;
    uint64_t address = (uintptr_t)block;
    good(zeKernelSetArgumentValue(kernel, 0, sizeof address, &address));
    good(zeKernelSetIndirectAccess(kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED));
    good(zeKernelSetGroupSize(kernel, 32, 1, 1));
    ze_command_list_handle_t list = kit_list(&kit);
    kit_append(list, kernel, N / 32);
    kit_run(&kit, list);
    for (int i = 0; i < N; i++) assert_int_equal(out[i], 2 * i);
    void *all[] = {a, b, out, block};
    for (int i = 0; i < 4; i++) kit_free(&kit, all[i]);
    good(zeKernelDestroy(kernel));
}

static void work_groups_have_memory_and_barriers(void **state)
{
    (void)state;
    ze_kernel_handle_t kernel = kit_kernel(module, "reverse");
    int *data = iota();
    set_pointer(kernel, 0, data);
    good(zeKernelSetArgumentValue(kernel, 1, 64 * sizeof *data, NULL));
    good(zeKernelSetGroupSize(kernel, 64, 1, 1));
    ze_command_list_handle_t list = kit_list(&kit);
    kit_append(list, kernel, N / 64);
    kit_run(&kit, list);
    for (int i = 0; i < N; i++) assert_int_equal(data[i], i / 64 * 64 + 63 - i % 64);
    kit_free(&kit, data);
    good(zeKernelDestroy(kernel));
}

static void values_of_all_kinds_arrive(void **state)
{
    (void)state;
    ze_kernel_handle_t kernel = kit_kernel(module, "values");
    const struct {
        int first;
        float second;
    } pair = {3, 0.5f};
    const float vector[4] = {1, 2, 3, 4};
    const double number = 0.1;
    double *out = kit_shared(&kit, 5 * sizeof *out);
    good(zeKernelSetArgumentValue(kernel, 0, sizeof pair, &pair));
    good(zeKernelSetArgumentValue(kernel, 1, 1, "x"));
    good(zeKernelSetArgumentValue(kernel, 2, sizeof number, &number));
    good(zeKernelSetArgumentValue(kernel, 3, sizeof vector, vector));
    set_pointer(kernel, 4, out);
    ze_command_list_handle_t list = kit_list(&kit);
    kit_append(list, kernel, 1);
    kit_run(&kit, list);
    const double expected[5] = {3, 0.5, 'x', 0.1, 4};
    assert_memory_equal(out, expected, sizeof expected);
    kit_free(&kit, out);
    good(zeKernelDestroy(kernel));
}

/* How many groups there are is read when the launch runs. */
static void indirect_launches_read_their_size_late(void **state)
{
    (void)state;
    ze_kernel_handle_t kernel = kit_kernel(module, "ids");
    uint32_t *out = kit_shared(&kit, 16 * 6 * sizeof *out);
    ze_group_count_t *groups = kit_shared(&kit, sizeof *groups);
    set_pointer(kernel, 0, out);
    ze_command_list_handle_t list = kit_list(&kit);
    good(zeCommandListAppendLaunchKernelIndirect(list, kernel, groups, NULL, 0, NULL));
    *groups = (ze_group_count_t){3, 2, 1};
    kit_run(&kit, list);
    for (uint32_t y = 0; y < 4; y++)
        for (uint32_t x = 0; x < 24; x++) assert_int_equal(out[y * 24 + x], (y % 2) << 16 | x / 8);
    kit_free(&kit, out);
    kit_free(&kit, groups);
    good(zeKernelDestroy(kernel));
}

static void wrong_lists_and_launches_are_refused(void **state)
{
    (void)state;
    ze_kernel_handle_t kernel = kit_kernel(module, "scale");
    int *a = iota(), own[N];
    ze_group_count_t one = {1, 1, 1};
    ze_command_list_handle_t list = kit_list(&kit), copies;
    fails(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    set_scale(kernel, own, 1, a); /* memory that is not the context's */
    fails(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    set_scale(kernel, a, 1, a);
    fails(zeCommandListAppendLaunchKernel(list, kernel, NULL, NULL, 0, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    fails(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 1, NULL), ZE_RESULT_ERROR_INVALID_SIZE);
    fails(zeCommandListAppendLaunchCooperativeKernel(list, kernel, &one, NULL, 0, NULL),
          ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    fails(zeCommandQueueExecuteCommandLists(kit.queue, 1, &list, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, .commandQueueGroupOrdinal = 1};
    good(zeCommandListCreate(kit.context, kit.device, &desc, &copies));
    fails(zeCommandListAppendLaunchKernel(copies, kernel, &one, NULL, 0, NULL),
          ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    good(zeCommandListClose(copies));
    fails(zeCommandQueueExecuteCommandLists(kit.queue, 1, &copies, NULL), ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    good(zeCommandListDestroy(copies));
    good(zeCommandListDestroy(list));
    kit_free(&kit, a);
    good(zeKernelDestroy(kernel));
}

static void copies_and_fills(void **state)
{
    (void)state;
    char *to = kit_shared(&kit, 64), from[64];
    for (int i = 0; i < 64; i++) from[i] = (char)i;
    ze_copy_region_t at = {.originX = 1, .originY = 2, .width = 3, .height = 2, .depth = 1},
                     whole = {.width = 3, .height = 2, .depth = 1};
    ze_command_list_handle_t list = kit_list(&kit);
    good(zeCommandListAppendMemoryFill(list, to, "ab", 2, 64, NULL, 0, NULL));
    good(zeCommandListAppendMemoryCopyRegion(list, to, &at, 8, 64, from, &whole, 16, 64, NULL, 0, NULL));
    good(zeCommandListAppendMemoryCopy(list, to + 60, from + 60, 4, NULL, 0, NULL));
    fails(zeCommandListAppendMemoryCopyRegion(list, to, &at, 8, 64, to, &at, 8, 64, NULL, 0, NULL),
          ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
    fails(zeCommandListAppendMemoryFill(list, to, "abc", 3, 64, NULL, 0, NULL), ZE_RESULT_ERROR_INVALID_SIZE);
    kit_run(&kit, list);
    char expected[64];
    for (int i = 0; i < 64; i++) expected[i] = i % 2 ? 'b' : 'a';
    for (int i = 0; i < 3; i++) expected[17 + i] = (char)i, expected[25 + i] = (char)(16 + i);
    memcpy(expected + 60, from + 60, 4);
    assert_memory_equal(to, expected, 64);
    kit_free(&kit, to);
}

/* Nothing runs before its events are signaled; all waits end in time. */
static void events_order_and_time(void **state)
{
    (void)state;
    ze_event_handle_t go = kit_event(&kit, 0), done = kit_event(&kit, 1);
    ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_fence_handle_t fence;
    good(zeFenceCreate(kit.queue, &desc, &fence));
    char *to = kit_shared(&kit, 8);
    memset(to, 0, 8);
    ze_command_list_handle_t list = kit_list(&kit);
    good(zeCommandListAppendMemoryFill(list, to, "a", 1, 8, done, 1, &go));
    good(zeCommandListClose(list));
    good(zeCommandQueueExecuteCommandLists(kit.queue, 1, &list, fence));
    fails(zeEventHostSynchronize(done, 1000000), ZE_RESULT_NOT_READY);
    fails(zeFenceHostSynchronize(fence, 0), ZE_RESULT_NOT_READY);
    fails(zeCommandQueueSynchronize(kit.queue, 1000), ZE_RESULT_NOT_READY);
    ze_kernel_timestamp_result_t time;
    fails(zeEventQueryKernelTimestamp(done, &time), ZE_RESULT_NOT_READY);
    assert_int_equal(to[0], 0);
    good(zeEventHostSignal(go));
    good(zeEventHostSynchronize(done, UINT64_MAX));
    good(zeFenceHostSynchronize(fence, UINT64_MAX));
    good(zeCommandQueueSynchronize(kit.queue, UINT64_MAX));
    assert_int_equal(to[7], 'a');
    good(zeEventQueryKernelTimestamp(done, &time));
    assert_true(time.global.kernelEnd >= time.global.kernelStart && time.global.kernelStart > 0);
    good(zeEventHostReset(done));
    fails(zeEventQueryStatus(done), ZE_RESULT_NOT_READY);
    good(zeFenceReset(fence));
    fails(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
    good(zeCommandListDestroy(list));
    good(zeFenceDestroy(fence));
    good(zeEventDestroy(go));
    good(zeEventDestroy(done));
    kit_free(&kit, to);
}

static void immediate_lists_run_at_once(void **state)
{
    (void)state;
    ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                    .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ze_command_list_handle_t list;
    good(zeCommandListCreateImmediate(kit.context, kit.device, &desc, &list));
    ze_kernel_handle_t kernel = kit_kernel(module, "scale");
    int *a = iota();
    good(zeKernelSetGroupSize(kernel, N, 1, 1));
    set_scale(kernel, a, -1, a);
    kit_append(list, kernel, 1);
    for (int i = 0; i < N; i++) assert_int_equal(a[i], -i);
    good(zeKernelDestroy(kernel));
    good(zeCommandListDestroy(list));
    kit_free(&kit, a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_those_of_the_append),
        cmocka_unit_test(lists_outlive_kernels),
        cmocka_unit_test(memory_is_reached_through_a_block),
        cmocka_unit_test(work_groups_have_memory_and_barriers),
        cmocka_unit_test(values_of_all_kinds_arrive),
        cmocka_unit_test(indirect_launches_read_their_size_late),
        cmocka_unit_test(wrong_lists_and_launches_are_refused),
        cmocka_unit_test(copies_and_fills),
        cmocka_unit_test(events_order_and_time),
        cmocka_unit_test(immediate_lists_run_at_once),
    };
    kit_start(&kit, argc > 1 ? argv[1] : ".");
    module = kit_module(&kit, "kernels.spv");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    good(zeModuleDestroy(module));
    kit_stop(&kit);
    return failed;
}
