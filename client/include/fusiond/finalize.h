/* libfusiond: how graphs are finalized. Part of fusiond.h. */
#ifndef FUSIOND_FINALIZE_H
#define FUSIOND_FINALIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    size_t size;      /* FUSION_SIZED(fusion_finalize_options) */
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
    int padding;      /* not read: older programs may have anything here */
    bool bounds;      /* accesses that are not proved to be inside of their buffer are checked where they run: outside,
                         loads give 0 and nothing is stored, and the submission ends with FUSION_KERNEL_FAULT, naming the
                         first one's line, work-item, element and buffer */
    bool keep_tuning; /* `tuning` is kept for this graph */
    const char *tuning; /* with FUSION_ENABLE: what is made otherwise than the cost model would; NULL: what was kept for
                           this graph by a session of this user, if anything was; "": nothing. docs/fusion.md has the
                           words. No result depends on it */
    uint64_t time_limit_ms; /* of each submission of the handle, where it is shorter than the session's; 0: that. A
                               saved executable does not have it */
} fusion_finalize_options;

/* Outputs of a graph, which fusion_graph_set_outputs() declares: the memory whose contents are read after a submission,
   as buffers, pointers into USM allocations and images (of an argument, which memory it is). All other memory that the
   graph writes is its own from then on: what a submission leaves there is undefined, but for what a later submission of
   the graph reads. So it counts as if it had FUSION_INTERNAL_MEMORY, and nodes of whose writing nothing comes do not
   run, where the graph is fused. Where nothing is declared all are outputs. Of a graph inside another one, which is
   fused with it, those of the outer one count. */

#endif
