#include "graph/model.h"
#include "base/mem.h"
#include "tap.h"
#include <math.h>

/* Layers with weights, worked out by hand: so many layers of one shape, each output channel of which sees `in` channels
 * through a square kernel and is computed at extent * extent places; `per_channel` parameters besides the weights: 1 a
 * bias, 2 the scale and shift of a batch normalisation. Dense layers have kernel and extent 1. */
struct layer {
    int64_t in, out, kernel, extent, times, per_channel;
};
#define END                                                                                                            \
    {                                                                                                                  \
        0, 0, 0, 0, 0, 0                                                                                               \
    }
#define DENSE(in, out)                                                                                                 \
    {                                                                                                                  \
        in, out, 1, 1, 1, 1                                                                                            \
    }

static const struct layer lenet[] = {
    {1, 32, 5, 28, 1, 1}, {32, 64, 5, 14, 1, 1}, DENSE(3136, 1024), DENSE(1024, 10), END};
static const struct layer mlp[] = {DENSE(784, 512), DENSE(512, 256), DENSE(256, 10), END};
static const struct layer fcn5[] = {DENSE(784, 2048), DENSE(2048, 4096), DENSE(4096, 1024), DENSE(1024, 10), END};
static const struct layer alexnet[] = {{3, 64, 11, 55, 1, 1},   {64, 192, 5, 27, 1, 1},  {192, 384, 3, 13, 1, 1},
                                       {384, 256, 3, 13, 1, 1}, {256, 256, 3, 13, 1, 1}, DENSE(9216, 4096),
                                       DENSE(4096, 4096),       DENSE(4096, 1000),       END};
static const struct layer alexnet_cifar[] = {
    {3, 32, 5, 32, 1, 1}, {32, 32, 5, 16, 1, 1}, {32, 64, 5, 8, 1, 1}, DENSE(1024, 10), END};
static const struct layer vgg16[] = {{3, 64, 3, 224, 1, 1},
                                     {64, 64, 3, 224, 1, 1},
                                     {64, 128, 3, 112, 1, 1},
                                     {128, 128, 3, 112, 1, 1},
                                     {128, 256, 3, 56, 1, 1},
                                     {256, 256, 3, 56, 2, 1},
                                     {256, 512, 3, 28, 1, 1},
                                     {512, 512, 3, 28, 2, 1},
                                     {512, 512, 3, 14, 3, 1},
                                     DENSE(25088, 4096),
                                     DENSE(4096, 4096),
                                     DENSE(4096, 1000),
                                     END};
static const struct layer squeezenet[] = {{3, 64, 3, 111, 1, 1},
                                          {64, 16, 1, 55, 1, 1},
                                          {128, 16, 1, 55, 1, 1},
                                          {16, 64, 1, 55, 2, 1},
                                          {16, 64, 3, 55, 2, 1},
                                          {128, 32, 1, 27, 1, 1},
                                          {256, 32, 1, 27, 1, 1},
                                          {32, 128, 1, 27, 2, 1},
                                          {32, 128, 3, 27, 2, 1},
                                          {256, 48, 1, 13, 1, 1},
                                          {384, 48, 1, 13, 1, 1},
                                          {48, 192, 1, 13, 2, 1},
                                          {48, 192, 3, 13, 2, 1},
                                          {384, 64, 1, 13, 1, 1},
                                          {512, 64, 1, 13, 1, 1},
                                          {64, 256, 1, 13, 2, 1},
                                          {64, 256, 3, 13, 2, 1},
                                          {512, 1000, 1, 13, 1, 1},
                                          END};
static const struct layer resnet20[] = {
    {3, 16, 3, 32, 1, 2}, {16, 16, 3, 32, 6, 2}, {16, 32, 3, 16, 1, 2}, {32, 32, 3, 16, 5, 2}, {16, 32, 1, 16, 1, 2},
    {32, 64, 3, 8, 1, 2}, {64, 64, 3, 8, 5, 2},  {32, 64, 1, 8, 1, 2},  DENSE(64, 10),         END};
static const struct layer resnet56[] = {
    {3, 16, 3, 32, 1, 2}, {16, 16, 3, 32, 18, 2}, {16, 32, 3, 16, 1, 2}, {32, 32, 3, 16, 17, 2}, {16, 32, 1, 16, 1, 2},
    {32, 64, 3, 8, 1, 2}, {64, 64, 3, 8, 17, 2},  {32, 64, 1, 8, 1, 2},  DENSE(64, 10),          END};
#define RESNET50(e2, e3, e4)                                                                                           \
    {                                                                                                                  \
        {3, 64, 7, 112, 1, 2}, {64, 64, 1, 56, 1, 2}, {256, 64, 1, 56, 2, 2}, {64, 64, 3, 56, 3, 2},                   \
            {64, 256, 1, 56, 4, 2}, {256, 128, 1, e2, 1, 2}, {512, 128, 1, 28, 3, 2}, {128, 128, 3, 28, 4, 2},         \
            {128, 512, 1, 28, 4, 2}, {256, 512, 1, 28, 1, 2}, {512, 256, 1, e3, 1, 2}, {1024, 256, 1, 14, 5, 2},       \
            {256, 256, 3, 14, 6, 2}, {256, 1024, 1, 14, 6, 2}, {512, 1024, 1, 14, 1, 2}, {1024, 512, 1, e4, 1, 2},     \
            {2048, 512, 1, 7, 2, 2}, {512, 512, 3, 7, 3, 2}, {512, 2048, 1, 7, 3, 2}, {1024, 2048, 1, 7, 1, 2},        \
            DENSE(2048, 1000), END                                                                                     \
    }
