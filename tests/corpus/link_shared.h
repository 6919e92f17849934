/* What the two modules of link_main.cl and link_part.cl know of each other. */
#ifndef LINK_SHARED
#define LINK_SHARED
typedef struct {
    int low;
    float high;
} bounds;

extern __constant int weights[4];
extern __constant float scale;

int weigh(int x, int i);
float clamped(float x, bounds b);
int total(__global const int *values, __local int *room, int n);

/* In both modules, and the same in both. */
inline int spread(int x)
{
    static __constant int table[3] = {5, 11, 17};
    return x * table[x % 3 < 0 ? 0 : x % 3];
}
#endif
