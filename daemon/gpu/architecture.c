/* Names of Intel's graphics. */
#include "daemon/gpu/architecture.h"

#define VERSION(major, minor, revision) ((uint32_t)(major) << 22 | (minor) << 14 | (revision))

static const struct {
    uint32_t version;
    const char *names[GPU_MAX_TARGETS];
} table[] = {
    {VERSION(8, 0, 0), {"intel_gpu_bdw", "intel_gpu_8_0_0"}},
    {VERSION(9, 0, 9), {"intel_gpu_skl", "intel_gpu_9_0_9"}},
    {VERSION(9, 1, 9), {"intel_gpu_kbl", "intel_gpu_9_1_9"}},
    {VERSION(9, 2, 9), {"intel_gpu_cfl", "intel_gpu_9_2_9"}},
    {VERSION(9, 3, 0), {"intel_gpu_apl", "intel_gpu_bxt", "intel_gpu_9_3_0"}},
    {VERSION(9, 4, 0), {"intel_gpu_glk", "intel_gpu_9_4_0"}},
    {VERSION(9, 5, 0), {"intel_gpu_whl", "intel_gpu_9_5_0"}},
    {VERSION(9, 6, 0), {"intel_gpu_aml", "intel_gpu_9_6_0"}},
    {VERSION(9, 7, 0), {"intel_gpu_cml", "intel_gpu_9_7_0"}},
    {VERSION(11, 0, 0), {"intel_gpu_icllp", "intel_gpu_icl", "intel_gpu_11_0_0"}},
    {VERSION(11, 2, 0), {"intel_gpu_ehl", "intel_gpu_jsl", "intel_gpu_11_2_0"}},
    {VERSION(12, 0, 0), {"intel_gpu_tgllp", "intel_gpu_tgl", "intel_gpu_12_0_0"}},
    {VERSION(12, 1, 0), {"intel_gpu_rkl"}},
    {VERSION(12, 2, 0), {"intel_gpu_adl_s", "intel_gpu_rpl_s"}},
    {VERSION(12, 3, 0), {"intel_gpu_adl_p"}},
    {VERSION(12, 4, 0), {"intel_gpu_adl_n"}},
    {VERSION(12, 10, 0), {"intel_gpu_dg1", "intel_gpu_12_10_0"}},
    {VERSION(12, 55, 8), {"intel_gpu_acm_g10", "intel_gpu_dg2_g10"}},
    {VERSION(12, 56, 5), {"intel_gpu_acm_g11", "intel_gpu_dg2_g11"}},
    {VERSION(12, 57, 0), {"intel_gpu_acm_g12", "intel_gpu_dg2_g12"}},
    {VERSION(12, 60, 7), {"intel_gpu_pvc"}},
};

uint32_t gpu_architecture_names(uint32_t version, const char *names[static GPU_MAX_TARGETS])
{
    uint32_t n = 0;
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        for (uint32_t k = 0; table[i].version == version && k < GPU_MAX_TARGETS && table[i].names[k]; k++)
            names[n++] = table[i].names[k];
    return n;
}
