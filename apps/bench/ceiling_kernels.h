// The loops of the peak measurements, for one vector width. Compiled for the host (see
// CMakeLists.txt).
#pragma once

#include <atomic>
#include <cstdint>

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace bench {

/// Results are stored here so that they are not optimized away.
inline std::atomic<double> sink;

template <typename T, int bytes> struct VectorOf {
    typedef T Type __attribute__((vector_size(bytes)));
};

/// For vectors of `bytes` bytes.
template <int bytes> struct CeilingKernels {
    template <typename T> using Vector = typename VectorOf<T, bytes>::Type;
    template <typename T> static constexpr int64_t lanes = bytes / int64_t(sizeof(T));

    // Twelve chains hide the latency of the FMA units (4 cycles on 2 units need eight); four more
    // would not fit the sixteen registers of AVX2 together with the operands.
    static constexpr int chains = 12;

    /// Floating-point operations of `multiply_and_add`, two for each FMA.
    template <typename T> static constexpr double flops_per_step = 2.0 * lanes<T> *chains;

    template <typename T> static void multiply_and_add(int64_t steps) {
        Vector<T> acc[chains];
        for (int i = 0; i < chains; ++i)
            acc[i] = Vector<T>{} + T(i);
        const Vector<T> a = Vector<T>{} + T(0.999), b = Vector<T>{} + T(sink.load());
        for (int64_t n = 0; n < steps; ++n) {
#pragma GCC unroll 12
            for (int i = 0; i < chains; ++i)
                acc[i] = acc[i] * a + b;
        }
        Vector<T> total{};
        for (const Vector<T> &v : acc)
            total += v;
        consume(total);
    }

    static void read(const float *from, int64_t floats) {
        Vector<float> acc[8] = {};
        for (int64_t i = 0; i + 8 * lanes<float> <= floats; i += 8 * lanes<float>) {
#pragma GCC unroll 8
            for (int k = 0; k < 8; ++k)
                acc[k] += *reinterpret_cast<const Vector<float> *>(from + i + k * lanes<float>);
        }
        Vector<float> total{};
        for (const Vector<float> &v : acc)
            total += v;
        consume(total);
    }

    static void copy(float *__restrict to, const float *__restrict from, int64_t floats) {
        for (int64_t i = 0; i + 4 * lanes<float> <= floats; i += 4 * lanes<float>) {
#pragma GCC unroll 4
            for (int k = 0; k < 4; ++k) {
                const int64_t at = i + k * lanes<float>;
                *reinterpret_cast<Vector<float> *>(to + at) =
                    *reinterpret_cast<const Vector<float> *>(from + at);
            }
            asm volatile("" ::: "memory");  // otherwise it becomes a call of memcpy
        }
    }

    /// The same with non-temporal stores, if there are any.
    static void stream(float *to, const float *from, int64_t floats) {
#ifdef __AVX__
        for (int64_t i = 0; i + lanes<float> <= floats; i += lanes<float>)
            store_nontemporal(to + i, *reinterpret_cast<const Vector<float> *>(from + i));
        _mm_sfence();
#else
        copy(to, from, floats);
#endif
    }

  private:
    template <typename V> static void consume(V v) {
        double sum = 0;
        for (size_t i = 0; i < sizeof v / sizeof v[0]; ++i)
            sum += double(v[i]);
        sink = sum;
    }

#ifdef __AVX__
    static void store_nontemporal(float *to, Vector<float> v) {
        if constexpr (bytes == 16)
            _mm_stream_ps(to, v);
        else if constexpr (bytes == 32)
            _mm256_stream_ps(to, v);
#ifdef __AVX512F__
        else
            _mm512_stream_ps(to, v);
#endif
    }
#endif
};

}  // namespace bench
