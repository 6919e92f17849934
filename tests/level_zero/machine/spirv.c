/* Reads the declarations of a module. Types are sized as the OpenCL environment sizes them. */
#include "tests/level_zero/machine/spirv.h"

#include <spirv-tools/libspirv.h>
#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_WORDS = 5, BOUND_WORD = 3, POINTER_BYTES = 8 };

/* What is known of an id. */
struct fact {
    enum spirv_parameter_kind kind; /* of a type */
    uint32_t size, align;
    uint32_t type;      /* of a constant: its type; of a function: its function type */
    uint32_t value;     /* of a constant */
    uint32_t by_value;  /* of a pointer to memory of the function: bytes; as a parameter, they are the argument */
    const uint32_t *at; /* a function type's instruction */
    bool packed, imported;
};

struct reader {
    struct spirv_module *module;
    struct fact *facts;
    uint32_t bound;
};

static struct fact *fact(struct reader *r, uint32_t id)
{
    return &r->facts[id < r->bound ? id : 0];
}

static void set_type(struct reader *r, uint32_t id, enum spirv_parameter_kind kind, uint32_t size, uint32_t align)
{
    struct fact *f = fact(r, id);
    f->kind = kind;
    f->size = size;
    f->align = align ? align : 1;
}

static uint32_t round_up(uint32_t n, uint32_t to)
{
    return (n + to - 1) / to * to;
}

static void read_struct(struct reader *r, const uint32_t *w, uint32_t n)
{
    uint32_t size = 0, align = 1;
    bool packed = fact(r, w[1])->packed;
    for (uint32_t i = 2; i < n; i++) {
        const struct fact *member = fact(r, w[i]);
        uint32_t member_align = packed || !member->align ? 1 : member->align;
        if (member_align > align) align = member_align;
        size = round_up(size, member_align) + member->size;
    }
    set_type(r, w[1], SPIRV_VALUE, round_up(size, align), align);
}

static void read_pointer(struct reader *r, const uint32_t *w)
{
    bool global = w[2] == SpvStorageClassCrossWorkgroup || w[2] == SpvStorageClassUniformConstant;
    enum spirv_parameter_kind kind = global                             ? SPIRV_GLOBAL_POINTER
                                     : w[2] == SpvStorageClassWorkgroup ? SPIRV_LOCAL_POINTER
                                                                        : SPIRV_VALUE;
    set_type(r, w[1], kind, POINTER_BYTES, POINTER_BYTES);
    if (w[2] == SpvStorageClassFunction) fact(r, w[1])->by_value = fact(r, w[3])->size;
}

static void read_type(struct reader *r, const uint32_t *w, uint32_t n)
{
    switch (w[0] & 0xffff) {
    case SpvOpTypeBool: set_type(r, w[1], SPIRV_VALUE, 1, 1); break;
    case SpvOpTypeInt:
    case SpvOpTypeFloat: set_type(r, w[1], SPIRV_VALUE, w[2] / 8, w[2] / 8); break;
    case SpvOpTypeVector: {
        uint32_t size = fact(r, w[2])->size * (w[3] == 3 ? 4 : w[3]);
        set_type(r, w[1], SPIRV_VALUE, size, size);
        break;
    }
    case SpvOpTypeArray: {
        const struct fact *element = fact(r, w[2]);
        set_type(r, w[1], SPIRV_VALUE, element->size * fact(r, w[3])->value, element->align);
        break;
    }
    case SpvOpTypeStruct: read_struct(r, w, n); break;
    case SpvOpTypePointer: read_pointer(r, w); break;
    case SpvOpTypeImage:
    case SpvOpTypeSampler:
    case SpvOpTypeSampledImage:
    case SpvOpTypePipe:
    case SpvOpTypeEvent:
    case SpvOpTypeDeviceEvent:
    case SpvOpTypeQueue: set_type(r, w[1], SPIRV_OPAQUE, POINTER_BYTES, POINTER_BYTES); break;
    case SpvOpTypeFunction: fact(r, w[1])->at = w; break;
    default: break;
    }
}

static struct spirv_kernel *kernel_of(struct reader *r, uint32_t entry)
{
    for (uint32_t i = 0; i < r->module->n_kernels; i++)
        if (r->module->kernels[i].entry == entry) return &r->module->kernels[i];
    return NULL;
}

static void read_entry_point(struct reader *r, const uint32_t *w, uint32_t n)
{
    if (n < 4 || w[1] != SpvExecutionModelKernel) return;
    struct spirv_module *m = r->module;
    m->kernels = realloc(m->kernels, (m->n_kernels + 1) * sizeof *m->kernels);
    m->kernels[m->n_kernels++] =
        (struct spirv_kernel){.entry = w[2], .name = strndup((const char *)&w[3], (n - 3) * sizeof *w)};
}

static void read_mode(struct reader *r, const uint32_t *w, uint32_t n)
{
    struct spirv_kernel *k = n >= 3 ? kernel_of(r, w[1]) : NULL;
    if (k && w[2] == SpvExecutionModeLocalSize && n >= 6) memcpy(k->required_size, &w[3], sizeof k->required_size);
    if (k && w[2] == SpvExecutionModeSubgroupSize && n >= 4) k->sub_group_size = w[3];
}

