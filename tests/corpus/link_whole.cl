//: language CLC++
/* Both parts in one module. */
#define own own_of_part
#include "link_part.cl"
#undef own
#include "link_main.cl"
