#include "fuzz/extern_stage.h"

#include <cstring>

namespace {

using Pipe::RawBuffer;
using Pipe::RawDimension;

void answer_query(RawBuffer *in, int reach, int rounding, RawBuffer *out) {
    RawDimension &x = out->dim[0];
    int64_t end = x.min + x.extent, beyond = (end % rounding + rounding) % rounding;
    x.extent += beyond == 0 ? 0 : rounding - beyond;
    for (int d = 0; d < in->dimensions; d++) {
        in->dim[d].min = out->dim[d].min;
        in->dim[d].extent = out->dim[d].extent;
    }
    in->dim[0].min -= reach;
    in->dim[0].extent += 2 * reach;
}

bool holds(const RawDimension &in, int64_t low, int64_t high) {
    return in.min <= low && high < in.min + in.extent;
}

uint8_t *element(const RawBuffer *b, const int64_t *at) {
    int64_t offset = 0;
    for (int d = 0; d < b->dimensions; d++)
        offset += (at[d] - b->dim[d].min) * b->dim[d].stride;
    return b->host + offset * Pipe::Type(b->type).bytes();
}

/// The coordinates of dimension d and those inside it.
void copy(const RawBuffer *in, int reach, RawBuffer *out, int d, int64_t *at) {
    const RawDimension &dim = out->dim[d];
    for (int64_t i = dim.min; i < dim.min + dim.extent; i++) {
        at[d] = i;
        if (d > 0) {
            copy(in, reach, out, d - 1, at);
            continue;
        }
        uint8_t *to = element(out, at);
        at[0] = i + (i % 2 != 0 ? reach : -reach);
        std::memcpy(to, element(in, at), static_cast<size_t>(Pipe::Type(out->type).bytes()));
    }
}

}  // namespace

extern "C" int pipe_fuzz_shuffle(RawBuffer *in, int reach, int rounding, RawBuffer *out) {
    if (in->is_bounds_query())
        return answer_query(in, reach, rounding, out), 0;
    if (in->type != out->type || in->dimensions != out->dimensions)
        return 97;
    if ((out->dim[0].min + out->dim[0].extent) % rounding != 0)
        return 98;
    for (int d = 0; d < out->dimensions; d++) {
        int64_t low = out->dim[d].min, high = low + out->dim[d].extent - 1;
        int64_t more = d == 0 ? reach : 0;
        if (!holds(in->dim[d], low - more, high + more))
            return 99;
    }
    int64_t at[16];
    copy(in, reach, out, out->dimensions - 1, at);
    return 0;
}
