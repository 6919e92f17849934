/* libfusiond: how graphs are finalized. Part of fusiond.h. */
#ifndef FUSIOND_FINALIZE_H
#define FUSIOND_FINALIZE_H

#include <stdbool.h>

typedef enum fusion_mode { FUSION_NONE, FUSION_ENABLE, FUSION_REQUIRE } fusion_mode;

/* When the handle of device "cpu" is there, where its code has to be made first. It computes the same in any case. */
typedef enum fusion_tier {
    FUSION_TIER_AUTOMATIC, /* as is sooner: quick where there is little to do, else compiled */
    FUSION_TIER_QUICK,     /* at once: kernels are interpreted, until their code has been made and takes over */
    FUSION_TIER_COMPILED   /* with its code; always so with keep_assembly */
} fusion_tier;

/* Work-group barriers between kernels that insert_barriers did not ask for. Nothing that can be seen depends on them.
 */
typedef enum fusion_barriers {
    FUSION_BARRIERS_AUTOMATIC, /* with FUSION_ENABLE, where it is proved that one is needed and enough, and it pays;
                                  with FUSION_REQUIRE none */
    FUSION_BARRIERS_NONE,
    FUSION_BARRIERS_NEEDED /* where it is proved that one is needed and enough; with FUSION_REQUIRE, too */
} fusion_barriers;

typedef struct fusion_finalize_options {
    fusion_mode mode; /* enable_fusion, require_fusion */
    bool insert_barriers;
    const char *device; /* NULL: "cpu" */
    bool keep_ir;       /* report.ir is filled in, and each buffer that stays in memory has a remark */
    bool keep_assembly; /* report.assembly is filled in; does not change the code */
    bool debug;         /* runs in the interpreter, and watches whether what was asserted of buffers, or taken on the
                           word of require_fusion, is true: a submission fails with FUSION_INVALID at the first
                           element that breaks it, naming nodes, lines and work-items */
    fusion_tier tier;
    fusion_barriers barriers;
} fusion_finalize_options;

#endif
