/* Noise. */
#include "robust/corrupt/canvas.h"

#include <math.h>

void ys_corrupt_gaussian_noise(struct ys_canvas *canvas)
{
    for (size_t p = 0; p < canvas->channels * canvas->area; p++)
        canvas->pixels[p] += canvas->numbers[0] * ys_rng_normal(&canvas->rng);
}

/* By inversion: the probabilities of 0, 1, 2, ... add up until they pass a uniform lot. exp(-500), the least that is
 * asked for, is a normal number. */
static double poisson(struct ys_rng *rng, double mean)
{
    const double lot = ys_rng_uniform(rng);
    double probability = exp(-mean), sum = probability, count = 0;
    while (sum < lot && probability > 0) {
        count++;
        probability *= mean / count;
        sum += probability;
    }
    return count;
}

void ys_corrupt_shot_noise(struct ys_canvas *canvas)
{
    const double photons = canvas->numbers[0];
    for (size_t p = 0; p < canvas->channels * canvas->area; p++)
        canvas->pixels[p] = poisson(&canvas->rng, canvas->pixels[p] * photons) / photons;
}

void ys_corrupt_impulse_noise(struct ys_canvas *canvas)
{
    for (size_t p = 0; p < canvas->channels * canvas->area; p++) {
        const double lot = ys_rng_uniform(&canvas->rng), white = ys_rng_below(&canvas->rng, 2);
        if (lot < canvas->numbers[0])
            canvas->pixels[p] = white;
    }
}
