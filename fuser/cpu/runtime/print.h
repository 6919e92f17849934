/* printf and findings of compiled kernels: the functions of struct kernel_functions. */
#pragma once

#include "fuser/cpu/abi/kernel_abi.h"

int32_t kernel_print(struct ir_printer *printer, uint64_t item, const char *format, uint64_t size, const void *args);
void kernel_finding(struct ir_printer *printer, uint64_t place, const char *site, int64_t offset);
