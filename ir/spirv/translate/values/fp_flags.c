/* Decorations of fast math as flags of ir. */
#include "ir/spirv/translate/values/fp_flags.h"

#include "ir/spirv/decode/decorations.h"

uint8_t spirv_fp_flags(const struct spirv_body *s, uint32_t id)
{
    const uint32_t *mode = spirv_decoration(s->r, id, SpvDecorationFPFastMathMode, NULL);
    uint8_t flags =
        s->r->functions.contract && !spirv_decoration(s->r, id, SpvDecorationNoContraction, NULL) ? IR_FP_CONTRACT : 0;
    if (!mode) return flags;
    if (mode[0] & SpvFPFastMathModeNotNaNMask) flags |= IR_FP_NNAN;
    if (mode[0] & SpvFPFastMathModeNotInfMask) flags |= IR_FP_NINF;
    if (mode[0] & SpvFPFastMathModeNSZMask) flags |= IR_FP_NSZ;
    if (mode[0] & SpvFPFastMathModeAllowContractFastINTELMask) flags |= IR_FP_CONTRACT;
    if (mode[0] & SpvFPFastMathModeFastMask) flags |= IR_FP_NNAN | IR_FP_NINF | IR_FP_NSZ | IR_FP_CONTRACT;
    return flags;
}
