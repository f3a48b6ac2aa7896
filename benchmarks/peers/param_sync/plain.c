// SPDX-License-Identifier: Apache-2.0
// What the memory bus allows: average the gradients and apply Adam in one loop, on plain
// memory, with nothing to wait for. Compiled by plain.py with -O3 -march=native.
#include <math.h>
#include <pthread.h>
#include <stdint.h>

typedef struct {
  int64_t begin, end;
  int32_t num_gradients;
  const float* const* gradients;
  float *weights, *mean, *square;
  float step_size, correction;
} Part;

static void* update(void* argument) {
  const Part* part = argument;
  const float scale = 1.0f / (float)part->num_gradients;
  float* restrict w = part->weights;
  float* restrict m = part->mean;
  float* restrict v = part->square;
  const float* restrict g0 = part->gradients[0];
  const float* restrict g1 = part->gradients[1];
  const float* restrict g2 = part->gradients[part->num_gradients > 2 ? 2 : 0];
  const float* restrict g3 = part->gradients[part->num_gradients > 2 ? 3 : 0];
  const int four = part->num_gradients == 4;
  for (int64_t i = part->begin; i < part->end; ++i) {
    float sum = g0[i] + g1[i];
    if (four) sum += g2[i] + g3[i];
    const float g = sum * scale;
    m[i] = 0.9f * m[i] + 0.1f * g;
    v[i] = 0.999f * v[i] + 0.001f * g * g;
    w[i] -= part->step_size * m[i] / (sqrtf(v[i]) * part->correction + 1e-8f);
  }
  return 0;
}

// Two or four gradients, two threads.
void plain_adam(int64_t count, int32_t num_gradients, const float* const* gradients,
                float* weights, float* mean, float* square, int32_t step) {
  Part parts[2];
  for (int half = 0; half < 2; ++half) {
    parts[half] = (Part){half == 0 ? 0 : count / 2,
                         half == 0 ? count / 2 : count,
                         num_gradients,
                         gradients,
                         weights,
                         mean,
                         square,
                         (float)(1e-3 / (1 - pow(0.9, step))),
                         (float)(1 / sqrt(1 - pow(0.999, step)))};
  }
  pthread_t other;
  pthread_create(&other, 0, update, &parts[1]);
  update(&parts[0]);
  pthread_join(other, 0);
}
