/* Accesses in linear ids: what kernels over different ND-ranges that run as one have in common. */
#pragma once

#include "fuser/access/sites.h"

/* The site in linear ids of `base`, a range that holds the kernel's own, at the same global ids. An index that is no
   multiple of the linear id becomes unknown. */
void linear_ids_of_site(struct access_site *site, const struct nd_range *own, const struct nd_range *base);
