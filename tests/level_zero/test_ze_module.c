/* Modules and kernels, through the loader. */
#include <stdlib.h>
#include <string.h>

#include "tests/level_zero/kit.h"

static struct kit kit;

static ze_result_t create(const uint8_t *bytes, size_t size, ze_module_format_t format,
                          const ze_module_constants_t *constants, ze_module_handle_t *module,
                          ze_module_build_log_handle_t *log)
{
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                             .format = format,
                             .inputSize = size,
                             .pInputModule = bytes,
                             .pConstants = constants};
    return zeModuleCreate(kit.context, kit.device, &desc, module, log);
}

static void a_module_names_its_kernels(void **state)
{
    (void)state;
    ze_module_handle_t module = kit_module(&kit, "kernels.spv");
    uint32_t n = 0;
    good(zeModuleGetKernelNames(module, &n, NULL));
    assert_int_equal(n, 5);
    const char *names[5];
    good(zeModuleGetKernelNames(module, &n, names));
    assert_string_equal(names[0], "scale");
    ze_module_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES};
    good(zeModuleGetProperties(module, &properties));
    assert_int_equal(properties.flags, 0);
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "nobody"};
    ze_kernel_handle_t kernel;
    fails(zeKernelCreate(module, &desc, &kernel), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    good(zeModuleDestroy(module));
}

static void what_is_no_module_is_refused_with_a_log(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = kit_read(&kit, "kernels.spv", &size);
    ze_module_handle_t module;
    ze_module_build_log_handle_t log;
    fails(create(bytes, size / 2 & ~(size_t)3, ZE_MODULE_FORMAT_IL_SPIRV, NULL, &module, &log),
          ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    size_t length = 0;
    good(zeModuleBuildLogGetString(log, &length, NULL));
    char *text = malloc(length);
    good(zeModuleBuildLogGetString(log, &length, text));
    assert_non_null(strstr(text, "error"));
    good(zeModuleBuildLogDestroy(log));
    free(text);
    free(bytes);
}

static void kernels_tell_what_they_require(void **state)
{
    (void)state;
    ze_module_handle_t module = kit_module(&kit, "kernels.spv");
    ze_kernel_handle_t ids = kit_kernel(module, "ids"), values = kit_kernel(module, "values");
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    good(zeKernelGetProperties(ids, &properties));
    assert_int_equal(properties.numKernelArgs, 1);
    assert_int_equal(properties.requiredGroupSizeX, 8);
    assert_int_equal(properties.requiredGroupSizeY, 2);
    assert_int_equal(properties.requiredGroupSizeZ, 1);
    fails(zeKernelSetGroupSize(ids, 16, 1, 1), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    good(zeKernelSetGroupSize(ids, 8, 2, 1));
    fails(zeKernelSetGroupSize(values, 0, 1, 1), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    fails(zeKernelSetGroupSize(values, 1 << 16, 1 << 16, 1), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    uint32_t x, y, z;
    good(zeKernelSuggestGroupSize(values, 1000, 3, 1, &x, &y, &z));
    assert_true(1000 % x == 0 && 3 % y == 0 && z == 1);
    char name[8];
    size_t size = sizeof name;
    good(zeKernelGetName(values, &size, name));
    assert_string_equal(name, "values");
    good(zeKernelDestroy(ids));
    good(zeKernelDestroy(values));
    good(zeModuleDestroy(module));
}

static void arguments_have_an_index_and_a_size(void **state)
{
    (void)state;
    ze_module_handle_t module = kit_module(&kit, "kernels.spv");
    ze_kernel_handle_t values = kit_kernel(module, "values"), reverse = kit_kernel(module, "reverse");
    const struct {
        int first;
        float second;
    } pair = {3, 0.5f};
    good(zeKernelSetArgumentValue(values, 0, 8, &pair));
    good(zeKernelSetArgumentValue(values, 1, 1, "x"));
    fails(zeKernelSetArgumentValue(values, 1, 4, &pair), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    fails(zeKernelSetArgumentValue(values, 3, 8, &pair), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    fails(zeKernelSetArgumentValue(values, 5, 8, &pair), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    good(zeKernelSetArgumentValue(values, 4, 8, NULL)); /* a null pointer */
    good(zeKernelSetArgumentValue(reverse, 1, 256, NULL));
    fails(zeKernelSetArgumentValue(reverse, 1, 0, NULL), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    good(zeKernelDestroy(values));
    good(zeKernelDestroy(reverse));
    good(zeModuleDestroy(module));
}

static uint32_t run_store(ze_module_handle_t module)
{
    ze_kernel_handle_t kernel = kit_kernel(module, "store");
    uint32_t *out = kit_shared(&kit, sizeof *out), value;
    good(zeKernelSetArgumentValue(kernel, 0, sizeof out, &out));
    ze_command_list_handle_t list = kit_list(&kit);
    kit_append(list, kernel, 1);
    kit_run(&kit, list);
    value = *out;
    kit_free(&kit, out);
    good(zeKernelDestroy(kernel));
    good(zeModuleDestroy(module));
    return value;
}

/* Also in the native binary, which is loaded again as it was. */
static void constants_are_specialized(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = kit_read(&kit, "constant.spv", &size);
    uint32_t id = 7, value = 40;
    const void *values[] = {&value};
    ze_module_constants_t constants = {1, &id, values};
    ze_module_handle_t module;
    good(create(bytes, size, ZE_MODULE_FORMAT_IL_SPIRV, NULL, &module, NULL));
    assert_int_equal(run_store(module), 1);
    good(create(bytes, size, ZE_MODULE_FORMAT_IL_SPIRV, &constants, &module, NULL));
    size_t native_size = 0;
    good(zeModuleGetNativeBinary(module, &native_size, NULL));
    uint8_t *native = malloc(native_size);
    good(zeModuleGetNativeBinary(module, &native_size, native));
    assert_int_equal(run_store(module), 40);
    good(create(native, native_size, ZE_MODULE_FORMAT_NATIVE, NULL, &module, NULL));
    assert_int_equal(run_store(module), 40);
    native[native_size - 1] ^= 1;
    fails(create(native, native_size, ZE_MODULE_FORMAT_NATIVE, NULL, &module, NULL),
          ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    free(native);
    free(bytes);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_module_names_its_kernels),     cmocka_unit_test(what_is_no_module_is_refused_with_a_log),
        cmocka_unit_test(kernels_tell_what_they_require), cmocka_unit_test(arguments_have_an_index_and_a_size),
        cmocka_unit_test(constants_are_specialized),
    };
    kit_start(&kit, argc > 1 ? argv[1] : ".");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kit_stop(&kit);
    return failed;
}
