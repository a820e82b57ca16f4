#pragma once
// Fibers: functions with a stack of their own, that can be left and gone on with.

#include <cstddef>
#include <memory>
#include <vector>

namespace Pipe::runtime::emulator {

/// Runs one body after the other. A fiber that was left inside of a body must go on in the same thread of the host.
class Fiber {
  public:
    using Body = void(void *argument);

    /// `top`: the end of its memory, aligned to 64.
    Fiber(char *bottom, char *top);
    ~Fiber();
    Fiber(const Fiber &) = delete;

    /// Runs the body until it ends or calls leave(). The fiber is in no body.
    void start(Body *body, void *argument);
    /// Goes on after leave(), until the body ends or leaves again.
    void resume();
    /// Called by the body: start() or resume() returns.
    void leave();
    bool in_body() const { return body_ != nullptr; }
    /// Ends a body that was left. Its frames are gone as if they had never been: no destructor runs.
    void abandon();

  private:
    struct Context;
    static void run(Fiber *fiber);
    static void entry();
    void prepare();

    char *bottom_, *top_;
    Body *body_ = nullptr;
    void *argument_ = nullptr;
    std::unique_ptr<Context> context_;
};

/// Fibers and their stacks. Of one thread at a time.
class FiberPool {
  public:
    /// Bytes of a stack: the local arrays of a kernel lie there, of which a thread of CUDA has at most 512 KB. Only pages
    /// that are touched take memory.
    static constexpr size_t stack_bytes = 576 << 10;
    /// Below it, without access. Generated code does not touch its frames page by page, so that one page is not enough.
    static constexpr size_t guard_bytes = 64 << 10;

    FiberPool() = default;
    ~FiberPool();
    FiberPool(const FiberPool &) = delete;

    /// One that is in no body: the last that was given back. Null where memory is short.
    Fiber *take();
    void give(Fiber *fiber) { idle_.push_back(fiber); }

  private:
    bool add_stacks();
    std::vector<char *> slabs_;
    std::vector<std::unique_ptr<Fiber>> fibers_;
    std::vector<Fiber *> idle_;
};

}  // namespace Pipe::runtime::emulator
