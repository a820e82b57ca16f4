#pragma once
// Random algorithms: images and Funcs, with what the schedule generator and the buffers need to
// know.

#include <string>
#include <utility>
#include <vector>

#include <pipe/pipe.h>

#include "fuzz/choices.h"
#include "fuzz/value.h"

namespace Pipe::fuzz {

/// low .. high; nothing where low > high
struct Interval {
    int low = 1, high = 0;
    bool empty() const { return low > high; }
    int extent() const { return high - low + 1; }
    bool operator==(const Interval &) const = default;
    void include(Interval other);
};
using Box = std::vector<Interval>;

/// One coordinate of an access: the sum of floor((var * num + off) / den) over the terms, plus
/// something between rest.low and rest.high. Variable d < dimensions is the stage's pure variable
/// d; the others are its RVars.
struct Index {
    struct Term {
        int var, num, den, off;
    };
    Value value;
    std::vector<Term> terms;
    Interval rest{0, 0};
};

struct Access {
    int source;
    std::vector<Index> coordinates;
};

struct LoopVar {
    std::string text;  ///< how C++ names it: "x" or "r3.x"
    VarOrRVar loop;
    bool reduction;
};

struct StageInfo {
    std::vector<Access> accesses;
    std::vector<Interval> rvars;
    std::vector<LoopVar> loops;  ///< innermost first, before any directive
    bool combines = false;       ///< an exact associative operator: RVar loops may be parallel
    bool adds = false;           ///< to one element per point: histograms may be atomic
};

/// An image or a Func.
struct Source {
    std::string name;
    int dimensions = 0;
    std::vector<Value> elements;  ///< bounds of the elements: `e` and `text` are not used
    bool is_image = false;
    ImageParam image{};
    Box fixed_box{};  ///< images behind a boundary condition have a size of their own
    Func func{};
    std::vector<std::string> vars{};
    std::vector<StageInfo> stages{};
    Box touched{};  ///< what updates read and write of their own Func, beyond the pure variables
    bool output = false;
};

struct Algorithm {
    std::vector<Source> sources;  ///< in order of definition
    std::vector<int> outputs;
    Param<int> param{"p"};
    std::vector<std::string> text;
};

Algorithm generate(Choices &choices);

/// The box needed of every source for these boxes of the outputs (in the order of `outputs`).
/// `slack`, per source and dimension: how far its schedule may compute beyond what is asked.
std::vector<Box> required_boxes(const Algorithm &algorithm, const std::vector<Box> &outputs,
                                const std::vector<std::vector<int>> &slack,
                                std::vector<Box> *of_outputs = nullptr);

}  // namespace Pipe::fuzz