static const struct layer resnet50[] = RESNET50(56, 28, 14), resnet50_v1[] = RESNET50(28, 14, 7);
static const struct layer mobilenet_v2[] = {
    {3, 32, 3, 112, 1, 2},  {1, 32, 3, 112, 1, 2},   {32, 16, 1, 112, 1, 2}, {16, 96, 1, 112, 1, 2},
    {1, 96, 3, 56, 1, 2},   {96, 24, 1, 56, 1, 2},   {24, 144, 1, 56, 2, 2}, {1, 144, 3, 56, 1, 2},
    {144, 24, 1, 56, 1, 2}, {1, 144, 3, 28, 1, 2},   {144, 32, 1, 28, 1, 2}, {32, 192, 1, 28, 3, 2},
    {1, 192, 3, 28, 2, 2},  {192, 32, 1, 28, 2, 2},  {1, 192, 3, 14, 1, 2},  {192, 64, 1, 14, 1, 2},
    {64, 384, 1, 14, 4, 2}, {1, 384, 3, 14, 4, 2},   {384, 64, 1, 14, 3, 2}, {384, 96, 1, 14, 1, 2},
    {96, 576, 1, 14, 3, 2}, {1, 576, 3, 14, 2, 2},   {576, 96, 1, 14, 2, 2}, {1, 576, 3, 7, 1, 2},
    {576, 160, 1, 7, 1, 2}, {160, 960, 1, 7, 3, 2},  {1, 960, 3, 7, 3, 2},   {960, 160, 1, 7, 2, 2},
    {960, 320, 1, 7, 1, 2}, {320, 1280, 1, 7, 1, 2}, DENSE(1280, 1000),      END};

static const struct layer resnet18[] = {{3, 64, 7, 112, 1, 2},
                                        {64, 64, 3, 56, 4, 2},
                                        {64, 128, 3, 28, 1, 2},
                                        {128, 128, 3, 28, 3, 2},
                                        {64, 128, 1, 28, 1, 2},
                                        {128, 256, 3, 14, 1, 2},
                                        {256, 256, 3, 14, 3, 2},
                                        {128, 256, 1, 14, 1, 2},
                                        {256, 512, 3, 7, 1, 2},
                                        {512, 512, 3, 7, 3, 2},
                                        {256, 512, 1, 7, 1, 2},
                                        DENSE(512, 1000),
                                        END};
/* Whose batch normalisation stands before the convolutions: channels without weights. */
static const struct layer densenet121[] = {{3, 64, 7, 112, 1, 0},   {0, 64, 1, 0, 2, 2},      {64, 128, 1, 56, 1, 2},
                                           {128, 32, 3, 56, 6, 0},  {0, 96, 1, 0, 1, 2},      {96, 128, 1, 56, 1, 2},
                                           {0, 128, 1, 0, 2, 2},    {128, 128, 1, 56, 1, 2},  {0, 160, 1, 0, 2, 2},
                                           {160, 128, 1, 56, 1, 2}, {0, 192, 1, 0, 2, 2},     {192, 128, 1, 56, 1, 2},
                                           {0, 224, 1, 0, 2, 2},    {224, 128, 1, 56, 1, 2},  {0, 256, 1, 0, 3, 2},
                                           {256, 128, 1, 56, 1, 0}, {128, 128, 1, 28, 1, 2},  {128, 32, 3, 28, 12, 0},
                                           {160, 128, 1, 28, 1, 2}, {192, 128, 1, 28, 1, 2},  {224, 128, 1, 28, 1, 2},
                                           {256, 128, 1, 28, 1, 2}, {0, 288, 1, 0, 2, 2},     {288, 128, 1, 28, 1, 2},
                                           {0, 320, 1, 0, 2, 2},    {320, 128, 1, 28, 1, 2},  {0, 352, 1, 0, 2, 2},
                                           {352, 128, 1, 28, 1, 2}, {0, 384, 1, 0, 2, 2},     {384, 128, 1, 28, 1, 2},
                                           {0, 416, 1, 0, 2, 2},    {416, 128, 1, 28, 1, 2},  {0, 448, 1, 0, 2, 2},
                                           {448, 128, 1, 28, 1, 2}, {0, 480, 1, 0, 2, 2},     {480, 128, 1, 28, 1, 2},
                                           {0, 512, 1, 0, 3, 2},    {512, 256, 1, 28, 1, 0},  {256, 128, 1, 14, 1, 2},
                                           {128, 32, 3, 14, 24, 0}, {288, 128, 1, 14, 1, 2},  {320, 128, 1, 14, 1, 2},
                                           {352, 128, 1, 14, 1, 2}, {384, 128, 1, 14, 1, 2},  {416, 128, 1, 14, 1, 2},
                                           {448, 128, 1, 14, 1, 2}, {480, 128, 1, 14, 1, 2},  {512, 128, 1, 14, 1, 2},
                                           {0, 544, 1, 0, 2, 2},    {544, 128, 1, 14, 1, 2},  {0, 576, 1, 0, 2, 2},
                                           {576, 128, 1, 14, 1, 2}, {0, 608, 1, 0, 2, 2},     {608, 128, 1, 14, 1, 2},
                                           {0, 640, 1, 0, 2, 2},    {640, 128, 1, 14, 1, 2},  {0, 672, 1, 0, 2, 2},
                                           {672, 128, 1, 14, 1, 2}, {0, 704, 1, 0, 2, 2},     {704, 128, 1, 14, 1, 2},
                                           {0, 736, 1, 0, 2, 2},    {736, 128, 1, 14, 1, 2},  {0, 768, 1, 0, 2, 2},
                                           {768, 128, 1, 14, 1, 2}, {0, 800, 1, 0, 2, 2},     {800, 128, 1, 14, 1, 2},
                                           {0, 832, 1, 0, 2, 2},    {832, 128, 1, 14, 1, 2},  {0, 864, 1, 0, 2, 2},
                                           {864, 128, 1, 14, 1, 2}, {0, 896, 1, 0, 2, 2},     {896, 128, 1, 14, 1, 2},
                                           {0, 928, 1, 0, 2, 2},    {928, 128, 1, 14, 1, 2},  {0, 960, 1, 0, 2, 2},
                                           {960, 128, 1, 14, 1, 2}, {0, 992, 1, 0, 2, 2},     {992, 128, 1, 14, 1, 2},
                                           {0, 1024, 1, 0, 2, 2},   {1024, 512, 1, 14, 1, 0}, {512, 128, 1, 7, 1, 2},
                                           {128, 32, 3, 7, 16, 0},  {544, 128, 1, 7, 1, 2},   {576, 128, 1, 7, 1, 2},
                                           {608, 128, 1, 7, 1, 2},  {640, 128, 1, 7, 1, 2},   {672, 128, 1, 7, 1, 2},
                                           {704, 128, 1, 7, 1, 2},  {736, 128, 1, 7, 1, 2},   {768, 128, 1, 7, 1, 2},
                                           {800, 128, 1, 7, 1, 2},  {832, 128, 1, 7, 1, 2},   {864, 128, 1, 7, 1, 2},
                                           {896, 128, 1, 7, 1, 2},  {928, 128, 1, 7, 1, 2},   {960, 128, 1, 7, 1, 2},
                                           {992, 128, 1, 7, 1, 2},  DENSE(1024, 1000),        END};
