// The C functions by which the tests of extern stages define Funcs.
#pragma once

#include <atomic>

#include <pipe/pipe.h>

namespace extern_functions {

using namespace Pipe;

/// How often pipe_extern_translate was asked and called, pipe_extern_eights called.
inline std::atomic<int> queries{0}, calls{0};

/// The element (x, y) of a buffer of int.
inline int &at(RawBuffer *b, int64_t x, int64_t y) {
    auto *host = reinterpret_cast<int *>(b->host);
    return host[(x - b->dim[0].min) * b->dim[0].stride + (y - b->dim[1].min) * b->dim[1].stride];
}

inline int64_t last(const RawDimension &d) {
    return d.min + d.extent - 1;
}

inline bool holds(const RawBuffer *b, int d, int64_t low, int64_t high) {
    return b->dim[d].min <= low && high <= last(b->dim[d]);
}

template <typename F> void for_each(RawBuffer *b, F &&f) {
    for (int64_t y = b->dim[1].min; y <= last(b->dim[1]); y++)
        for (int64_t x = b->dim[0].min; x <= last(b->dim[0]); x++)
            f(x, y);
}

/// What all of them return for an input that does not hold what they read.
constexpr int too_little = 99;

inline int source(int64_t i, int64_t j) {
    return static_cast<int>(3 * i + 1000 * j);
}

/// A Func of x and y whose values are those of source().
inline Func ramp(const std::string &name) {
    Func f(name);
    Var x("x"), y("y");
    f(x, y) = 3 * x + 1000 * y;
    return f;
}

}  // namespace extern_functions

extern "C" {

/// out(x, y) = in(x + dx, y + dy)
int pipe_extern_translate(Pipe::RawBuffer *in, int dx, int dy, Pipe::RawBuffer *out);

/// out(x, y) = in(-x, y)
int pipe_extern_flip(Pipe::RawBuffer *in, Pipe::RawBuffer *out);

/// out(x, y) = 2 * in(x, y) + 1; does not answer queries.
int pipe_extern_pointwise(Pipe::RawBuffer *in, Pipe::RawBuffer *out);

/// (in / 10, in % 10), the latter as uint8
int pipe_extern_digits(Pipe::RawBuffer *in, Pipe::RawBuffer *tens, Pipe::RawBuffer *ones);

/// (a + b of two Funcs, from the values of a Tuple) * factor + bias
int pipe_extern_combine(Pipe::RawBuffer *a, Pipe::RawBuffer *b, uint8_t factor, bool negate,
                        double bias, Pipe::RawBuffer *out);

/// Reads nothing.
int pipe_extern_ramp(int step, Pipe::RawBuffer *out);

/// out(x, y) = in(x, y) + 1, in multiples of 8 along x, as out and in must be.
int pipe_extern_eights(Pipe::RawBuffer *in, Pipe::RawBuffer *out);

/// The same, in any multiples of 17 columns.
int pipe_extern_seventeens(Pipe::RawBuffer *in, Pipe::RawBuffer *out);

/// out(x) = sum of the rows 0 .. height - 1 of in
int pipe_extern_columns(Pipe::RawBuffer *in, int height, Pipe::RawBuffer *out);

int pipe_extern_fails(Pipe::RawBuffer *, int in_query, int code, Pipe::RawBuffer *out);

float pipe_extern_float(Pipe::RawBuffer *);

}  // extern "C"
