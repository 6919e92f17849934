/* Do arguments fit the parameters that the kernel has? */
#pragma once

#include "client/module/state.h"

/* FUSION_NOT_FOUND with the names of those that there are. */
fusion_status client_find_kernel(const fusion_module *m, const char *name, const fusion_kernel_info **kernel);
/* what names the node in errors. */
fusion_status client_check_args(const char *what, const fusion_kernel_info *k, const fusion_arg *args, uint32_t n_args);