static const struct layer shufflenet_v2[] = {{3, 24, 3, 112, 1, 2},   {1, 24, 3, 28, 1, 2},     {24, 58, 1, 28, 1, 2},
                                             {24, 58, 1, 56, 1, 2},   {1, 58, 3, 28, 4, 2},     {58, 58, 1, 28, 7, 2},
                                             {1, 116, 3, 14, 9, 2},   {116, 116, 1, 14, 16, 2}, {116, 116, 1, 28, 1, 2},
                                             {1, 232, 3, 7, 5, 2},    {232, 232, 1, 7, 8, 2},   {232, 232, 1, 14, 1, 2},
                                             {464, 1024, 1, 7, 1, 2}, DENSE(1024, 1000),        END};
static const struct layer mobilenet_v3[] = {{3, 16, 3, 112, 1, 2},
                                            {1, 16, 3, 112, 1, 2},
                                            {16, 16, 1, 112, 1, 2},
                                            {16, 64, 1, 112, 1, 2},
                                            {1, 64, 3, 56, 1, 2},
                                            {64, 24, 1, 56, 1, 2},
                                            {24, 72, 1, 56, 2, 2},
                                            {1, 72, 3, 56, 1, 2},
                                            {72, 24, 1, 56, 1, 2},
                                            {1, 72, 5, 28, 1, 2},
                                            DENSE(72, 24),
                                            DENSE(24, 72),
                                            {72, 40, 1, 28, 1, 2},
                                            {40, 120, 1, 28, 2, 2},
                                            {1, 120, 5, 28, 2, 2},
                                            {120, 32, 1, 1, 2, 1},
                                            {32, 120, 1, 1, 2, 1},
                                            {120, 40, 1, 28, 2, 2},
                                            {40, 240, 1, 28, 1, 2},
                                            {1, 240, 3, 14, 1, 2},
                                            {240, 80, 1, 14, 1, 2},
                                            {80, 200, 1, 14, 1, 2},
                                            {1, 200, 3, 14, 1, 2},
                                            {200, 80, 1, 14, 1, 2},
                                            {80, 184, 1, 14, 2, 2},
                                            {1, 184, 3, 14, 2, 2},
                                            {184, 80, 1, 14, 2, 2},
                                            {80, 480, 1, 14, 1, 2},
                                            {1, 480, 3, 14, 1, 2},
                                            DENSE(480, 120),
                                            DENSE(120, 480),
                                            {480, 112, 1, 14, 1, 2},
                                            {112, 672, 1, 14, 2, 2},
                                            {1, 672, 3, 14, 1, 2},
                                            {672, 168, 1, 1, 2, 1},
                                            {168, 672, 1, 1, 2, 1},
                                            {672, 112, 1, 14, 1, 2},
                                            {1, 672, 5, 7, 1, 2},
                                            {672, 160, 1, 7, 1, 2},
                                            {160, 960, 1, 7, 3, 2},
                                            {1, 960, 5, 7, 2, 2},
                                            {960, 240, 1, 1, 2, 1},
                                            {240, 960, 1, 1, 2, 1},
                                            {960, 160, 1, 7, 2, 2},
                                            DENSE(960, 1280),
                                            DENSE(1280, 1000),
                                            END};
