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
    bool tagged;  ///< inside of memoize_tag()
};

struct LoopVar {
    std::string text;  ///< how C++ names it: "x" or "r3.x"
    VarOrRVar loop;
    bool reduction;
};

struct StageInfo {
    std::vector<Access> accesses;
    size_t on_the_left = 0;  ///< the first of the accesses, which say what an update writes
    std::vector<Interval> rvars;
    std::vector<std::string> rvar_names;
    std::vector<LoopVar> loops;  ///< innermost first, before any directive
    bool associative = false;    ///< an update that combines: rfactor, atomic
    bool combines = false;       ///< and exactly, in any order: RVar loops may be parallel
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
    bool any_layout = false;  ///< images and outputs: no stride is promised
    bool exact = false;       ///< what it reads ends where it ends: it may compute nothing beyond
    bool boundary = false;    ///< a Func of BoundaryConditions, of the image before it
    bool is_extern = false;
    int rounding = 1;                    ///< extern: along x it ends before a multiple of this
    bool reads_through_another = false;  ///< as sum() does: it calls a Func that is not known here
    int wraps = -1;                      ///< the source whose in() it is
};

struct Algorithm {
    std::vector<Source> sources;  ///< in order of definition
    std::vector<int> outputs;
    Param<int> param{"p"};
    Param<int> version{"version", 0};  ///< another one for all images that are set
    bool tagged = false;            ///< images are read with memoize_tag(.., version)
    std::vector<std::string> text;
};

Algorithm generate(Choices &choices);

struct Slack {
    int below = 0, above = 0;
};

/// Puts a source at this place; those that stood there and after it come one later.
void insert_source(Algorithm &algorithm, size_t at, Source source);

/// The box needed of every source for these boxes of the outputs (in the order of `outputs`).
/// `slack`, per source and dimension: how far its schedule may compute beyond what is asked.
std::vector<Box> required_boxes(const Algorithm &algorithm, const std::vector<Box> &outputs,
                                const std::vector<std::vector<Slack>> &slack,
                                std::vector<Box> *of_outputs = nullptr);

}  // namespace Pipe::fuzz
