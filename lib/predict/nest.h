#pragma once
// Nest: a lowered program in numbers. The loops with their iterations, and in each loop body the
// instructions and the accesses to memory.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "predict/form.h"

namespace Pipe::predict {

/// Instructions of straight-line code, on whole registers.
struct Work {
    double arithmetic = 0;  ///< that need a multiplier or adder of floats
    double simple = 0;      ///< other vector instructions
    double shuffles = 0;    ///< between lanes
    double loads = 0, stores = 0;
    double scalar = 0;
    double slow = 0;  ///< clocks of divisions and of library functions

    Work &operator+=(const Work &other) {
        arithmetic += other.arithmetic, simple += other.simple, shuffles += other.shuffles;
        loads += other.loads, stores += other.stores, scalar += other.scalar, slow += other.slow;
        return *this;
    }
    friend Work operator*(Work w, double times) {
        w.arithmetic *= times, w.simple *= times, w.shuffles *= times, w.loads *= times;
        w.stores *= times, w.scalar *= times, w.slow *= times;
        return w;
    }
};

/// The elements that one load or store accesses.
struct Access {
    int buffer = 0;
    int stage = 0;
    Form index;  ///< of the first lane, in elements
    int bytes = 1;
    int lanes = 1;
    bool store = false;
    double chance = 1;  ///< that the statement runs, in an iteration of the loop
};

struct BufferInfo {
    std::string name;
    double bytes = 0;      ///< 0: unknown
    bool streams = false;  ///< stores bypass the caches
    bool large_pages = false;
};

/// A loop, or the whole program (depth -1).
struct Node {
    std::string name;
    int depth = -1;
    int stage = 0;
    bool parallel = false;
    double entries = 1;            ///< per iteration of the loop around it
    double trips = 1;              ///< iterations per entry, on average
    std::map<int, Work> work;      ///< per iteration and stage
    std::map<int, double> clocks;  ///< per iteration and stage: allocations, branches
    double chain = 0;  ///< clocks per iteration that dependences between iterations take
    double live = 0;   ///< vector registers that the body needs,
    double sums = 0;   ///< of which these hold values from one iteration to the next
    std::vector<Access> accesses;              ///< of the body, outside of inner loops
    std::vector<std::unique_ptr<Node>> loops;  ///< inner loops
};

struct Nest {
    Node root;
    std::vector<std::string>
        stages;  ///< by number: the Funcs in the order of their first statement
    std::vector<BufferInfo> buffers;
    /// The program would refuse these buffers because they are too small for it.
    bool too_small = false;
    std::vector<std::string> notes;
};

/// For tests and debugging. Loops are l0, l1, .. by depth in indices: "f[12 + 1 l1(64)]" is at 12 in the middle
/// iteration, and at 64 places of distance 1.
std::string to_string(const Nest &nest);

}  // namespace Pipe::predict
