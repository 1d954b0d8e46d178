/* The operators' cases, YS_CASES_... of each in YS_OPS: names, and what stands between pixels and logits.
 * check_models.c makes models of them. Awkward shapes throughout: what is even, square and divisible hides most
 * mistakes. */
#ifndef YS_VERIFY_OPERATORS_CHECK_CASES_H
#define YS_VERIFY_OPERATORS_CHECK_CASES_H

/* kernel height and width, strides, padding at top, left, bottom, right */
#define WINDOW(kh, kw, sh, sw, top, left, bottom, right)                                                               \
    .kernel = {kh, kw}, .stride = {sh, sw}, .dilation = {1, 1}, .pad = {top, left, bottom, right}, .group = 1
#define SQUARE(k, s, p)    WINDOW(k, k, s, s, p, p, p, p)
#define SPARSE(k, s, d, p) .kernel = {k, k}, .stride = {s, s}, .dilation = {d, d}, .pad = {p, p, p, p}, .group = 1
#define GROUPS(k, s, p, g) .kernel = {k, k}, .stride = {s, s}, .dilation = {1, 1}, .pad = {p, p, p, p}, .group = g
#define CEIL(k, s, p)      SQUARE(k, s, p), .ceil = true
#define COUNTED(k, s, p)   SQUARE(k, s, p), .include_pad = true

#define YS_CASES_NORMALIZE(X)                                                                                          \
    X(normalize_all_alike, normalize_all(s))                                                                           \
    X(normalize_each_channel, normalize_each(s))

#define YS_CASES_CONV(X)                                                                                               \
    X(conv_1x1, conv(s, image(s, 5, 4, 6), 3, SQUARE(1, 1, 0)))                                                        \
    X(conv_3x3_pad, conv(s, image(s, 2, 5, 7), 3, SQUARE(3, 1, 1)))                                                    \
    X(conv_rectangular, conv(s, image(s, 3, 6, 5), 4, WINDOW(2, 4, 1, 1, 1, 2, 1, 2)))                                 \
    X(conv_uneven_pad, conv(s, image(s, 2, 5, 6), 3, WINDOW(3, 4, 1, 1, 0, 1, 2, 3)))                                  \
    X(conv_pad_below_and_right, conv(s, image(s, 2, 6, 6), 3, WINDOW(3, 3, 2, 2, 0, 0, 1, 1)))                         \
    X(conv_stride_2_even, conv(s, image(s, 3, 6, 8), 4, SQUARE(3, 2, 1)))                                              \
    X(conv_stride_2_odd, conv(s, image(s, 3, 7, 5), 4, SQUARE(3, 2, 1)))                                               \
    X(conv_stride_beyond_kernel, conv(s, image(s, 3, 8, 7), 4, WINDOW(2, 1, 3, 3, 0, 0, 0, 0)))                        \
    X(conv_pad_beyond_kernel, conv(s, image(s, 2, 3, 4), 3, SQUARE(2, 2, 3)))                                          \
    X(conv_whole_image, conv(s, image(s, 3, 4, 5), 6, WINDOW(4, 5, 1, 1, 0, 0, 0, 0)))                                 \
    X(conv_two_groups, conv(s, image(s, 4, 5, 5), 6, GROUPS(3, 1, 1, 2)))                                              \
    X(conv_groups_stride, conv(s, image(s, 6, 5, 6), 3, GROUPS(3, 2, 1, 3)))                                           \
    X(conv_depthwise, conv(s, image(s, 5, 5, 5), 5, GROUPS(3, 1, 1, 5)))                                               \
    X(conv_depthwise_stride_2, conv(s, image(s, 17, 6, 7), 17, GROUPS(3, 2, 1, 17)))                                   \
    X(conv_depthwise_double, conv(s, image(s, 3, 5, 4), 6, GROUPS(2, 1, 0, 3)))                                        \
    X(conv_dilated, conv(s, image(s, 2, 7, 7), 3, SPARSE(3, 1, 2, 2)))                                                 \
    X(conv_dilated_stride, conv(s, image(s, 2, 9, 8), 3, SPARSE(2, 2, 3, 1)))                                          \
    X(conv_no_bias, conv_plain(s, image(s, 3, 5, 4), 4, SQUARE(3, 1, 1)))                                              \
    X(conv_connections, conv_table(s, image(s, 4, 5, 5), 6))                                                           \
    X(conv_frozen, (frozen(s), conv(s, image(s, 2, 4, 5), 3, SQUARE(3, 1, 1))))                                        \
    X(conv_factors, (factors(s), conv(s, image(s, 2, 4, 5), 3, SQUARE(3, 1, 1))))

