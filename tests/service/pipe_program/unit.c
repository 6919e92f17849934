/* Another unit, and the library's: it names the same header's pipes. */
#include "pipes.h"

FUSION_HOST_PIPE(sums_of, int64_t);

#ifdef LIBRARY
const void *librarys_sums(void)
#else
const void *other_units_sums(void);
const void *other_units_sums(void)
#endif
{
    return &sums_of;
}

#include "pipes.footer.h"
