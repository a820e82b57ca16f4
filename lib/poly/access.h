#pragma once
// The elements that a stage accesses, as numbers: access maps { Stage[i] -> Buf[x] }, one
// coordinate at a time.

#include <cstdint>
#include <string>
#include <vector>

#include "poly/range.h"
#include <pipe/schedule.h>

namespace Pipe::poly {

/// One coordinate x of an access as a function of the stage's iterators i:
///
///     den * x - num * i[iterator]  lies in  distance,      for every i of the domain
///
/// A stencil tap x = i + 2 has num = den = 1 and distance [2, 2]; x = 2i + r with r in [0, 2] has num = 2
/// and distance [0, 2]; x = floor(i / 2) has den = 2 and distance [-1, 0].
struct Coordinate {
    int iterator =
        -1;           ///< index into the pure iterators of the stage; -1: x depends on none of them
    int64_t num = 0;  ///< 0 if iterator is -1
    int64_t den = 1;  ///< at least 1
    Range distance;   ///< unbounded: only `range` is known
    /// The same in the middle of the domain, where clamps do nothing: costs follow it. Within `distance`.
    Range steady;
    Range range;  ///< of x over the whole domain; unbounded if unknown
    /// The distance does not depend on the size of the domain (Jangda 2020, section 2.2).
    bool constant = false;
    /// The pure iterators beside `iterator` that x may depend on, as bits: of i + j one of them, of i % 32 i.
    uint64_t may_use = 0;
    /// If there is one such iterator: x repeats after so many steps of it, as i % 3 does. 0: not known.
    int64_t period = 0;
    /// It may move back while the iterator advances, as at the edge of a mirrored picture: no window slides along it.
    bool turns = false;
    uint64_t reductions = 0;  ///< the RVars that x may depend on, as bits
    int follows = -1;         ///< the RVar that x grows by one with; -1: none

    /// The distance permits only one integer x for every i, so two accesses with equal coordinates
    /// access the same element.
    bool exact() const { return distance.bounded() && distance.size() <= den; }
    bool operator==(const Coordinate &) const = default;
};

/// The elements that a load (or store) of a stage accesses.
struct Access {
    FuncId func = FuncId::None;  ///< the Func that is read, or None for an image
    int image = -1;              ///< index into Graph::images, or -1
    int bytes = 1;               ///< of one element
    /// By in(): the definition itself reads it, not what was substituted, and it is no image without a name.
    bool replaceable = true;
    std::vector<Coordinate> coords;

    /// Whether both access the same element in every iteration.
    bool same_element(const Access &other) const;
    bool same_buffer(const Access &other) const {
        return func == other.func && image == other.image;
    }
};

/// The iterators on which a coordinate depends, or may depend, as bits.
uint64_t uses(const Coordinate &coord);
uint64_t uses(const Access &access);

/// The values of the coordinate while its iterator ranges over `tile`.
Range touched(const Coordinate &coord, const Range &tile);

/// The coordinate after substitution: `outer` reads a stage at the coordinates `inner` (one per
/// pure iterator of that stage), so x(outer) becomes a function of the iterators of inner's stage.
Coordinate compose(const Coordinate &outer, const std::vector<Coordinate> &inner);

/// The access `producer_access`, seen from a consumer that reads the producer at `inner`, after
/// substituting the producer into it.
Access compose(const Access &producer_access, const std::vector<Coordinate> &inner);

/// "2*i0/3 + [0, 1]".
std::string to_string(const Coordinate &coord);

}  // namespace Pipe::poly