#define YS_CASES_CONV_TRANSPOSE(X)                                                                                     \
    X(conv_transpose_3x3, transposed(s, image(s, 3, 4, 5), 2, SQUARE(3, 1, 1)))                                        \
    X(conv_transpose_stride_2, transposed(s, image(s, 3, 4, 5), 4, SQUARE(3, 2, 1), .extra = {1, 1}))                  \
    X(conv_transpose_rectangular,                                                                                      \
      transposed(s, image(s, 2, 3, 4), 3, WINDOW(2, 4, 2, 3, 1, 2, 1, 2), .extra = {0, 2}))                            \
    X(conv_transpose_uneven_pad, transposed(s, image(s, 2, 5, 6), 3, WINDOW(3, 4, 2, 1, 0, 1, 2, 3)))                  \
    X(conv_transpose_dilated, transposed(s, image(s, 2, 4, 5), 3, SPARSE(3, 1, 2, 1)))                                 \
    X(conv_transpose_groups, transposed(s, image(s, 4, 4, 3), 6, GROUPS(3, 2, 1, 2)))

#define YS_CASES_RELU(X)                                                                                               \
    X(relu_image, alike(s, image(s, 3, 5, 4), .op = YS_OP_RELU))                                                       \
    X(relu_features, alike(s, features(s, 37), .op = YS_OP_RELU))