static const struct layer efficientnet_b0[] = {{3, 32, 3, 112, 1, 2},
                                               {1, 32, 3, 112, 1, 2},
                                               DENSE(32, 8),
                                               DENSE(8, 32),
                                               {32, 16, 1, 112, 1, 2},
                                               {16, 96, 1, 112, 1, 2},
                                               {1, 96, 3, 56, 1, 2},
                                               DENSE(96, 4),
                                               DENSE(4, 96),
                                               {96, 24, 1, 56, 1, 2},
                                               {24, 144, 1, 56, 2, 2},
                                               {1, 144, 3, 56, 1, 2},
                                               {144, 6, 1, 1, 2, 1},
                                               {6, 144, 1, 1, 2, 1},
                                               {144, 24, 1, 56, 1, 2},
                                               {1, 144, 5, 28, 1, 2},
                                               {144, 40, 1, 28, 1, 2},
                                               {40, 240, 1, 28, 2, 2},
                                               {1, 240, 5, 28, 1, 2},
                                               {240, 10, 1, 1, 2, 1},
                                               {10, 240, 1, 1, 2, 1},
                                               {240, 40, 1, 28, 1, 2},
                                               {1, 240, 3, 14, 1, 2},
                                               {240, 80, 1, 14, 1, 2},
                                               {80, 480, 1, 14, 3, 2},
                                               {1, 480, 3, 14, 2, 2},
                                               {480, 20, 1, 1, 3, 1},
                                               {20, 480, 1, 1, 3, 1},
                                               {480, 80, 1, 14, 2, 2},
                                               {1, 480, 5, 14, 1, 2},
                                               {480, 112, 1, 14, 1, 2},
                                               {112, 672, 1, 14, 3, 2},
                                               {1, 672, 5, 14, 2, 2},
                                               {672, 28, 1, 1, 3, 1},
                                               {28, 672, 1, 1, 3, 1},
                                               {672, 112, 1, 14, 2, 2},
                                               {1, 672, 5, 7, 1, 2},
                                               {672, 192, 1, 7, 1, 2},
                                               {192, 1152, 1, 7, 4, 2},
                                               {1, 1152, 5, 7, 3, 2},
                                               {1152, 48, 1, 1, 4, 1},
                                               {48, 1152, 1, 1, 4, 1},
                                               {1152, 192, 1, 7, 3, 2},
                                               {1, 1152, 3, 7, 1, 2},
                                               {1152, 320, 1, 7, 1, 2},
                                               {320, 1280, 1, 7, 1, 2},
                                               DENSE(1280, 1000),
                                               END};

/* Layer normalisations: a scale and a shift for each channel. At the end of a block: a factor for each channel. */
static const struct layer convnext_tiny[] = {{3, 96, 4, 56, 1, 1},     {0, 96, 1, 0, 5, 2},
                                             {1, 96, 7, 56, 3, 1},     {96, 384, 1, 56, 3, 1},
                                             {384, 96, 1, 56, 3, 1},   {0, 96, 1, 0, 3, 1},
                                             {96, 192, 2, 28, 1, 1},   {1, 192, 7, 28, 3, 1},
                                             {0, 192, 1, 0, 4, 2},     {192, 768, 1, 28, 3, 1},
                                             {768, 192, 1, 28, 3, 1},  {0, 192, 1, 0, 3, 1},
                                             {192, 384, 2, 14, 1, 1},  {1, 384, 7, 14, 9, 1},
                                             {0, 384, 1, 0, 10, 2},    {384, 1536, 1, 14, 9, 1},
                                             {1536, 384, 1, 14, 9, 1}, {0, 384, 1, 0, 9, 1},
                                             {384, 768, 2, 7, 1, 1},   {1, 768, 7, 7, 3, 1},
                                             {0, 768, 1, 0, 4, 2},     {768, 3072, 1, 7, 3, 1},
                                             {3072, 768, 1, 7, 3, 1},  {0, 768, 1, 0, 3, 1},
                                             DENSE(768, 1000),         END};

/* Class token and positions are parameters without a product; dense layers of 197 positions are no square. */
static const struct layer vit_tiny[] = {
    {3, 192, 16, 14, 1, 1},      {0, 192, 1, 0, 1 + 197, 1}, {0, 192, 1, 0, 2 * 12 + 1, 2},
    {192, 3 * 192, 1, 0, 12, 1}, {192, 192, 1, 0, 12, 1},    {192, 4 * 192, 1, 0, 12, 1},
    {4 * 192, 192, 1, 0, 12, 1}, DENSE(192, 1000),           END};

/* Published: parameters, and multiply-adds in 10^9 to two decimals as torchvision's tables have them; 0 where no exact
 * figure is. `more`: multiply-adds of what is no square. */
