/* The integration header and footer of a module: how programs name its host pipes. */
#pragma once

#include <fusiond/fusiond.h>

/* PREFIX.h and PREFIX.footer.h. False with a message. */
bool integration_write(const fusion_module *module, const char *prefix);
