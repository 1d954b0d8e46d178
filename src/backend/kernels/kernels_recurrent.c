/* The steps of LSTM and GRU between their products, a vector at a time. YS_KERNELS names the table: compiled
 * once for each width of vector registers. exp and tanh are our own, good to some units in the last place of a float:
 * those of the C library would take longer than the products. */
#include "backend/kernels/kernels_curve.h"

extern const struct ys_recurrent_kernels YS_KERNELS;

static void lstm(int64_t hidden, const float *bias, const float *cell_before, float *gate, float *cell, float *y)
{
    float *const at[] = {gate, gate + hidden, gate + 2 * hidden, gate + 3 * hidden};
    for (int64_t j = 0; j < hidden; j += LANES) {
        const int64_t lanes = hidden - j;
        const vector i = sigmoid(load(at[0] + j, lanes) + load(bias + j, lanes));
        const vector f = sigmoid(load(at[1] + j, lanes) + load(bias + hidden + j, lanes));
        const vector g = hyperbolic(load(at[2] + j, lanes) + load(bias + 2 * hidden + j, lanes));
        const vector o = sigmoid(load(at[3] + j, lanes) + load(bias + 3 * hidden + j, lanes));
        vector c = i * g;
        if (cell_before)
            c += f * load(cell_before + j, lanes);
        store(at[0] + j, i, lanes);
        store(at[1] + j, f, lanes);
        store(at[2] + j, g, lanes);
        store(at[3] + j, o, lanes);
        store(cell + j, c, lanes);
        store(y + j, o * hyperbolic(c), lanes);
    }
}

static void gru(int64_t hidden, const float *bias, const float *inner_bias, const float *y_before, float *gate,
                float *inner, float *y)
{
    float *const at[] = {gate, gate + hidden, gate + 2 * hidden};
    for (int64_t j = 0; j < hidden; j += LANES) {
        const int64_t lanes = hidden - j;
        vector q = load(inner_bias + j, lanes);
        if (y_before)
            q += load(inner + j, lanes);
        const vector r = sigmoid(load(at[0] + j, lanes) + load(bias + j, lanes));
        const vector z = sigmoid(load(at[1] + j, lanes) + load(bias + hidden + j, lanes));
        const vector n = hyperbolic(load(at[2] + j, lanes) + load(bias + 2 * hidden + j, lanes) + r * q);
        vector h = (1.0F - z) * n;
        if (y_before)
            h += z * load(y_before + j, lanes);
        store(at[0] + j, r, lanes);
        store(at[1] + j, z, lanes);
        store(at[2] + j, n, lanes);
        store(inner + j, q, lanes);
        store(y + j, h, lanes);
    }
}

static void lstm_backward(int64_t hidden, const float *gate, const float *cell_before, const float *cell,
                          const float *dy, const float *carried, const float *dcell_behind, float *dgate, float *dcell)
{
    for (int64_t j = 0; j < hidden; j += LANES) {
        const int64_t lanes = hidden - j;
        const vector i = load(gate + j, lanes), f = load(gate + hidden + j, lanes);
        const vector g = load(gate + 2 * hidden + j, lanes), o = load(gate + 3 * hidden + j, lanes);
        const vector curve = hyperbolic(load(cell + j, lanes));
        const vector before = cell_before ? load(cell_before + j, lanes) : (vector){0};
        vector dh = load(dy + j, lanes);
        if (carried)
            dh += load(carried + j, lanes);
        vector dc = dh * o * (1.0F - curve * curve);
        if (dcell_behind)
            dc += load(dcell_behind + j, lanes);
        store(dgate + j, dc * g * i * (1.0F - i), lanes);
        store(dgate + hidden + j, dc * before * f * (1.0F - f), lanes);
        store(dgate + 2 * hidden + j, dc * i * (1.0F - g * g), lanes);
        store(dgate + 3 * hidden + j, dh * curve * o * (1.0F - o), lanes);
        store(dcell + j, dc * f, lanes);
    }
}

static void gru_backward(int64_t hidden, const float *gate, const float *y_before, const float *inner, const float *dy,
                         bool is_last, float *carried, float *dgate, float *dinner)
{
    for (int64_t j = 0; j < hidden; j += LANES) {
        const int64_t lanes = hidden - j;
        const vector r = load(gate + j, lanes), z = load(gate + hidden + j, lanes);
        const vector n = load(gate + 2 * hidden + j, lanes);
        const vector before = y_before ? load(y_before + j, lanes) : (vector){0};
        vector dh = load(dy + j, lanes);
        if (!is_last)
            dh += load(carried + j, lanes);
        const vector dn = dh * (1.0F - z) * (1.0F - n * n);
        store(dgate + j, dn * load(inner + j, lanes) * r * (1.0F - r), lanes);
        store(dgate + hidden + j, dh * (before - n) * z * (1.0F - z), lanes);
        store(dgate + 2 * hidden + j, dn, lanes);
        store(dinner + j, dn * r, lanes);
        store(carried + j, dh * z, lanes);
    }
}

const struct ys_recurrent_kernels YS_KERNELS = {
    .lstm = lstm, .gru = gru, .lstm_backward = lstm_backward, .gru_backward = gru_backward};
