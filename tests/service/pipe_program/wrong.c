/* A packet of another size than the module's. */
#include "pipes.h"

FUSION_HOST_PIPE(numbers, double);
