/* Prices of options after Black and Scholes, in the steps of somebody who looks at each. */

kernel void distances(global const float *spot, global const float *strike, global const float *years,
                      global float *d1, global float *d2, float rate, float volatility, int n)
{
    int i = get_global_id(0);
    if (i >= n) return;
    float spread = volatility * sqrt(years[i]);
    float d = (log(spot[i] / strike[i]) + (rate + volatility * volatility / 2) * years[i]) / spread;
    d1[i] = d;
    d2[i] = d - spread;
}

kernel void normal(global const float *d, global float *p, int n)
{
    int i = get_global_id(0);
    if (i < n) p[i] = 0.5f + 0.5f * erf(d[i] * 0.70710678f);
}

kernel void discounted(global const float *strike, global const float *years, global float *present, float rate, int n)
{
    int i = get_global_id(0);
    if (i < n) present[i] = strike[i] * exp(-rate * years[i]);
}

kernel void prices(global const float *spot, global const float *present, global const float *n1,
                   global const float *n2, global float *call, global float *put, int n)
{
    int i = get_global_id(0);
    if (i >= n) return;
    float c = spot[i] * n1[i] - present[i] * n2[i];
    call[i] = c;
    put[i] = c - spot[i] + present[i];
}
