/*
 * Files about device images: the first byte says which. 0: a property file; 1: a file table; 2: a device configuration
 * file; 3: a bundle; 4: an object that came in one. What is read is written, and read again as the same.
 */
#include <string.h>

#include "fuser/ahead/load.h"
#include "fuser/cpu/object/check_object.h"
#include "fuser/features/bundle.h"
#include "fuser/features/device_config.h"
#include "fuser/features/file_table.h"
#include "fuser/features/property_set.h"
#include "ir/base/arena.h"
#include "tests/fuzz/fuzz.h"

static struct error error;

static void properties(const char *text)
{
    struct arena *a = arena_new();
    struct property_set s, again;
    if (property_set_read(&s, a, text, "input", &error) >= 0) {
        char *written = property_set_write(&s);
        fuzz_check(property_set_read(&again, a, written, "written", &error) == 1, "properties cannot be read again");
        char *twice = property_set_write(&again);
        fuzz_check(strcmp(written, twice) == 0, "properties are others when they are read again");
        free(twice);
        free(written);
    }
    arena_free(a);
}

static void table(const char *text)
{
    struct file_table t, again;
    file_table_init(&t);
    file_table_init(&again);
    if (file_table_read(&t, text, "input", &error) == 0) {
        char *written = file_table_write(&t);
        fuzz_check(file_table_read(&again, written, "written", &error) == 0, "a table cannot be read again");
        char *twice = file_table_write(&again);
        fuzz_check(strcmp(written, twice) == 0, "a table is another when it is read again");
        free(twice);
        free(written);
    }
    file_table_clear(&t);
    file_table_clear(&again);
}

static void devices(const char *text)
{
    struct device_config c;
    if (device_config_read(&c, text, strlen(text), "input", &error) != 0) return;
    for (size_t i = 0; i < c.targets.n; i++)
        fuzz_check(device_config_find(&c, c.targets.items[i].name) == &c.targets.items[i], "a device is not found");
    device_config_clear(&c);
}

static void bundle(const uint8_t *data, size_t size)
{
    struct bundle b;
    bundle_init(&b);
    if (bundle_read(&b, data, size, "input", &error) == 0) {
        size_t written_size;
        uint8_t *written = bundle_write(&b, &written_size);
        fuzz_check(written_size == size && memcmp(written, data, size) == 0, "a bundle is written as another");
        for (size_t i = 0; i < b.n_members; i++) {
            fuzz_check(bundle_find(&b, b.members[i].name) == &b.members[i], "a member is not found");
            const char *text = bundle_text(&b, b.members[i].name);
            fuzz_check(!text || strlen(text) == b.members[i].size, "a text is cut short");
        }
        free(written);
    }
    bundle_clear(&b);
    static const char *const targets[] = {"x86_64", "x86_64_sse4", "x86_64_avx2"};
    struct ahead_load l = {.targets = targets, .n_targets = 3};
    ir_module_free(ahead_load(&l, data, size, "input", &error));
    ahead_load_clear(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size) return 0;
    if (data[0] % 5 == 3) bundle(data + 1, size - 1);
    if (data[0] % 5 == 4) check_object(data + 1, size - 1);
    if (data[0] % 5 > 2) return 0;
    char *text = malloc(size);
    if (!text) return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    switch (data[0] % 5) {
    case 0: properties(text); break;
    case 1: table(text); break;
    default: devices(text); break;
    }
    free(text);
    return 0;
}
