#include "apps/bench/ceilings.h"

#include "apps/bench/cache_size.h"
#include "apps/bench/ceiling_kernels.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>

namespace bench {
namespace {

/// The loops for one vector width.
struct Kernels {
    void (*fmas_of_floats)(int64_t steps), (*fmas_of_doubles)(int64_t steps);
    double flops_of_floats, flops_of_doubles;  ///< of a step
    void (*read)(const float *from, int64_t floats);
    void (*copy)(float *to, const float *from, int64_t floats);
    void (*stream)(float *to, const float *from, int64_t floats);
};

template <int bytes> constexpr Kernels kernels_of_width() {
    using K = CeilingKernels<bytes>;
    return {K::template multiply_and_add<float>,
            K::template multiply_and_add<double>,
            K::template flops_per_step<float>,
            K::template flops_per_step<double>,
            K::read,
            K::copy,
            K::stream};
}

const Kernels &kernels(int vector_bytes) {
    static constexpr Kernels narrow = kernels_of_width<16>();
#ifdef __AVX__
    static constexpr Kernels wide = kernels_of_width<32>();
    if (vector_bytes == 32)
        return wide;
#endif
#ifdef __AVX512F__
    static constexpr Kernels widest = kernels_of_width<64>();
    if (vector_bytes == 64)
        return widest;
#endif
    return narrow;
}

/// Seconds until `work(thread)` has finished on all threads, which start together. The best of
/// `tries`.
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

double measure_fma(Limits limits) {
    constexpr int64_t steps = 10'000'000;
    const Kernels &k = kernels(limits.vector_bytes);
    const double s = seconds(limits.threads, 5, [&](int) { k.fmas_of_floats(steps); });
    return k.flops_of_floats * double(steps) * limits.threads / s / 1e9;
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

/// Bandwidths for arrays of `bytes` per thread in total.
Level measure_level(const char *name, Limits limits, int64_t bytes) {
    const int64_t whole = bytes / 4, half = whole / 2 / 64 * 64;
    const Kernels &k = kernels(limits.vector_bytes);
    const int threads = limits.threads;
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
    level.read_gbps = gbps(whole, [&](float *p) { k.read(p, whole); });
    level.copy_gbps = gbps(2 * half, [&](float *p) { k.copy(p + half, p, half); });
    level.stream_gbps = gbps(2 * half, [&](float *p) { k.stream(p + half, p, half); });
    return level;
}

}  // namespace

std::function<void()> make_copy(int64_t bytes, Limits limits, bool past_caches) {
    const int threads = limits.threads;
    const int64_t part = bytes / 2 / int64_t(sizeof(float)) / threads / 64 * 64;
    auto from = std::make_shared<Memory>(allocate(std::max<int64_t>(64, part * threads)));
    auto to = std::make_shared<Memory>(allocate(std::max<int64_t>(64, part * threads)));
    const Kernels &k = kernels(limits.vector_bytes);
    return [=, copy = past_caches ? k.stream : k.copy] {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int t = 0; t < threads; ++t)
            copy(to->get() + t * part, from->get() + t * part, part);
    };
}

std::function<void()> make_fmas(double flops, int bits, Limits limits) {
    const Kernels &k = kernels(limits.vector_bytes);
    const auto work = bits == 64 ? k.fmas_of_doubles : k.fmas_of_floats;
    const double per_step = bits == 64 ? k.flops_of_doubles : k.flops_of_floats;
    const int threads = limits.threads;
    const auto steps = std::max<int64_t>(1, int64_t(flops / per_step / threads));
    return [=] {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int t = 0; t < threads; ++t)
            work(steps);
    };
}

Ceilings measure_ceilings(Limits limits) {
    const int64_t l2 = cache_bytes(2, 1 << 20);
    const int64_t l3 = cache_bytes(3, 32 << 20);
    const int threads = limits.threads;
    Ceilings c{threads, limits.vector_bytes * 8, measure_fma(limits), {}};
    c.levels.push_back(measure_level("L2", limits, l2 / 2));
    c.levels.push_back(measure_level("L3", limits, l3 / 2 / threads));
    c.levels.push_back(
        measure_level("DRAM", limits, std::clamp<int64_t>(8 * l3, 256 << 20, 1 << 30) / threads));
    return c;
}

}  // namespace bench
