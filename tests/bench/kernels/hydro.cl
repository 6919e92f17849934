/* A step of a gas in the plane: pressure and forces move the velocities, the gas is compressed, then density, energy and
   velocities are carried along. Cells have density and energy, and the velocities at their left and lower sides. */

#define CELL                                                                                                           \
    int x = get_global_id(0), y = get_global_id(1), i = y * width + x;                                                 \
    if (x >= width || y >= height) return;                                                                             \
    int left = y * width + max(x - 1, 0), right = y * width + min(x + 1, width - 1);                                   \
    int below = max(y - 1, 0) * width + x, above = min(y + 1, height - 1) * width + x

kernel void ideal_gas(global const float *density, global const float *energy, global float *pressure, int width,
                      int height)
{
    CELL;
    pressure[i] = 0.4f * density[i] * energy[i];
}

kernel void divergence(global const float *u, global const float *v, global float *out, int width, int height)
{
    CELL;
    out[i] = u[right] - u[i] + v[above] - v[i];
}

kernel void viscosity(global const float *density, global const float *pressure, global const float *divergence,
                      global float *out, int width, int height)
{
    CELL;
    float d = min(divergence[i], 0.0f), sound = sqrt(1.4f * pressure[i] / density[i]);
    out[i] = density[i] * (2 * d * d - 0.3f * sound * d);
}

kernel void accelerate_x(global const float *u, global const float *density, global const float *pressure,
                         global const float *viscosity, global float *out, int width, int height, float step)
{
    CELL;
    float force = pressure[left] - pressure[i] + viscosity[left] - viscosity[i];
    out[i] = u[i] + step * 2 * force / (density[left] + density[i]);
}

kernel void accelerate_y(global const float *v, global const float *density, global const float *pressure,
                         global const float *viscosity, global float *out, int width, int height, float step)
{
    CELL;
    float force = pressure[below] - pressure[i] + viscosity[below] - viscosity[i];
    out[i] = v[i] + step * 2 * force / (density[below] + density[i]);
}

kernel void compress(global const float *density, global const float *divergence, global float *out, int width,
                     int height, float step)
{
    CELL;
    out[i] = density[i] / (1 + step * divergence[i]);
}

kernel void heat(global const float *density, global const float *energy, global const float *pressure,
                 global const float *viscosity, global const float *divergence, global float *out, int width, int height,
                 float step)
{
    CELL;
    out[i] = energy[i] - step * (pressure[i] + viscosity[i]) * divergence[i] / density[i];
}

float limited(float before, float after)
{
    return before * after > 0 ? copysign(min(fabs(before), fabs(after)), before) : 0;
}

kernel void slope_x(global const float *of, global float *out, int width, int height)
{
    CELL;
    out[i] = limited(of[i] - of[left], of[right] - of[i]);
}

kernel void slope_y(global const float *of, global float *out, int width, int height)
{
    CELL;
    out[i] = limited(of[i] - of[below], of[above] - of[i]);
}

kernel void flux_x(global const float *of, global const float *slope, global const float *u, global float *out,
                   int width, int height, float step)
{
    CELL;
    float way = step * u[i];
    out[i] = way * (way > 0 ? of[left] + 0.5f * (1 - way) * slope[left] : of[i] - 0.5f * (1 + way) * slope[i]);
}

kernel void flux_y(global const float *of, global const float *slope, global const float *v, global float *out,
                   int width, int height, float step)
{
    CELL;
    float way = step * v[i];
    out[i] = way * (way > 0 ? of[below] + 0.5f * (1 - way) * slope[below] : of[i] - 0.5f * (1 + way) * slope[i]);
}

kernel void carry(global const float *of, global const float *flux_x, global const float *flux_y, global float *out,
                  int width, int height)
{
    CELL;
    out[i] = of[i] + flux_x[i] - flux_x[right] + flux_y[i] - flux_y[above];
}

kernel void carry_velocity(global const float *of, global const float *u, global const float *v, global float *out,
                           int width, int height, float step)
{
    CELL;
    float along = u[i] > 0 ? of[i] - of[left] : of[right] - of[i];
    float across = v[i] > 0 ? of[i] - of[below] : of[above] - of[i];
    out[i] = of[i] - step * (u[i] * along + v[i] * across);
}
