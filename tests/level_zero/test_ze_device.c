/* Driver, device and memory, through the loader. */
#include <sys/mman.h>
#include <unistd.h>

#include "tests/level_zero/kit.h"

static struct kit kit;

static void counts_and_handles(void **state)
{
    (void)state;
    uint32_t n = 0;
    good(zeDriverGet(&n, NULL));
    assert_int_equal(n, 1);
    n = 5; /* more than there are */
    ze_device_handle_t devices[5] = {0};
    good(zeDeviceGet(kit.driver, &n, devices));
    assert_int_equal(n, 1);
    assert_ptr_equal(devices[0], kit.device);
    fails(zeDeviceGet(kit.driver, NULL, NULL), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    fails(zeDeviceGet(NULL, &n, NULL), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    n = 0;
    good(zeDeviceGetSubDevices(kit.device, &n, NULL));
    assert_int_equal(n, 0);
}

static void properties_are_filled_in(void **state)
{
    (void)state;
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    good(zeDeviceGetProperties(kit.device, &device));
    assert_int_equal(device.stype, ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
    assert_int_equal(device.type, ZE_DEVICE_TYPE_GPU);
    assert_true(device.maxMemAllocSize > 1 << 20);
    assert_int_equal(device.timerResolution, 1);
    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    good(zeDeviceGetComputeProperties(kit.device, &compute));
    assert_true(compute.maxTotalGroupSize >= 256);
    assert_true(compute.numSubGroupSizes >= 1);
    ze_device_module_properties_t module = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    good(zeDeviceGetModuleProperties(kit.device, &module));
    assert_true(module.spirvVersionSupported >= ZE_MAKE_VERSION(1, 0));
    uint32_t n = 0;
    good(zeDeviceGetCommandQueueGroupProperties(kit.device, &n, NULL));
    assert_int_equal(n, 2);
    ze_command_queue_group_properties_t groups[2] = {{.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES},
                                                     {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES}};
    good(zeDeviceGetCommandQueueGroupProperties(kit.device, &n, groups));
    assert_true(groups[0].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE);
    assert_false(groups[1].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE);
    assert_int_equal(zeDeviceGetStatus(kit.device), ZE_RESULT_SUCCESS);
}

static void what_is_not_there_is_said_to_be_unsupported(void **state)
{
    (void)state;
    ze_sampler_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC};
    ze_sampler_handle_t sampler;
    fails(zeSamplerCreate(kit.context, kit.device, &desc, &sampler), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

static void memory_knows_where_it_begins(void **state)
{
    (void)state;
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *p, *base;
    size_t size;
    good(zeMemAllocDevice(kit.context, &desc, 1000, 1 << 16, kit.device, &p));
    assert_int_equal((uintptr_t)p % (1 << 16), 0);
    good(zeMemGetAddressRange(kit.context, (char *)p + 999, &base, &size));
    assert_ptr_equal(base, p);
    assert_int_equal(size, 1000);
    ze_memory_allocation_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t device = NULL;
    good(zeMemGetAllocProperties(kit.context, p, &properties, &device));
    assert_int_equal(properties.type, ZE_MEMORY_TYPE_DEVICE);
    assert_ptr_equal(device, kit.device);
    int own;
    good(zeMemGetAllocProperties(kit.context, &own, &properties, &device));
    assert_int_equal(properties.type, ZE_MEMORY_TYPE_UNKNOWN);
    fails(zeMemFree(kit.context, (char *)p + 8), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    good(zeMemFree(kit.context, p));
}

static void wrong_sizes_are_refused(void **state)
{
    (void)state;
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    void *p;
    good(zeDeviceGetProperties(kit.device, &device));
    fails(zeMemAllocDevice(kit.context, &desc, 0, 0, kit.device, &p), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    fails(zeMemAllocDevice(kit.context, &desc, device.maxMemAllocSize + 1, 0, kit.device, &p),
          ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    fails(zeMemAllocDevice(kit.context, &desc, 64, 3, kit.device, &p), ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
}

static void files_become_memory(void **state)
{
    (void)state;
    int file = memfd_create("imported", 0);
    assert_int_equal(ftruncate(file, 4096), 0);
    assert_int_equal(pwrite(file, "before", 7, 0), 7);
    ze_external_memory_import_fd_t import = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD,
                                             .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD,
                                             .fd = file};
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, .pNext = &import};
    void *p;
    good(zeMemAllocDevice(kit.context, &desc, 4096, 0, kit.device, &p));
    char text[8] = "";
    ze_command_list_handle_t list = kit_list(&kit);
    good(zeCommandListAppendMemoryCopy(list, text, p, 7, NULL, 0, NULL));
    good(zeCommandListAppendMemoryCopy(list, p, "behind", 7, NULL, 0, NULL));
    kit_run(&kit, list);
    assert_string_equal(text, "before");
    assert_int_equal(pread(file, text, 7, 0), 7);
    assert_string_equal(text, "behind");
    good(zeMemFree(kit.context, p));
    import.flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
    fails(zeMemAllocDevice(kit.context, &desc, 4096, 0, kit.device, &p), ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
    close(file);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_handles),
        cmocka_unit_test(properties_are_filled_in),
        cmocka_unit_test(what_is_not_there_is_said_to_be_unsupported),
        cmocka_unit_test(memory_knows_where_it_begins),
        cmocka_unit_test(wrong_sizes_are_refused),
        cmocka_unit_test(files_become_memory),
    };
    kit_start(&kit, argc > 1 ? argv[1] : ".");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kit_stop(&kit);
    return failed;
}
