#pragma once
// The C function of random extern stages.

#include <pipe/pipe.h>

namespace Pipe::fuzz {
inline const char *const shuffle_name = "pipe_fuzz_shuffle";
}

/// out(x, ...) = in(x + reach, ...) where x is odd, in(x - reach, ...) elsewhere, of any type. It
/// goes on along x until the next coordinate is a multiple of `rounding`. 99: it was given too
/// little of `in`; 98: `out` ends elsewhere; 97: the types differ.
extern "C" int pipe_fuzz_shuffle(Pipe::RawBuffer *in, int reach, int rounding,
                                 Pipe::RawBuffer *out);
