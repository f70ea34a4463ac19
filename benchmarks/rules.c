/* Plain loops of the rules, for the ratios in kernels.py: what -O3 makes of the textbook.
   The path is piecewise constant: segment s starts at round start[s] with means mean[s*K..], best
   arm best[s]; start has one entry more, T + 1. Each returns the regret. */
#include <math.h>
#include <stdint.h>

static uint64_t state[4];

static void seed(uint64_t x) {
  for (int i = 0; i < 4; i++) { /* splitmix64 */
    uint64_t z = (x += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    state[i] = z ^ (z >> 31);
  }
}

static inline double uniform(void) { /* xoshiro256++ */
  uint64_t *s = state, x = s[0] + s[3], r = ((x << 23) | (x >> 41)) + s[0], t = s[1] << 17;
  s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3]; s[2] ^= t;
  s[3] = (s[3] << 45) | (s[3] >> 19);
  return (double)(r >> 11) * 0x1.0p-53;
}

static double idle(int K, const int64_t *start, const double *mean, const int *best, int64_t *seg,
                   int64_t from, int64_t to, const double *plays) {
  double total = 0, regret = 0;
  for (int k = 0; k < K; k++) total += plays[k];
  while (from < to) {
    while (from >= start[*seg + 1]) ++*seg;
    int64_t end = to < start[*seg + 1] ? to : start[*seg + 1];
    const double *mu = mean + *seg * K;
    double gap = 0, top = mu[best[*seg]];
    for (int k = 0; k < K; k++) gap += plays[k] * (top - mu[k]);
    regret += (double)(end - from) * gap / total;
    from = end;
  }
  return regret;
}

double ucb1(int K, int64_t T, int64_t B, const int64_t *start, const double *mean,
            const int *best) {
  double n[128] = {0}, sum[128] = {0}, regret = 0;
  int64_t seg = 0, after = 1;
  seed(1);
  for (int64_t i = 0; i < B; i++) {
    int64_t t = i * (T / B) + i * (T % B) / B + 1;
    regret += idle(K, start, mean, best, &seg, after, t, n);
    while (t >= start[seg + 1]) seg++;
    int arm = 0;
    if (i < K) {
      arm = (int)i;
    } else {
      double root = 2 * log((double)i), top = -1;
      int ties = 0;
      for (int k = 0; k < K; k++) {
        double index = sum[k] / n[k] + sqrt(root / n[k]);
        if (index > top) { top = index; arm = k; ties = 1; }
        else if (index == top && uniform() * ++ties < 1) arm = k;
      }
    }
    const double *mu = mean + seg * K;
    regret += mu[best[seg]] - mu[arm];
    n[arm] += 1;
    sum[arm] += uniform() < mu[arm];
    after = t + 1;
  }
  return regret + idle(K, start, mean, best, &seg, after, T + 1, n);
}

double rexp3b(int K, int64_t T, int64_t B, const int64_t *start, const double *mean,
              const int *best, int64_t batch, int64_t queries, double gamma) {
  double regret = 0;
  int64_t seg = 0, used = 0;
  seed(1);
  for (int64_t from = 1; from <= T; from += batch) {
    int64_t stop = from + batch < T + 1 ? from + batch : T + 1;
    int64_t count = queries < stop - from ? queries : stop - from;
    double w[128], n[128] = {0}, total = K;
    if (count > B - used) count = B - used;
    for (int k = 0; k < K; k++) w[k] = 1;
    for (int64_t t = from; t < from + count; t++) {
      double u = uniform(), p = 0;
      int arm = -1;
      do {
        p = (1 - gamma) * w[++arm] / total + gamma / K;
        u -= p;
      } while (u >= 0 && arm < K - 1);
      while (t >= start[seg + 1]) seg++;
      const double *mu = mean + seg * K;
      regret += mu[best[seg]] - mu[arm];
      n[arm] += 1;
      if (uniform() < mu[arm]) {
        total -= w[arm];
        w[arm] *= exp(gamma / (p * K));
        total += w[arm];
        if (total > 1e100) {
          total = 0;
          for (int k = 0; k < K; k++) total += w[k] *= 1e-100;
        }
      }
    }
    used += count;
    if (count == 0) for (int k = 0; k < K; k++) n[k] = 1;
    regret += idle(K, start, mean, best, &seg, from + count, stop, n);
  }
  return regret;
}
