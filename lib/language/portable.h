#pragma once
// A schedule by names, without reference to the objects of this process: what a schedule file holds.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/directives.h"
#include "language/algorithm.h"
#include "language/freeze.h"

namespace Pipe::language {

using graph::Argument;
using graph::Directive;
using graph::Statement;

/// Its Arguments are of the kinds Text (also for loops, Funcs, images and enumerators), Number, Flag,
/// List, and Stage, where `text` is the Func.
///
/// Names of Funcs are those of Algorithm, and for Funcs that in(), clone_in() and rfactor() add, the
/// call: "blur.in(sharp)". Loops have their own names; those without a name are "#0", "#1" (a
/// dimension), "#r0" (an RVar) or "#loop0" (a loop made by a split). Params and images in Numbers are
/// Variables "n" and "photo.extent.0"; the output buffer of value 1 of a Func is "blur.output.1.min.0".
struct PortableSchedule {
    struct DerivedFunc {
        std::string name;
        std::string method;  ///< "in", "clone_in", "rfactor"
        std::string of;      ///< a Func, or an image
        std::vector<std::string> consumers;
        int stage = 0;                  ///< rfactor: of `of`
        std::vector<Directive> before;  ///< rfactor: directives on it that come before
        std::vector<std::pair<std::string, std::string>> preserved;  ///< rfactor: (loop, Var)
    };
    struct Entry {
        std::string func;
        int stage = 0;                 ///< -1: the whole Func
        std::vector<int> specialized;  ///< as in Statement
        std::vector<Directive> directives;
    };
    std::vector<DerivedFunc> made;  ///< each after what it is made of
    std::vector<Entry> entries;
};

/// The names of everything in a pipeline, in both directions.
class PortableNames {
  public:
    explicit PortableNames(const std::vector<Func> &outputs);
    /// Of these Funcs, producers first: with those that the autoscheduler added (graph/pack.h).
    PortableNames(const std::vector<Func> &outputs,
                  const std::vector<std::shared_ptr<const FuncContents>> &funcs);

    const Algorithm &algorithm() const { return algorithm_; }
    /// Null if there is none.
    std::shared_ptr<FuncContents> find(const std::string &name) const;
    /// The name; "" for a Func that is not in the pipeline.
    std::string name_of(const FuncContents &func) const;
    /// The Funcs that were added, each after what it is made of.
    const std::vector<std::shared_ptr<FuncContents>> &made() const { return made_; }
    /// How an added Func was made.
    PortableSchedule::DerivedFunc how(const FuncContents &func) const;
    /// Enters a Func that was added.
    void add(const std::shared_ptr<FuncContents> &func);

    /// The name of a loop of a stage.
    std::string loop(const FuncContents &func, size_t stage, const std::string &name);
    /// The loop of that name.
    static std::string find_loop(const FuncContents &func, size_t stage, const std::string &name);

  private:
    std::string name_made(const FuncContents &func) const;
    std::string name_of(const Wrappable &object) const;

    Algorithm algorithm_;
    std::map<std::string, std::shared_ptr<FuncContents>> funcs_;
    std::map<const FuncContents *, std::string> names_;
    std::vector<std::shared_ptr<FuncContents>> made_;
    std::map<std::pair<const FuncContents *, std::string>, std::string> new_loops_;
    std::map<const FuncContents *, int> new_loop_count_;
};

/// The final schedule of a frozen pipeline. CompileError if a directive refers to a Param or an image
/// without a name.
PortableSchedule portable(const std::vector<Func> &outputs, const Frozen &frozen);

/// "split(x, xo, xi, 8)", for comparison and messages.
std::string to_string(const Directive &directive);

}  // namespace Pipe::language