/** The windows that both pools are checked over, `pool` being maxpool or averagepool. */
#define YS_CASES_POOL(X, pool)                                                                                         \
    X(pool##_2x2, pool(s, image(s, 3, 6, 6), SQUARE(2, 2, 0)))                                                         \
    X(pool##_odd_size, pool(s, image(s, 3, 7, 5), SQUARE(2, 2, 0)))                                                    \
    X(pool##_rectangular, pool(s, image(s, 2, 4, 9), WINDOW(2, 3, 2, 3, 0, 0, 0, 0)))                                  \
    X(pool##_overlapping, pool(s, image(s, 3, 7, 7), SQUARE(3, 2, 1)))                                                 \
    X(pool##_stride_1, pool(s, image(s, 2, 5, 6), SQUARE(3, 1, 1)))                                                    \
    X(pool##_stride_beyond_kernel, pool(s, image(s, 2, 8, 8), SQUARE(2, 3, 0)))                                        \
    X(pool##_uneven_pad, pool(s, image(s, 2, 5, 5), WINDOW(3, 3, 2, 2, 0, 1, 1, 0)))                                   \
    X(pool##_pad_beyond_need, pool(s, image(s, 2, 3, 4), SQUARE(5, 2, 2)))                                             \
    X(pool##_dilated, pool(s, image(s, 2, 7, 7), SPARSE(2, 1, 2, 0)))                                                  \
    X(pool##_ceil, pool(s, image(s, 3, 6, 7), CEIL(3, 2, 0)))                                                          \
    X(pool##_ceil_pad, pool(s, image(s, 2, 5, 6), CEIL(3, 3, 1)))                                                      \
    X(pool##_ceil_left_out, pool(s, image(s, 2, 4, 4), CEIL(2, 3, 1)))

#define YS_CASES_MAXPOOL(X) YS_CASES_POOL(X, maxpool)

#define YS_CASES_FLATTEN(X)                                                                                            \
    X(flatten_image, alike(s, image(s, 3, 2, 5), .op = YS_OP_FLATTEN))                                                 \
    X(flatten_behind_conv, alike(s, conv(s, image(s, 3, 4, 5), 4, SQUARE(2, 1, 0)), .op = YS_OP_FLATTEN))

#define YS_CASES_GEMM(X)                                                                                               \
    X(gemm_features, gemm(s, features(s, 7), 5, true))                                                                 \
    X(gemm_one_output, gemm(s, features(s, 9), 1, true))                                                               \
    X(gemm_no_bias, gemm(s, features(s, 6), 8, false))                                                                 \
    X(gemm_factors, (factors(s), gemm(s, features(s, 5), 6, true)))                                                    \
    X(gemm_positions, gemm(s, reshape(s, features(s, 12), 4, 3), 5, true))                                             \
    X(gemm_last_axis, gemm(s, image(s, 3, 4, 5), 6, true))

#define YS_CASES_EMBEDDING(X)                                                                                          \
    X(embedding_tokens, embedding(s, 3))                                                                               \
    X(embedding_factors, (factors(s), embedding(s, 2)))

/* Positions of queries and of keys, then the widths of all heads of queries and of results. */
#define YS_CASES_ATTENTION(X)                                                                                          \
    X(attention_one_head, attention(s, 4, 4, 3, 3, .heads = 1, .kv_heads = 1))                                         \
    X(attention_causal, attention(s, 5, 5, 6, 4, .heads = 2, .kv_heads = 2, .causal = true))                           \
    X(attention_more_keys, attention(s, 3, 5, 6, 6, .heads = 3, .kv_heads = 3))                                        \
    X(attention_grouped_heads, attention(s, 4, 4, 8, 12, .heads = 4, .kv_heads = 2, .causal = true))                   \
    X(attention_scale, attention(s, 4, 6, 4, 2, .heads = 2, .kv_heads = 1, .scale = 1.25))                             \
    X(attention_of_itself, attention_of_itself(s))

/* Axes before the matrices (0: there is none), then m, k and n. */
#define YS_CASES_MATMUL(X)                                                                                             \
    X(matmul_of_rows, matmul(s, 0, 4, 3, 5))                                                                           \
    X(matmul_of_many, matmul(s, 3, 2, 5, 4))                                                                           \
    X(matmul_of_lines, matmul(s, 2, 1, 6, 1))                                                                          \
    X(matmul_of_itself, matmul_of_itself(s))

/* Positions, width and hidden. */
#define YS_CASES_LSTM(X)                                                                                               \
    X(lstm_positions, recurrent(s, YS_OP_LSTM, 5, 3, 4))                                                               \
    X(lstm_one_position, recurrent(s, YS_OP_LSTM, 1, 4, 3))                                                            \
    X(lstm_wide, recurrent(s, YS_OP_LSTM, 4, 2, 19))                                                                   \
    X(lstm_factors, (factors(s), recurrent(s, YS_OP_LSTM, 3, 5, 2)))                                                   \
    X(lstm_layers, recurrent_again(s, YS_OP_LSTM))

#define YS_CASES_GRU(X)                                                                                                \
    X(gru_positions, recurrent(s, YS_OP_GRU, 5, 3, 4))                                                                 \
    X(gru_one_position, recurrent(s, YS_OP_GRU, 1, 4, 3))                                                              \
    X(gru_wide, recurrent(s, YS_OP_GRU, 4, 2, 19))                                                                     \
    X(gru_factors, (factors(s), recurrent(s, YS_OP_GRU, 3, 5, 2)))                                                     \
    X(gru_layers, recurrent_again(s, YS_OP_GRU))

#define YS_CASES_AVERAGEPOOL(X)                                                                                        \
    YS_CASES_POOL(X, averagepool)                                                                                      \
    X(averagepool_counted_pad, averagepool(s, image(s, 3, 5, 6), COUNTED(3, 2, 1)))                                    \
    X(averagepool_counted_uneven_pad,                                                                                  \
      averagepool(s, image(s, 2, 5, 5), WINDOW(3, 3, 2, 2, 0, 1, 1, 0), .include_pad = true))                          \
    X(averagepool_counted_ceil_pad, averagepool(s, image(s, 2, 6, 7), CEIL(3, 2, 1), .include_pad = true))             \
    X(averagepool_dilated_pad, averagepool(s, image(s, 2, 7, 7), SPARSE(2, 2, 2, 1)))

#define YS_CASES_GLOBAL_AVERAGEPOOL(X)                                                                                 \
    X(global_averagepool_odd, alike(s, image(s, 5, 3, 7), .op = YS_OP_GLOBAL_AVERAGEPOOL))                             \
    X(global_averagepool_one_pixel, alike(s, image(s, 6, 1, 1), .op = YS_OP_GLOBAL_AVERAGEPOOL))

#define YS_CASES_GLOBAL_MAXPOOL(X)                                                                                     \
    X(global_maxpool_odd, alike(s, image(s, 5, 3, 7), .op = YS_OP_GLOBAL_MAXPOOL))                                     \
    X(global_maxpool_one_pixel, alike(s, image(s, 6, 1, 1), .op = YS_OP_GLOBAL_MAXPOOL))

#define YS_CASES_BATCHNORM(X)                                                                                          \
    X(batchnorm_image, batchnorm(s, image(s, 4, 5, 3), 1e-5, 0.1))                                                     \
    X(batchnorm_epsilon_momentum, batchnorm(s, image(s, 3, 4, 4), 1e-2, 0.3))                                          \
    X(batchnorm_one_channel, batchnorm(s, image(s, 1, 3, 3), 1e-3, 0.01))                                              \
    X(batchnorm_features, batchnorm(s, features(s, 7), 1e-2, 0.2))

#define YS_CASES_LAYERNORM(X)                                                                                          \
    X(layernorm_rows, layernorm(s, image(s, 3, 5, 4), 1e-2))                                                           \
    X(layernorm_channels_last, layernorm(s, transpose(s, image(s, 7, 3, 4), 0, 2, 3, 1), 1e-6))                        \
    X(layernorm_features, layernorm(s, features(s, 37), 1e-5))                                                         \
    X(layernorm_rank_3, layernorm(s, reshape(s, image(s, 4, 2, 6), 8, 6), 1e-3))

#define YS_CASES_RMSNORM(X)                                                                                            \
    X(rmsnorm_rows, rmsnorm(s, image(s, 3, 5, 4), 1e-2))                                                               \
    X(rmsnorm_features, rmsnorm(s, features(s, 37), 1e-5))                                                             \
    X(rmsnorm_rank_3, rmsnorm(s, reshape(s, image(s, 4, 2, 6), 8, 6), 1e-3))

/* Positions and width; heads, base, and whether pairs are neighbours. */
#define YS_CASES_ROTARY(X)                                                                                             \
    X(rotary_halves, places(s, YS_OP_ROTARY, 5, 12, .heads = 3, .base = 10000))                                        \
    X(rotary_interleaved, places(s, YS_OP_ROTARY, 6, 8, .heads = 2, .base = 100, .interleaved = true))                 \
    X(rotary_one_pair, places(s, YS_OP_ROTARY, 7, 2, .heads = 1, .base = 10000))

#define YS_CASES_SINUSOID(X)                                                                                           \
    X(sinusoid_positions, places(s, YS_OP_SINUSOID, 5, 12, .heads = 1, .base = 10000))                                 \
    X(sinusoid_other_base, places(s, YS_OP_SINUSOID, 7, 6, .heads = 1, .base = 100))

/* Of tokens that end before their row does. */
#define YS_CASES_LAST(X)                                                                                               \
    X(last_of_tokens, last(s, gemm(s, embedding(s, 3), 5, true)))                                                      \
    X(last_factors, (factors(s), last(s, gemm(s, embedding(s, 2), 3, false))))

#define YS_CASES_LRN(X)                                                                                                \
    X(lrn_of_5, alike(s, image(s, 8, 3, 4), .op = YS_OP_LRN, .lrn = {5, 0.5, 0.75, 1}))                                \
    X(lrn_even_size, alike(s, image(s, 7, 3, 3), .op = YS_OP_LRN, .lrn = {4, 0.5, 0.75, 2}))                           \
    X(lrn_of_1, alike(s, image(s, 3, 2, 3), .op = YS_OP_LRN, .lrn = {1, 1, 0.5, 1}))                                   \
    X(lrn_beyond_channels, alike(s, image(s, 3, 3, 3), .op = YS_OP_LRN, .lrn = {9, 1, 1, 1.5}))

#define YS_CASES_CLIP(X)                                                                                               \
    X(clip_image, alike(s, image(s, 3, 5, 4), .op = YS_OP_CLIP, .low = -0.25, .high = 0.5))                            \
    X(clip_features, alike(s, features(s, 37), .op = YS_OP_CLIP, .low = 0, .high = 0.75))

#define YS_CASES_LEAKY_RELU(X)                                                                                         \
    X(leaky_relu_image, alike(s, image(s, 3, 5, 4), .op = YS_OP_LEAKY_RELU, .slope = 0.01))                            \
    X(leaky_relu_features, alike(s, features(s, 37), .op = YS_OP_LEAKY_RELU, .slope = 0.3))

#define YS_CASES_TANH(X)                                                                                               \
    X(tanh_image, alike(s, image(s, 3, 5, 4), .op = YS_OP_TANH))                                                       \
    X(tanh_features, alike(s, features(s, 37), .op = YS_OP_TANH))

#define YS_CASES_SIGMOID(X)                                                                                            \
    X(sigmoid_image, alike(s, image(s, 3, 5, 4), .op = YS_OP_SIGMOID))                                                 \
    X(sigmoid_features, alike(s, features(s, 37), .op = YS_OP_SIGMOID))

/* Values of a deviation of some 4, for kinks that lie beyond the usual ones. */
#define WIDE(s) ys_build_draw((s)->b, YS_DRAW_UNIFORM_FAN_IN(3 * 12), YS_DRAW_UNIFORM(0.2))

#define YS_CASES_HARDSWISH(X)                                                                                          \
    X(hardswish_image, (WIDE(s), alike(s, image(s, 3, 5, 4), .op = YS_OP_HARDSWISH)))                                  \
    X(hardswish_features, (WIDE(s), alike(s, features(s, 37), .op = YS_OP_HARDSWISH)))

#define YS_CASES_HARDSIGMOID(X)                                                                                        \
    X(hardsigmoid_image,                                                                                               \
      (WIDE(s), alike(s, image(s, 3, 5, 4), .op = YS_OP_HARDSIGMOID, .slope = 1.0 / 6, .shift = 0.5)))                 \
    X(hardsigmoid_features, (WIDE(s), alike(s, features(s, 37), .op = YS_OP_HARDSIGMOID, .slope = 0.2, .shift = 0.6)))

#define YS_CASES_SWISH(X)                                                                                              \
    X(swish_image, (WIDE(s), alike(s, image(s, 3, 5, 4), .op = YS_OP_SWISH)))                                          \
    X(swish_features, alike(s, features(s, 37), .op = YS_OP_SWISH))

#define YS_CASES_GELU(X)                                                                                               \
    X(gelu_image, (WIDE(s), alike(s, image(s, 3, 5, 4), .op = YS_OP_GELU)))                                            \
    X(gelu_features, alike(s, features(s, 37), .op = YS_OP_GELU))                                                      \
    X(gelu_tanh_image, (WIDE(s), alike(s, image(s, 3, 5, 4), .op = YS_OP_GELU, .by_tanh = true)))                      \
    X(gelu_tanh_features, alike(s, features(s, 37), .op = YS_OP_GELU, .by_tanh = true))

#define YS_CASES_SQRT(X)                                                                                               \
    X(sqrt_image, alike(s, positive(s, image(s, 3, 5, 4)), .op = YS_OP_SQRT))                                          \
    X(sqrt_features, alike(s, positive(s, features(s, 37)), .op = YS_OP_SQRT))

#define YS_CASES_POW(X)                                                                                                \
    X(pow_square, alike(s, image(s, 3, 5, 4), .op = YS_OP_POW, .exponent = 2))                                         \
    X(pow_cube, alike(s, features(s, 37), .op = YS_OP_POW, .exponent = 3))                                             \
    X(pow_fraction, alike(s, positive(s, image(s, 3, 5, 4)), .op = YS_OP_POW, .exponent = 1.7))                        \
    X(pow_negative, alike(s, positive(s, features(s, 37)), .op = YS_OP_POW, .exponent = -0.5))

#define YS_CASES_EXP(X)                                                                                                \
    X(exp_image, alike(s, image(s, 3, 5, 4), .op = YS_OP_EXP))                                                         \
    X(exp_features,                                                                                                    \
      alike(s, alike(s, features(s, 37), .op = YS_OP_TANH), .op = YS_OP_EXP)) /* bounded: else it diverges */

#define YS_CASES_ELU(X)                                                                                                \
    X(elu_image, (WIDE(s), alike(s, image(s, 3, 5, 4), .op = YS_OP_ELU, .slope = 1)))                                  \
    X(elu_features, (WIDE(s), alike(s, features(s, 37), .op = YS_OP_ELU, .slope = 0.3)))

#define YS_CASES_SELU(X)                                                                                               \
    X(selu_image, (WIDE(s), alike(s, image(s, 3, 5, 4), .op = YS_OP_SELU, .slope = 1.6732632423543772,                 \
                                  .gamma = 1.0507009873554805)))                                                       \
    X(selu_features, (WIDE(s), alike(s, features(s, 37), .op = YS_OP_SELU, .slope = 0.5, .gamma = 2)))

#define YS_CASES_CELU(X)                                                                                               \
    X(celu_image, (WIDE(s), alike(s, image(s, 3, 5, 4), .op = YS_OP_CELU, .slope = 1)))                                \
    X(celu_features, (WIDE(s), alike(s, features(s, 37), .op = YS_OP_CELU, .slope = 2.5)))

#define YS_CASES_SOFTPLUS(X)                                                                                           \
    X(softplus_image, (WIDE(s), alike(s, image(s, 3, 5, 4), .op = YS_OP_SOFTPLUS)))                                    \
    X(softplus_features, (WIDE(s), alike(s, features(s, 37), .op = YS_OP_SOFTPLUS)))

#define YS_CASES_SOFTSIGN(X)                                                                                           \
    X(softsign_image, (WIDE(s), alike(s, image(s, 3, 5, 4), .op = YS_OP_SOFTSIGN)))                                    \
    X(softsign_features, (WIDE(s), alike(s, features(s, 37), .op = YS_OP_SOFTSIGN)))

#define YS_CASES_MISH(X)                                                                                               \
    X(mish_image, (WIDE(s), alike(s, image(s, 3, 5, 4), .op = YS_OP_MISH)))                                            \
    X(mish_features, (WIDE(s), alike(s, features(s, 37), .op = YS_OP_MISH)))

#define YS_CASES_SOFTMAX(X)                                                                                            \
    X(softmax_features, alike(s, features(s, 11), .op = YS_OP_SOFTMAX, .axis = 1))                                     \
    X(softmax_channels, alike(s, image(s, 5, 3, 4), .op = YS_OP_SOFTMAX, .axis = 1))                                   \
    X(softmax_rows, alike(s, image(s, 2, 6, 3), .op = YS_OP_SOFTMAX, .axis = 2))                                       \
    X(softmax_columns, alike(s, image(s, 2, 3, 7), .op = YS_OP_SOFTMAX, .axis = 3))

#define YS_CASES_LOG_SOFTMAX(X)                                                                                        \
    X(log_softmax_features, alike(s, features(s, 11), .op = YS_OP_LOG_SOFTMAX, .axis = 1))                             \
    X(log_softmax_channels, alike(s, image(s, 5, 3, 4), .op = YS_OP_LOG_SOFTMAX, .axis = 1))                           \
    X(log_softmax_rows, alike(s, image(s, 2, 6, 3), .op = YS_OP_LOG_SOFTMAX, .axis = 2))                               \
    X(log_softmax_columns, alike(s, image(s, 2, 3, 7), .op = YS_OP_LOG_SOFTMAX, .axis = 3))

/** What the operators of two values share, `op` being add or another: alike values; the stretched and the parameters.
 */
#define YS_CASES_BOTH(X, op, OP)                                                                                       \
    X(op##_images, both(s, YS_OP_##OP, 3, 4, 5))                                                                       \
    X(op##_features, both(s, YS_OP_##OP, 9, 0, 0))
#define YS_CASES_OPERAND(X, op, OP)                                                                                    \
    X(op##_stretched, stretched(s, YS_OP_##OP))                                                                        \
    X(op##_param_row, operand(s, YS_OP_##OP, image(s, 3, 4, 5), 3, 4, 5))                                              \
    X(op##_param_channels, operand(s, YS_OP_##OP, image(s, 3, 4, 5), 3, 1, 1))                                         \
    X(op##_param_last_axis, operand(s, YS_OP_##OP, reshape(s, image(s, 4, 2, 6), 8, 6), 6))                            \
    X(op##_param_features, operand(s, YS_OP_##OP, features(s, 9), 9))

#define YS_CASES_ADD(X)                                                                                                \
    YS_CASES_BOTH(X, add, ADD)                                                                                         \
    X(add_to_itself, twice(s, YS_OP_ADD, image(s, 3, 4, 5)))                                                           \
    X(add_behind_relu, beside_relu(s, YS_OP_ADD, image(s, 3, 4, 5)))                                                   \
    YS_CASES_OPERAND(X, add, ADD)

#define YS_CASES_SUB(X)                                                                                                \
    YS_CASES_BOTH(X, sub, SUB)                                                                                         \
    X(sub_behind_relu, beside_relu(s, YS_OP_SUB, image(s, 3, 4, 5)))                                                   \
    YS_CASES_OPERAND(X, sub, SUB)

#define YS_CASES_MUL(X)                                                                                                \
    YS_CASES_BOTH(X, mul, MUL)                                                                                         \
    X(mul_with_itself, twice(s, YS_OP_MUL, image(s, 3, 4, 5)))                                                         \
    X(mul_behind_relu, beside_relu(s, YS_OP_MUL, image(s, 3, 4, 5)))                                                   \
    YS_CASES_OPERAND(X, mul, MUL)

#define YS_CASES_DIV(X)                                                                                                \
    X(div_images, join(s, YS_OP_DIV, image(s, 3, 4, 5), divisor(s, image(s, 3, 4, 5))))                                \
    X(div_features, join(s, YS_OP_DIV, features(s, 9), divisor(s, features(s, 9))))                                    \
    YS_CASES_OPERAND(X, div, DIV)

#define YS_CASES_CONCAT(X)                                                                                             \
    X(concat_channels, concat(s, 1, 3, 4, 5, 2, 2))                                                                    \
    X(concat_rows, concat(s, 2, 3, 4, 5, 2, 2))                                                                        \
    X(concat_columns, concat(s, 3, 2, 3, 3, 4, 2))                                                                     \
    X(concat_features, concat(s, 1, 5, 0, 0, 1, 8))                                                                    \
    X(concat_many, concat(s, 1, 2, 0, 0, 1, 20))                                                                       \
    X(concat_of_one_value, concat_itself(s, image(s, 3, 4, 5)))

#define YS_CASES_SPLIT(X)                                                                                              \
    X(split_channels, split(s, image(s, 7, 3, 4), 1, 2, 4, 1))                                                         \
    X(split_rows, split(s, image(s, 2, 5, 4), 2, 2, 3))                                                                \
    X(split_columns, split(s, image(s, 3, 2, 6), 3, 5, 1))                                                             \
    X(split_one_part_read, second_part(s, image(s, 5, 3, 4), 2, 1, 2))                                                 \
    X(split_features, split(s, features(s, 11), 1, 1, 2, 5, 3))

#define YS_CASES_RESHAPE(X)                                                                                            \
    X(reshape_channels, reshape(s, image(s, 4, 3, 5), 2, 6, 5))                                                        \
    X(reshape_to_matrix, reshape(s, image(s, 3, 4, 5), 60))                                                            \
    X(reshape_to_rank_3, reshape(s, image(s, 4, 2, 6), 8, 6))                                                          \
    X(reshape_behind_conv, reshape(s, conv(s, image(s, 3, 4, 5), 4, SQUARE(2, 1, 0)), 2, 6, 4))

#define YS_CASES_TRANSPOSE(X)                                                                                          \
    X(transpose_to_channels_last, transpose(s, image(s, 3, 4, 5), 0, 2, 3, 1))                                         \
    X(transpose_to_channels_first, transpose(s, image(s, 3, 4, 5), 0, 3, 1, 2))                                        \
    X(transpose_rows_and_columns, transpose(s, image(s, 2, 3, 4), 0, 1, 3, 2))                                         \
    X(transpose_shuffled_channels, transpose(s, reshape(s, image(s, 6, 2, 3), 2, 3, 2, 3), 0, 2, 1, 3, 4))

#define YS_CASES_PAD(X)                                                                                                \
    X(pad_zeros, padded(s, image(s, 3, 4, 5), YS_PAD_CONSTANT, 0, 0, 1, 2, 0, 3, 0))                                   \
    X(pad_value, padded(s, image(s, 2, 3, 4), YS_PAD_CONSTANT, -1.5, 0, 0, 1, 0, 1, 0))                                \
    X(pad_channels, padded(s, image(s, 3, 4, 5), YS_PAD_CONSTANT, 0, 1, 0, 0, 2, 0, 0))                                \
    X(pad_reflect, padded(s, image(s, 3, 4, 5), YS_PAD_REFLECT, 0, 0, 1, 3, 0, 3, 4))                                  \
    X(pad_edge, padded(s, image(s, 3, 2, 3), YS_PAD_EDGE, 0, 0, 3, 2, 0, 1, 4))

#define YS_CASES_MEAN(X)                                                                                               \
    X(mean_over_image, mean(s, image(s, 5, 3, 4), false, 1 << 2 | 1 << 3))                                             \
    X(mean_over_channels, mean(s, image(s, 5, 3, 4), false, 1 << 1))                                                   \
    X(mean_over_rows, mean(s, image(s, 3, 4, 5), false, 1 << 2))                                                       \
    X(mean_keeping_axes, mean(s, image(s, 3, 4, 5), true, 1 << 1 | 1 << 3))

#define YS_CASES_DROPOUT(X)                                                                                            \
    X(dropout_image, alike(s, image(s, 3, 4, 5), .op = YS_OP_DROPOUT, .ratio = 0.5))                                   \
    X(dropout_features, alike(s, features(s, 37), .op = YS_OP_DROPOUT, .ratio = 0.25))

#endif
