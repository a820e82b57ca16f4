// Compiled for the machine it runs on, with its widest vectors (see CMakeLists.txt).
#include "apps/bench/ceilings.h"

#include "apps/bench/cache_size.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace bench {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif
typedef float Vector __attribute__((vector_size(vector_bytes)));
constexpr int64_t lanes = vector_bytes / int64_t(sizeof(float));

/// Where results go, so that they are not optimised away.
std::atomic<float> sink;

float sum_of_lanes(Vector v) {
    float sum = 0;
    for (int i = 0; i < lanes; ++i)
        sum += v[i];
    return sum;
}

/// Seconds that `work(thread)` takes when all threads do it at once: from the common start to the
/// end of the last. The best of `tries`.
double seconds(int threads, int tries, const std::function<void(int)> &work) {
    using clock = std::chrono::steady_clock;
    double best = 1e30;
    for (int i = 0; i < tries; ++i) {
        clock::time_point start;
        std::barrier ready(threads, [&]() noexcept { start = clock::now(); });
        std::vector<std::thread> pool;
        for (int t = 0; t < threads; ++t) {
            pool.emplace_back([&, t] {
                ready.arrive_and_wait();
                work(t);
            });
        }
        for (std::thread &thread : pool)
            thread.join();
        best = std::min(best, std::chrono::duration<double>(clock::now() - start).count());
    }
    return best;
}

// Twelve chains hide the latency of the FMA units (4 cycles on 2 units need eight); four more
// would not fit the sixteen registers of AVX2 together with the operands.
constexpr int chains = 12;
constexpr double flops_per_step = 2.0 * lanes * chains;

void multiply_and_add(int64_t steps) {
    Vector acc[chains];
    for (int i = 0; i < chains; ++i)
        acc[i] = Vector{} + float(i);
    const Vector a = Vector{} + 0.999f, b = Vector{} + sink.load();
    for (int64_t n = 0; n < steps; ++n) {
#pragma GCC unroll 12
        for (int i = 0; i < chains; ++i)
            acc[i] = acc[i] * a + b;
    }
    Vector total{};
    for (const Vector &v : acc)
        total += v;
    sink = sum_of_lanes(total);
}

double measure_fma(int threads) {
    constexpr int64_t steps = 10'000'000;
    const double s = seconds(threads, 5, [](int) { multiply_and_add(steps); });
    return flops_per_step * double(steps) * threads / s / 1e9;
}

using Memory = std::unique_ptr<float, decltype(&std::free)>;

Memory allocate(int64_t floats) {
    Memory memory(static_cast<float *>(std::aligned_alloc(4096, size_t(floats) * sizeof(float))),
                  &std::free);
    if (!memory)
        throw std::bad_alloc();
    std::fill_n(memory.get(), floats, 1.0f);  // touches all pages
    return memory;
}

void read_once(const float *from, int64_t floats) {
    Vector acc[8] = {};
    for (int64_t i = 0; i + 8 * lanes <= floats; i += 8 * lanes) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k)
            acc[k] += *reinterpret_cast<const Vector *>(from + i + k * lanes);
    }
    Vector total{};
    for (const Vector &v : acc)
        total += v;
    sink = sum_of_lanes(total);
}

void copy_once(float *__restrict to, const float *__restrict from, int64_t floats) {
    for (int64_t i = 0; i + 4 * lanes <= floats; i += 4 * lanes) {
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) {
            const Vector v = *reinterpret_cast<const Vector *>(from + i + k * lanes);
            *reinterpret_cast<Vector *>(to + i + k * lanes) = v;
        }
        asm volatile("" ::: "memory");  // or it becomes a call of memcpy
    }
}

#ifdef __AVX__
void stream_once(float *to, const float *from, int64_t floats) {
    for (int64_t i = 0; i + lanes <= floats; i += lanes) {
#ifdef __AVX512F__
        _mm512_stream_ps(to + i, _mm512_load_ps(from + i));
#else
        _mm256_stream_ps(to + i, _mm256_load_ps(from + i));
#endif
    }
    _mm_sfence();
}
#endif

/// Bandwidths on arrays of `bytes` per thread in all.
Level measure_level(const char *name, int threads, int64_t bytes) {
    const int64_t whole = bytes / 4, half = whole / 2 / 64 * 64;
    std::vector<Memory> memory;
    for (int t = 0; t < threads; ++t)
        memory.push_back(allocate(whole));
    const int64_t repeats = std::max<int64_t>(1, (int64_t(256) << 20) / bytes);

    auto gbps = [&](int64_t floats, auto &&once) {
        const double s = seconds(threads, 5, [&](int t) {
            for (int64_t r = 0; r < repeats; ++r)
                once(memory[size_t(t)].get());
        });
        return 4.0 * double(floats) * double(repeats) * threads / s / 1e9;
    };
    Level level{name, bytes * threads, 0, 0, 0};
    level.read_gbps = gbps(whole, [&](float *p) { read_once(p, whole); });
    level.copy_gbps = gbps(2 * half, [&](float *p) { copy_once(p + half, p, half); });
#ifdef __AVX__
    level.stream_gbps = gbps(2 * half, [&](float *p) { stream_once(p + half, p, half); });
#endif
    return level;
}

}  // namespace

std::function<void()> make_copy(int64_t bytes, int threads, bool past_caches) {
    const int64_t part = bytes / 2 / int64_t(sizeof(float)) / threads / 64 * 64;
    auto from = std::make_shared<Memory>(allocate(std::max<int64_t>(64, part * threads)));
    auto to = std::make_shared<Memory>(allocate(std::max<int64_t>(64, part * threads)));
    return [=] {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int t = 0; t < threads; ++t) {
            float *const target = to->get() + t * part;
            const float *const source = from->get() + t * part;
#ifdef __AVX__
            if (past_caches) {
                stream_once(target, source, part);
                continue;
            }
#endif
            copy_once(target, source, part);
        }
    };
}

std::function<void()> make_fmas(double flops, int threads) {
    const auto steps = std::max<int64_t>(1, int64_t(flops / flops_per_step / threads));
    return [=] {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int t = 0; t < threads; ++t)
            multiply_and_add(steps);
    };
}

Ceilings measure_ceilings(int threads) {
    const int64_t l2 = cache_bytes(2, 1 << 20);
    const int64_t l3 = cache_bytes(3, 32 << 20);
    Ceilings c{threads, vector_bytes * 8, measure_fma(threads), {}};
    c.levels.push_back(measure_level("L2", threads, l2 / 2));
    c.levels.push_back(measure_level("L3", threads, l3 / 2 / threads));
    c.levels.push_back(
        measure_level("DRAM", threads, std::clamp<int64_t>(8 * l3, 256 << 20, 1 << 30) / threads));
    return c;
}

}  // namespace bench
