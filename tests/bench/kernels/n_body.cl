/* Accelerations of bodies that attract each other: from memory, and by tiles in local memory. */

float3 pull(float4 me, float4 other, float softening)
{
    float3 d = other.xyz - me.xyz;
    float r2 = dot(d, d) + softening;
    float inverse = rsqrt(r2);
    return d * (other.w * inverse * inverse * inverse);
}

kernel void n_body(global const float4 *bodies, global float4 *accelerations, int n, float softening)
{
    int i = get_global_id(0);
    if (i >= n) return;
    float4 me = bodies[i];
    float3 sum = 0;
    for (int j = 0; j < n; j++) sum += pull(me, bodies[j], softening);
    accelerations[i] = (float4)(sum, 0);
}

kernel void n_body_tiles(global const float4 *bodies, global float4 *accelerations, int n, float softening,
                         local float4 *tile)
{
    int i = get_global_id(0), l = get_local_id(0), size = get_local_size(0);
    float4 me = bodies[i];
    float3 sum = 0;
    for (int base = 0; base < n; base += size) {
        tile[l] = bodies[base + l];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < size; j++) sum += pull(me, tile[j], softening);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    accelerations[i] = (float4)(sum, 0);
}