/* Built-in functions of OpenCL that the translator did not know are imports, too; the compiler has them. */
static bool is_import(const uint32_t *w, uint32_t n)
{
    if (n < 5 || w[2] != SpvDecorationLinkageAttributes || w[n - 1] != SpvLinkageTypeImport) return false;
    return strncmp((const char *)&w[3], "_Z", 2) != 0;
}

static void read_function(struct reader *r, const uint32_t *w)
{
    if (fact(r, w[2])->imported) r->module->imports = true;
    struct spirv_kernel *k = kernel_of(r, w[2]);
    const uint32_t *type = fact(r, w[4])->at;
    if (!k || !type || k->parameters) return;
    k->n_parameters = (type[0] >> 16) - 3;
    k->parameters = calloc(k->n_parameters + 1, sizeof *k->parameters);
    for (uint32_t i = 0; i < k->n_parameters; i++) {
        const struct fact *f = fact(r, type[3 + i]);
        k->parameters[i] = (struct spirv_parameter){.kind = f->kind, .size = f->by_value ? f->by_value : f->size};
    }
}

static void read_one(struct reader *r, const uint32_t *w, uint32_t n)
{
    struct spirv_module *m = r->module;
    switch (w[0] & 0xffff) {
    case SpvOpCapability:
        m->capabilities = realloc(m->capabilities, (m->n_capabilities + 1) * sizeof *m->capabilities);
        m->capabilities[m->n_capabilities++] = w[1];
        break;
    case SpvOpEntryPoint: read_entry_point(r, w, n); break;
    case SpvOpExecutionMode: read_mode(r, w, n); break;
    case SpvOpDecorate:
        if (w[2] == SpvDecorationCPacked) fact(r, w[1])->packed = true;
        if (is_import(w, n)) fact(r, w[1])->imported = true;
        break;
    case SpvOpConstant:
    case SpvOpSpecConstant: fact(r, w[2])->value = w[3]; break;
    case SpvOpFunction: read_function(r, w); break;
    default: read_type(r, w, n); break;
    }
}

bool spirv_read(struct spirv_module *m, const uint32_t *words, size_t n_words)
{
    *m = (struct spirv_module){0};
    if (n_words < HEADER_WORDS || words[0] != SpvMagicNumber) return false;
    struct reader r = {.module = m, .bound = words[BOUND_WORD]};
    r.facts = calloc(r.bound + 1, sizeof *r.facts);
    bool good = r.facts != NULL;
    for (size_t i = HEADER_WORDS; good && i < n_words;) {
        uint32_t n = words[i] >> 16;
        good = n > 0 && n <= n_words - i;
        if (good) read_one(&r, &words[i], n);
        i += n;
    }
    free(r.facts);
    if (!good) spirv_free(m);
    return good;
}

void spirv_free(struct spirv_module *m)
{
    for (uint32_t i = 0; i < m->n_kernels; i++) {
        free(m->kernels[i].name);
        free(m->kernels[i].parameters);
    }
    free(m->kernels);
    free(m->capabilities);
    *m = (struct spirv_module){0};
}

const struct spirv_kernel *spirv_find_kernel(const struct spirv_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->n_kernels; i++)
        if (strcmp(m->kernels[i].name, name) == 0) return &m->kernels[i];
    return NULL;
}

bool spirv_is_valid(const uint32_t *words, size_t n_words, char **message)
{
    spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_4);
    struct spv_const_binary_t binary = {words, n_words};
    spv_diagnostic diagnostic = NULL;
    bool valid = spvValidate(context, &binary, &diagnostic) == SPV_SUCCESS;
    *message = valid ? NULL : strdup(diagnostic && diagnostic->error ? diagnostic->error : "no SPIR-V");
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    return valid;
}

/* The result of the constant that has this id for specialization; 0: none. */
static uint32_t find_constant(const uint32_t *words, size_t n_words, uint32_t id)
{
    for (size_t i = HEADER_WORDS; i < n_words; i += words[i] >> 16) {
        const uint32_t *w = &words[i];
        if ((w[0] & 0xffff) == SpvOpDecorate && w[2] == SpvDecorationSpecId && w[3] == id) return w[1];
    }
    return 0;
}

static uint32_t bytes_of_type(const uint32_t *words, size_t n_words, uint32_t type)
{
    for (size_t i = HEADER_WORDS; i < n_words; i += words[i] >> 16) {
        const uint32_t *w = &words[i];
        bool number = (w[0] & 0xffff) == SpvOpTypeInt || (w[0] & 0xffff) == SpvOpTypeFloat;
        if (number && w[1] == type) return w[2] / 8;
    }
    return 1;
}

bool spirv_specialize(uint32_t *words, size_t n_words, uint32_t id, const void *value)
{
    uint32_t result = find_constant(words, n_words, id);
    for (size_t i = HEADER_WORDS; result && i < n_words; i += words[i] >> 16) {
        uint32_t *w = &words[i], op = w[0] & 0xffff;
        bool is_bool = op == SpvOpSpecConstantTrue || op == SpvOpSpecConstantFalse;
        if ((!is_bool && op != SpvOpSpecConstant) || w[2] != result) continue;
        if (is_bool) {
            op = *(const uint8_t *)value ? SpvOpSpecConstantTrue : SpvOpSpecConstantFalse;
            w[0] = (w[0] & 0xffff0000) | op;
        } else {
            w[3] = 0;
            memcpy(&w[3], value, bytes_of_type(words, n_words, w[1]));
        }
        return true;
    }
    return false;
}