static const struct {
    const char *name;
    const struct layer *layers;
    int64_t parameters;
    double giga;
    int64_t more;
} counts[] = {
    {"lenet", lenet, 0, 0, 0},
    {"mlp", mlp, 0, 0, 0},
    {"fcn5", fcn5, 0, 0, 0},
    {"alexnet", alexnet, 61100840, 0.71, 0},
    {"alexnet-cifar", alexnet_cifar, 0, 0, 0},
    {"vgg16", vgg16, 138357544, 15.47, 0},
    {"squeezenet", squeezenet, 1235496, 0.35, 0},
    {"resnet20", resnet20, 272474, 0, 0},
    {"resnet56", resnet56, 0, 0, 0},
    {"resnet50", resnet50, 25557032, 4.09, 0},
    {"resnet50-v1", resnet50_v1, 25557032, 0, 0},
    {"mobilenet-v2", mobilenet_v2, 3504872, 0.30, 0},
    {"resnet18", resnet18, 11689512, 1.81, 0},
    {"densenet121", densenet121, 7978856, 2.83, 0},
    {"shufflenet-v2", shufflenet_v2, 2278604, 0.145, 0},
    {"mobilenet-v3", mobilenet_v3, 5483032, 0.217, 0},
    {"efficientnet-b0", efficientnet_b0, 5288548, 0.386, 0},
    {"convnext-tiny", convnext_tiny, 28589128, 4.456, 0},
    {"vit-tiny", vit_tiny, 5717416, 0, 12 * 197 * (12LL * 192 * 192 + 2 * 197 * 192)},
};
enum { COUNTS = sizeof counts / sizeof counts[0] };

static struct ys_graph *usual(const char *name)
{
    const struct ys_model *model = ys_model_find(name);
    struct ys_graph *graph = NULL;
    if (!model || model->build(&model->usual, &graph) != YS_OK)
        tap_check(false, __LINE__, "%s: %s", name, model ? ys_error() : "no such model");
    return graph;
}

static void counts_are_the_published_ones_and_those_of_the_layers(void)
{
    for (size_t i = 0; i < COUNTS; i++) {
        struct ys_graph *graph = usual(counts[i].name);
        REQUIRE(graph);
        int64_t parameters = 0, multiply_adds = counts[i].more;
        for (const struct layer *l = counts[i].layers; l->times; l++) {
            int64_t weights = l->in * l->out * l->kernel * l->kernel;
            parameters += l->times * (weights + l->per_channel * l->out);
            multiply_adds += l->times * weights * l->extent * l->extent;
        }
        int64_t counted = ys_graph_parameter_count(graph), work = ys_graph_multiply_adds(graph);
        tap_check(counted == parameters, __LINE__, "%s: %lld parameters, its layers have %lld", counts[i].name,
                  (long long)counted, (long long)parameters);
        tap_check(work == multiply_adds, __LINE__, "%s: %lld multiply-adds, its layers have %lld", counts[i].name,
                  (long long)work, (long long)multiply_adds);
        tap_check(!counts[i].parameters || counted == counts[i].parameters, __LINE__, "%s: %lld parameters published",
                  counts[i].name, (long long)counts[i].parameters);
        tap_check(counts[i].giga == 0 || fabs((double)work * 1e-9 - counts[i].giga) <= 0.005, __LINE__,
                  "%s: %.2f * 10^9 multiply-adds published", counts[i].name, counts[i].giga);
        ys_graph_free(graph);
    }
}

static void every_model_is_in_the_table_once(void)
{
    size_t models = 0;
    for (const struct ys_model *model = ys_models(); model->name; model++) {
        int found = 0;
        if (model->rows) /* of sequences: test_sequence.c */
            continue;
        models++;
        for (size_t i = 0; i < COUNTS; i++)
            found += strcmp(counts[i].name, model->name) == 0;
        tap_check(found == 1, __LINE__, "%s is in the table %d times", model->name, found);
        CHECK(ys_model_find(model->name) == model);
    }
    CHECK_INT(models, COUNTS);
    CHECK(ys_model_find("resnet999") == NULL);
    CHECK(ys_model_find("") == NULL);
}

static void every_model_begins_with_pixels_and_ends_in_its_classes(void)
{
    for (const struct ys_model *model = ys_models(); model->name; model++) {
        if (model->rows) /* of sequences: test_sequence.c */
            continue;
        struct ys_graph *graph = usual(model->name);
        REQUIRE(graph);
        CHECK_TEXT(graph->name, model->name);
        CHECK_INT(graph->nodes[0].op, YS_OP_NORMALIZE);
        CHECK_INT(graph->values[graph->output].shape[1], model->usual.classes);
        CHECK_INT(graph->loss, YS_LOSS_SOFTMAX_CROSS_ENTROPY);
        CHECK(graph->label_smoothing == 0);
        ys_graph_free(graph);
    }
}

/** Builds `name` for another input; its message is to hold `message`, or, with NULL, it is to have the parameters. */
static void build_for(const char *name, int64_t channels, int64_t height, int64_t width, int64_t classes,
                      int64_t parameters, const char *message)
{
    const struct ys_model_input input = {
        .shape = {channels, height, width}, .dtype = YS_F32, .scale = 1, .classes = classes};
    struct ys_graph *graph = NULL;
    ys_status status = ys_model_find(name)->build(&input, &graph);
    if (message) {
        tap_check(status == YS_EINVAL && !graph, __LINE__, "%s: %d", name, (int)status);
        CHECK_HAS(ys_error(), message);
    } else if (CHECK(status == YS_OK)) {
        tap_check(ys_graph_parameter_count(graph) == parameters, __LINE__, "%s on %lldx%lldx%lld has %lld parameters",
                  name, (long long)channels, (long long)height, (long long)width,
                  (long long)ys_graph_parameter_count(graph));
        CHECK_INT(graph->values[graph->inputs[0]].dtype, YS_F32);
        CHECK_INT(graph->values[graph->output].shape[1], classes);
    }
    ys_graph_free(graph);
}

