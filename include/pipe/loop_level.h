#pragma once
// LoopLevel: a position in a loop nest, which can be set later.

#include <memory>
#include <string>

#include <pipe/rdom.h>
#include <pipe/schedule.h>

namespace Pipe {

class Func;

/// A position in a loop nest: just inside a loop, outside all loops (root), or none (inlined).
/// Copies refer to the same LoopLevel: set() changes all of them, including those passed to
/// directives. Code that schedules a Func can thus leave the level open until the consumer exists.
///
/// Compiling a pipeline locks the levels that its schedule uses; set() is then a CompileError.
class LoopLevel {
  public:
    /// Undefined, until set().
    LoopLevel();
    /// Just inside the loop `var` of `func`. stage: 0 = the pure definition, 1 = the first update,
    /// ...; -1 = the first stage that has such a loop and uses the Func that is placed there.
    LoopLevel(const Func &func, const VarOrRVar &var, int stage_index = -1);
    static LoopLevel inlined();
    static LoopLevel root();

    void set(const LoopLevel &other);
    LoopLevel &lock();

    bool defined() const;
    bool locked() const;
    bool is_inlined() const;
    bool is_root() const;
    /// CompileError if the level is undefined, inlined or root.
    std::string func() const;
    VarOrRVar var() const;
    int stage_index() const;
    /// "f.x", "root", "inlined"
    std::string to_string() const;
    bool operator==(const LoopLevel &other) const;
    bool operator!=(const LoopLevel &other) const { return !(*this == other); }

    struct Contents;
    const std::shared_ptr<Contents> &contents() const { return contents_; }

  private:
    explicit LoopLevel(const schedules::LoopLevel &level);
    const schedules::LoopLevel &loop(const char *what) const;

    std::shared_ptr<Contents> contents_;
};

struct LoopLevel::Contents {
    schedules::LoopLevel level;
    bool defined = false, locked = false;
};

}  // namespace Pipe
