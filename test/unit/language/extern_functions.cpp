#include "unit/language/extern_functions.h"

using namespace extern_functions;

extern "C" int pipe_extern_translate(RawBuffer *in, int dx, int dy, RawBuffer *out) {
    if (in->is_bounds_query()) {
        queries++;
        for (int d = 0; d < 2; d++) {
            in->dim[d].min = out->dim[d].min + (d == 0 ? dx : dy);
            in->dim[d].extent = out->dim[d].extent;
        }
        return 0;
    }
    calls++;
    if (in->type != Int(32) || out->type != Int(32) || in->dimensions != 2 || out->dimensions != 2)
        return 98;
    if (!holds(in, 0, out->dim[0].min + dx, last(out->dim[0]) + dx) ||
        !holds(in, 1, out->dim[1].min + dy, last(out->dim[1]) + dy))
        return too_little;
    for_each(out, [&](int64_t x, int64_t y) { at(out, x, y) = at(in, x + dx, y + dy); });
    return 0;
}

extern "C" int pipe_extern_flip(RawBuffer *in, RawBuffer *out) {
    if (in->is_bounds_query()) {
        in->dim[0].min = -last(out->dim[0]);
        in->dim[0].extent = out->dim[0].extent;
        return 0;  // dimension 1 is as it was
    }
    if (!holds(in, 0, -last(out->dim[0]), -out->dim[0].min) ||
        !holds(in, 1, out->dim[1].min, last(out->dim[1])))
        return too_little;
    for_each(out, [&](int64_t x, int64_t y) { at(out, x, y) = at(in, -x, y); });
    return 0;
}

extern "C" int pipe_extern_pointwise(RawBuffer *in, RawBuffer *out) {
    if (out->is_bounds_query())
        return 0;
    if (!holds(in, 0, out->dim[0].min, last(out->dim[0])))
        return too_little;
    for_each(out, [&](int64_t x, int64_t y) { at(out, x, y) = 2 * at(in, x, y) + 1; });
    return 0;
}

extern "C" int pipe_extern_digits(RawBuffer *in, RawBuffer *tens, RawBuffer *ones) {
    if (in->is_bounds_query())
        return 0;
    Buffer<uint8_t> o = ones->buffer<uint8_t>();
    for_each(tens, [&](int64_t x, int64_t y) {
        at(tens, x, y) = at(in, x, y) / 10;
        o(x, y) = static_cast<uint8_t>(at(in, x, y) % 10);
    });
    return 0;
}

extern "C" int pipe_extern_combine(RawBuffer *a, RawBuffer *b, uint8_t factor, bool negate,
                                   double bias, RawBuffer *out) {
    if (out->is_bounds_query())
        return 0;
    Buffer<uint8_t> bytes = b->buffer<uint8_t>();
    for_each(out, [&](int64_t x, int64_t y) {
        int value = (at(a, x, y) + bytes(x, y)) * factor + static_cast<int>(bias);
        at(out, x, y) = negate ? -value : value;
    });
    return 0;
}

extern "C" int pipe_extern_ramp(int step, RawBuffer *out) {
    if (out->is_bounds_query())
        return 0;
    for_each(out, [&](int64_t x, int64_t y) { at(out, x, y) = static_cast<int>(x + step * y); });
    return 0;
}

extern "C" int pipe_extern_eights(RawBuffer *in, RawBuffer *out) {
    if (in->is_bounds_query()) {
        RawDimension &d = out->dim[0];
        int64_t end = (last(d) + 8) & ~int64_t(7);
        d.min &= ~int64_t(7);
        d.extent = end - d.min;
        in->dim[0] = d;
        return 0;
    }
    calls++;
    if (out->dim[0].min % 8 != 0 || out->dim[0].extent % 8 != 0)
        return 8;
    if (!holds(in, 0, out->dim[0].min, last(out->dim[0])))
        return too_little;
    for_each(out, [&](int64_t x, int64_t y) { at(out, x, y) = at(in, x, y) + 1; });
    return 0;
}

extern "C" int pipe_extern_seventeens(RawBuffer *in, RawBuffer *out) {
    if (in->is_bounds_query()) {
        out->dim[0].extent = (out->dim[0].extent + 16) / 17 * 17;
        in->dim[0] = out->dim[0];
        return 0;
    }
    if (out->dim[0].extent % 17 != 0)
        return 17;
    if (!holds(in, 0, out->dim[0].min, last(out->dim[0])))
        return too_little;
    for_each(out, [&](int64_t x, int64_t y) { at(out, x, y) = at(in, x, y) + 1; });
    return 0;
}

extern "C" int pipe_extern_columns(RawBuffer *in, int height, RawBuffer *out) {
    if (in->is_bounds_query()) {
        in->dim[1] = {0, height, 0, 0};
        return 0;
    }
    if (!holds(in, 1, 0, height - 1))
        return too_little;
    Buffer<int> o = out->buffer<int>();
    for (int64_t x = o.min(0); x <= o.max(0); x++) {
        o(x) = 0;
        for (int y = 0; y < height; y++)
            o(x) += at(in, x, y);
    }
    return 0;
}

extern "C" int pipe_extern_fails(RawBuffer *, int in_query, int code, RawBuffer *out) {
    return out->is_bounds_query() == (in_query != 0) ? code : 0;
}

extern "C" float pipe_extern_float(RawBuffer *) {
    return 0;
}
