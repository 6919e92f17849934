/* Modules of SPIR-V in assembler: what they have in common, and what tests do with them. */
#pragma once

#include "ir/spirv/spirv.h"

#define HEAD                                                                                                           \
    "OpCapability Addresses\nOpCapability Kernel\nOpCapability Linkage\nOpCapability Int64\nOpCapability Int8\n"       \
    "%std = OpExtInstImport \"OpenCL.std\"\nOpMemoryModel Physical64 OpenCL\n"
#define TYPES                                                                                                          \
    "%void = OpTypeVoid\n%bool = OpTypeBool\n%u8 = OpTypeInt 8 0\n%u32 = OpTypeInt 32 0\n%u64 = OpTypeInt 64 0\n"      \
    "%f32 = OpTypeFloat 32\n%p = OpTypePointer CrossWorkgroup %u32\n%fn = OpTypeFunction %void %p\n"                   \
    "%c0 = OpConstant %u32 0\n%c1 = OpConstant %u32 1\n%c2 = OpConstant %u32 2\n%c3 = OpConstant %u32 3\n"
#define KERNEL "OpEntryPoint Kernel %k \"k\"\n"
#define BEGIN "%k = OpFunction %void None %fn\n%a = OpFunctionParameter %p\n%start = OpLabel\n"
#define END "OpReturn\nOpFunctionEnd\n"

/* What the text is read into. read_good() fails the test where it is refused. */
struct ir_module *read_with(const char *text, const struct ir_spirv_options *options, struct diag_list *list);
struct ir_module *read_good(const char *text);
/* The text is refused; the first finding says `part`, of that function (NULL: of none). */
void assert_refused(const char *text, const char *function, const char *part);
/* The same where it may say `or` (NULL: nothing else) as well. */
void assert_refused_as(const char *text, const char *function, const char *part, const char * or);
/* Runs kernel k on n ints with one work-item. */
void run_k(const struct ir_module *m, uint32_t *data, unsigned n);