static void models_adapt_to_the_data(void)
{
    build_for("lenet", 3, 32, 32, 100, 3 * 32 * 25 + 32 + 51264 + 64 * 64 * 1024 + 1024 + 1024 * 100 + 100, NULL);
    build_for("mlp", 3, 32, 32, 100, 3072 * 512 + 512 + 512 * 256 + 256 + 256 * 100 + 100, NULL);
    /* Global pooling: one channel in place of three, and another last layer, are all that changes, on any extent. */
    build_for("resnet50", 1, 28, 28, 10, 25557032 - 2 * 64 * 49 - 990 * 2049, NULL);
    build_for("resnet50", 1, 1, 1, 10, 25557032 - 2 * 64 * 49 - 990 * 2049, NULL);
    build_for("mobilenet-v2", 3, 32, 32, 10, 3504872 - 990 * 1281, NULL);
    build_for("resnet18", 3, 32, 32, 10, 11689512 - 990 * 513, NULL);
    build_for("shufflenet-v2", 3, 32, 32, 10, 2278604 - 990 * 1025, NULL);
    build_for("mobilenet-v3", 3, 32, 32, 10, 5483032 - 990 * 1281, NULL);
    build_for("efficientnet-b0", 3, 32, 32, 10, 5288548 - 990 * 1281, NULL);
    build_for("densenet121", 3, 32, 32, 10, 7978856 - 990 * 1025, NULL);
    build_for("convnext-tiny", 3, 32, 32, 10, 28589128 - 990 * 769, NULL);
    build_for("vit-tiny", 3, 32, 32, 10, 5717416 - (196 - 4) * 192 - 990 * 193, NULL);
    build_for("squeezenet", 3, 32, 32, 10, 1235496 - 990 * 513, NULL);
    build_for("resnet20", 1, 28, 28, 10, 272474 - 2 * 16 * 9, NULL);
    /* Behind five halvings 32x32 is one pixel: 512 features in place of 512 * 49. */
    build_for("vgg16", 3, 32, 32, 10, 138357544 - 512 * 48 * 4096 - 990 * 4097, NULL);
}

static void data_that_do_not_fit_are_refused(void)
{
    build_for("lenet", 1, 3, 28, 10, 0,
              "model lenet on [N,1,3,28]: node pool2 (MaxPool): a window of height 2 does not");
    build_for("vgg16", 1, 28, 28, 10, 0, "model vgg16 on [N,1,28,28]: node pool5 (MaxPool): a window of height 2");
    build_for("alexnet", 3, 32, 32, 10, 0, "model alexnet on [N,3,32,32]: node pool5 (MaxPool): a window of height 3");
    build_for("densenet121", 1, 28, 28, 10, 0, "node transition3.pool (AveragePool): a window of height 2");
    build_for("mlp", 1, 28, 28, 1, 0, "model mlp: 1 classes in the data: must be 2 to 65536");
    build_for("mlp", 0, 28, 28, 10, 0, "model mlp: channels 0 of the data: must be 1 to 65536");
    build_for("mlp", 1, 28, 65537, 10, 0, "model mlp: width 65537 of the data");
    build_for("mlp", 65536, 65536, 65536, 10, 0, "more than 2^40 elements");
    build_for("vit-tiny", 1, 28, 32, 10, 0,
              "model vit-tiny cuts its rows into patches of 16x16, and those of the data have 28x32");
    struct ys_model_input input = {.shape = {1, 28, 28}, .dtype = YS_I64, .scale = 1, .classes = 10};
    struct ys_graph *graph = NULL;
    CHECK(ys_model_find("mlp")->build(&input, &graph) == YS_EINVAL);
    CHECK(!graph);
}

/** What consumes each convolution of the model, and whether it has a bias. */
static void biases_are_left_out_where_batch_normalisation_follows(void)
{
    for (const struct ys_model *model = ys_models(); model->name; model++) {
        if (strcmp(model->name, "densenet121") == 0 || model->rows) /* which normalises what convolutions read; tied */
            continue;
        struct ys_graph *graph = usual(model->name);
        REQUIRE(graph);
        for (size_t i = 0; i < graph->node_count; i++) {
            const struct ys_node *node = &graph->nodes[i];
            const struct ys_node *before =
                node->op == YS_OP_BATCHNORM ? &graph->nodes[graph->values[node->in[0]].producer] : node;
            if (node->op == YS_OP_BATCHNORM)
                tap_check(before->op == YS_OP_CONV && before->bias < 0, __LINE__, "%s: %s", model->name, node->name);
            bool normalised = node->op == YS_OP_CONV && graph->nodes[i + 1].op == YS_OP_BATCHNORM;
            if (node->op == YS_OP_CONV || node->op == YS_OP_GEMM)
                tap_check((node->bias >= 0) == !normalised, __LINE__, "%s: %s", model->name, node->name);
        }
        ys_graph_free(graph);
    }
}

