/* What kernels of one module have in common, in the kernel dialect, for targets whose files are linked again
   (SPIRV_PIPES): a file has one kernel. */
#pragma once

#include "fuser/spirv/base/body.h"

/* Who links the files has one of the name. */
void spw_link_once(struct spw *w, uint32_t id, const char *name);
/* A decoration of a number and a text, or the other way round. */
void spw_decorate_with_name(struct spw *w, uint32_t id, uint32_t decoration, uint32_t number, const char *name,
                            bool number_first);
