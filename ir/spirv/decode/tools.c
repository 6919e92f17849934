/* SPIRV-Tools: validation and parsing. */
#include "ir/spirv/decode/tools.h"

#include <spirv-tools/libspirv.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/strbuf.h"

const char *tools_op_name(unsigned op)
{
    return spvOpcodeString(op);
}

static char *explain_result(spv_diagnostic diagnostic, spv_result_t result)
{
    struct strbuf text = {0};
    if (diagnostic && diagnostic->error) {
        strbuf_add_bytes(&text, diagnostic->error, strcspn(diagnostic->error, "\n"));
        strbuf_printf(&text, " (word %zu)", diagnostic->position.index);
    } else {
        strbuf_printf(&text, "SPIRV-Tools' result %d", (int)result);
    }
    return strbuf_take(&text);
}

bool tools_validate(const uint32_t *words, size_t n, enum tools_rules rules, char **why)
{
    static const spv_target_env environments[] = {[TOOLS_UNIVERSAL] = SPV_ENV_UNIVERSAL_1_6,
                                                  [TOOLS_OPENCL_2_2] = SPV_ENV_OPENCL_2_2,
                                                  [TOOLS_VULKAN_1_2] = SPV_ENV_VULKAN_1_2,
                                                  [TOOLS_VULKAN_1_3] = SPV_ENV_VULKAN_1_3};
    spv_context context = spvContextCreate(environments[rules]);
    spv_validator_options options = spvValidatorOptionsCreate();
    spvValidatorOptionsSetFriendlyNames(options, false);
    spv_diagnostic diagnostic = NULL;
    spv_const_binary_t binary = {words, n};
    spv_result_t result = spvValidateWithOptions(context, options, &binary, &diagnostic);
    *why = result == SPV_SUCCESS ? NULL : explain_result(diagnostic, result);
    spvDiagnosticDestroy(diagnostic);
    spvValidatorOptionsDestroy(options);
    spvContextDestroy(context);
    return result == SPV_SUCCESS;
}

struct visit {
    tools_visitor *see;
    void *data;
};

static spv_result_t visit_instruction(void *data, const spv_parsed_instruction_t *i)
{
    const struct visit *v = data;
    v->see(v->data, i->opcode, i->num_words, i->type_id, i->result_id);
    return SPV_SUCCESS;
}

bool tools_parse(const uint32_t *words, size_t n, tools_visitor *see, void *data)
{
    struct visit v = {see, data};
    spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_6);
    spv_result_t result = spvBinaryParse(context, &v, words, n, NULL, visit_instruction, NULL);
    spvContextDestroy(context);
    return result == SPV_SUCCESS;
}