static void dropout_is_where_it_was_published(void)
{
    static const struct {
        const char *name;
        int count;
        double ratio;
    } cases[] = {
        {"alexnet", 2, 0.5}, {"vgg16", 2, 0.5},       {"squeezenet", 1, 0.5},   {"mobilenet-v2", 1, 0.2},
        {"resnet50", 0, 0},  {"alexnet-cifar", 0, 0}, {"mobilenet-v3", 1, 0.2}, {"efficientnet-b0", 1, 0.2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_graph *graph = usual(cases[i].name);
        REQUIRE(graph);
        int count = 0;
        for (size_t n = 0; n < graph->node_count; n++)
            if (graph->nodes[n].op == YS_OP_DROPOUT) {
                CHECK(graph->nodes[n].ratio == cases[i].ratio);
                count++;
            }
        tap_check(count == cases[i].count, __LINE__, "%s has %d", cases[i].name, count);
        CHECK_INT(ys_graph_has(graph, YS_OP_DROPOUT), count > 0);
        ys_graph_free(graph);
    }
}

static const struct ys_node *node_of(const struct ys_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (strcmp(graph->nodes[i].name, name) == 0)
            return &graph->nodes[i];
    tap_check(false, __LINE__, "%s has no node %s", graph->name, name);
    return &graph->nodes[0];
}

static void depthwise_weights_count_fan_out_over_all_channels(void)
{
    struct ys_graph *graph = usual("mobilenet-v2");
    REQUIRE(graph);
    const struct ys_node *node = node_of(graph, "block1.conv_depthwise");
    CHECK_INT(node->window.group, 32);
    CHECK(graph->params[node->weight].init.b == sqrt(2.0 / (32 * 9)));
    const struct ys_node *bn = node_of(graph, "block1.bn_depthwise");
    CHECK(bn->batchnorm.epsilon == 1e-5 && bn->batchnorm.momentum == 0.1);
    CHECK(graph->params[bn->weight].init.a == 1 && graph->params[bn->bias].init.a == 0);
    CHECK(graph->params[bn->running_mean].role == YS_ROLE_BUFFER && graph->params[bn->running_mean].init.a == 0);
    CHECK(graph->params[bn->running_var].role == YS_ROLE_BUFFER && graph->params[bn->running_var].init.a == 1);
    CHECK_TEXT(graph->params[bn->running_var].name, "block1.bn_depthwise.running_var");
    ys_graph_free(graph);
}

static void strides_stand_where_the_versions_have_them(void)
{
    struct ys_graph *later = usual("resnet50"), *first = usual("resnet50-v1");
    REQUIRE(later && first);
    CHECK_INT(node_of(later, "layer2.0.conv1")->window.stride[0], 1);
    CHECK_INT(node_of(later, "layer2.0.conv2")->window.stride[0], 2);
    CHECK_INT(node_of(first, "layer2.0.conv1")->window.stride[0], 2);
    CHECK_INT(node_of(first, "layer2.0.conv2")->window.stride[0], 1);
    CHECK_INT(node_of(later, "layer2.0.conv_projection")->window.stride[0], 2);
    CHECK_INT(node_of(later, "layer1.0.conv_projection")->window.stride[0], 1);
    /* A block's input is read by its first convolution and by its shortcut. */
    CHECK_INT(later->values[node_of(later, "layer1.1.conv1")->in[0]].uses, 2);
    ys_graph_free(later);
    ys_graph_free(first);
}

/** What tells these networks from plainer ones with the same counts. */
static void later_networks_have_their_own_numbers(void)
{
    struct ys_graph *v3 = usual("mobilenet-v3"), *b0 = usual("efficientnet-b0"), *shuffle = usual("shufflenet-v2");
    REQUIRE(v3 && b0 && shuffle);
    const struct ys_node *gate = node_of(v3, "block4.gate"), *weigh = node_of(b0, "block1.weigh");
    CHECK(gate->op == YS_OP_HARDSIGMOID && gate->slope == 1.0 / 6 && gate->shift == 0.5);
    CHECK(node_of(v3, "block1.bn_depthwise")->batchnorm.epsilon == 1e-3);
    CHECK(node_of(v3, "block1.bn_depthwise")->batchnorm.momentum == 0.01);
    CHECK(node_of(v3, "block6.act_expand")->op == YS_OP_RELU &&
          node_of(v3, "block7.act_expand")->op == YS_OP_HARDSWISH);
    CHECK(node_of(v3, "act_fc1")->op == YS_OP_HARDSWISH);
    CHECK(node_of(b0, "block1.gate")->op == YS_OP_SIGMOID && node_of(b0, "block1.act_squeeze")->op == YS_OP_SWISH);
    CHECK(weigh->op == YS_OP_MUL && weigh->broadcast);
    CHECK(b0->params[node_of(b0, "fc")->weight].init.b == sqrt(1.0 / 1000));
    /* The first half stays, the second goes through the convolutions; then the halves take turns. */
    const struct ys_node *split = node_of(shuffle, "stage2.1.split"), *join = node_of(shuffle, "stage2.1.concat");
    CHECK(node_of(shuffle, "stage2.1.conv1")->in[0] == split->out[1] && join->in[0] == split->out[0]);
    CHECK(node_of(shuffle, "stage2.1.turned")->permutation[1] == 2);
    struct ys_graph *next = usual("convnext-tiny");
    REQUIRE(next);
    CHECK(node_of(next, "stage1.0.scale")->op == YS_OP_MUL);
    CHECK(next->params[node_of(next, "stage1.0.scale")->weight].init.a == 1e-6);
    CHECK(next->params[node_of(next, "stage1.1.conv")->weight].init.b == 0.02);
    CHECK(node_of(next, "stage4.2.norm")->epsilon == 1e-6 && node_of(next, "stage4.2.norm")->axis == 3);
    CHECK(!node_of(next, "stage1.0.gelu")->by_tanh);
    ys_graph_free(next);
    ys_graph_free(v3);
    ys_graph_free(b0);
    ys_graph_free(shuffle);
}

/* Parameters as torchvision has them for 1000 classes; those of CIFAR's ResNets with projections follow from the
 * layers: two more 3x3 convolutions of 16, 32 and 64 channels, and their normalisations, for each 6 layers. */
static void sizes_are_those_of_the_published_family(void)
{
    static const struct {
        const char *name;
        enum ys_model_size size;
        double value;
        int64_t parameters;
    } cases[] = {
        {"resnet18", YS_MODEL_DEPTH, 34, 21797672},           {"resnet50", YS_MODEL_DEPTH, 101, 44549160},
        {"resnet50", YS_MODEL_DEPTH, 152, 60192808},          {"densenet121", YS_MODEL_DEPTH, 169, 14149480},
        {"densenet121", YS_MODEL_DEPTH, 201, 20013928},       {"shufflenet-v2", YS_MODEL_WIDTH, 0.5, 1366792},
        {"shufflenet-v2", YS_MODEL_WIDTH, 1.5, 3503624},      {"shufflenet-v2", YS_MODEL_WIDTH, 2, 7393996},
        {"efficientnet-b0", YS_MODEL_DEPTH, 1.1, 7794184},    {"mobilenet-v2", YS_MODEL_WIDTH, 1, 3504872},
        {"mobilenet-v2", YS_MODEL_WIDTH, 0.5, 1968680},       {"mobilenet-v3", YS_MODEL_WIDTH, 1, 5483032},
        {"resnet20", YS_MODEL_DEPTH, 32, 272474 + 2 * 97216}, {"resnet20", YS_MODEL_DEPTH, 56, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct ys_model *model = ys_model_find(cases[i].name);
        struct ys_model_input input = model->usual;
        struct ys_graph *graph = NULL;
        input.sizes[cases[i].size] = cases[i].value;
        if (!CHECK(ys_model_build(model, &input, &graph) == YS_OK))
            continue;
        struct ys_graph *other = cases[i].parameters ? NULL : usual("resnet56");
        const int64_t parameters = other ? ys_graph_parameter_count(other) : cases[i].parameters;
        tap_check(ys_graph_parameter_count(graph) == parameters, __LINE__, "%s, %g: %lld parameters, not %lld",
                  cases[i].name, cases[i].value, (long long)ys_graph_parameter_count(graph), (long long)parameters);
        ys_graph_free(graph);
        ys_graph_free(other);
    }
}

static void sizes_that_a_model_has_not_are_refused(void)
{
    static const struct {
        const char *name;
        double width, depth;
        const char *words;
    } cases[] = {
        {"lenet", 2, 0, "model.width = 2: the model lenet has no such key, but model.classes"},
        {"resnet20", 2, 0, "the model resnet20 has no such key, but model.depth, model.classes"},
        {"resnet20", 0, 33, "model.depth = 33: must be 8, 14, 20 ... 1202 for the model resnet20"},
        {"resnet20", 0, 2, "must be 8, 14, 20"},
        {"resnet20", 0, 1208, "must be 8, 14, 20"},
        {"resnet18", 0, 50, "model.depth = 50: must be 18 or 34"},
        {"resnet50", 0, 18, "must be 50, 101 or 152"},
        {"mobilenet-v2", 0.05, 0, "model.width = 0.05: must be 0.1 to 4"},
        {"mobilenet-v2", 4.5, 0, "model.width = 4.5: must be 0.1 to 4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct ys_model *model = ys_model_find(cases[i].name);
        struct ys_model_input input = model->usual;
        struct ys_graph *graph = NULL;
        input.sizes[YS_MODEL_WIDTH] = cases[i].width;
        input.sizes[YS_MODEL_DEPTH] = cases[i].depth;
        CHECK_INT(ys_model_build(model, &input, &graph), YS_EINVAL);
        tap_check(strstr(ys_error(), cases[i].words) != NULL, __LINE__, "\"%s\" lacks \"%s\"", ys_error(),
                  cases[i].words);
    }
}

static void every_failing_allocation_of_a_model_is_reported(void)
{
    static const char *const names[] = {"lenet",         "mobilenet-v2", "resnet20",
                                        "shufflenet-v2", "mobilenet-v3", "convnext-tiny"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct ys_model *model = ys_model_find(names[i]);
        long n = 1;
        for (; n < 9000; n++) {
            struct ys_graph *graph = NULL;
            ys_mem_fail_at(n);
            ys_status status = model->build(&model->usual, &graph);
            ys_mem_fail_at(0);
            ys_graph_free(graph);
            if (status == YS_OK)
                break;
            CHECK(status == YS_ENOMEM);
        }
        CHECK(n > 20 && n < 9000);
    }
}

TAP_MAIN(TAP_CASE(counts_are_the_published_ones_and_those_of_the_layers), TAP_CASE(every_model_is_in_the_table_once),
         TAP_CASE(every_model_begins_with_pixels_and_ends_in_its_classes), TAP_CASE(models_adapt_to_the_data),
         TAP_CASE(data_that_do_not_fit_are_refused), TAP_CASE(biases_are_left_out_where_batch_normalisation_follows),
         TAP_CASE(dropout_is_where_it_was_published), TAP_CASE(depthwise_weights_count_fan_out_over_all_channels),
         TAP_CASE(later_networks_have_their_own_numbers), TAP_CASE(strides_stand_where_the_versions_have_them),
         TAP_CASE(sizes_are_those_of_the_published_family), TAP_CASE(sizes_that_a_model_has_not_are_refused),
         TAP_CASE(every_failing_allocation_of_a_model_is_reported))
