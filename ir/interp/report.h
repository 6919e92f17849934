/* Findings of a run: at most one of a kind per instruction (and other instruction). item, at may be NULL. */
#pragma once

#include "ir/interp/machine.h"

struct other_access {
    uint64_t item[3];
    uint32_t inst;
};

void interp_report(struct machine *m, enum interp_finding_kind kind, const struct item *item,
                   const struct code_inst *at, const char *format, ...) __attribute__((format(printf, 5, 6)));
void interp_report_pair(struct machine *m, enum interp_finding_kind kind, const struct item *item,
                        const struct code_inst *at, const struct other_access *other, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* An access of so many bytes at an offset of memory, which does not have them. */
void interp_report_outside(struct machine *m, const struct item *item, const struct code_inst *at, int64_t offset,
                           uint64_t bytes, const char *text);
void interp_report_finish(struct machine *m);
