#include "jit/runtime/gpu/emulator/fiber.h"

#include <cstdint>
#include <cstring>

#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

// pipe_switch_stack(void **from, void *to): saves what a function must preserve on the stack, and the stack's pointer in
// *from; goes on with the stack `to`. (Control words of the floating-point unit are the same in all kernels.)
#if defined(__x86_64__) && defined(__ELF__)
#define PIPE_SWITCH_STACK 1
__asm__(R"(
    .text
    .hidden pipe_switch_stack
    .globl pipe_switch_stack
    .type pipe_switch_stack, @function
    .p2align 4
pipe_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size pipe_switch_stack, . - pipe_switch_stack
)");
#elif defined(__aarch64__) && defined(__ELF__)
#define PIPE_SWITCH_STACK 1
__asm__(R"(
    .text
    .hidden pipe_switch_stack
    .globl pipe_switch_stack
    .type pipe_switch_stack, %function
    .p2align 4
pipe_switch_stack:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size pipe_switch_stack, . - pipe_switch_stack
)");
#else
#include <ucontext.h>
#endif

#ifdef PIPE_SWITCH_STACK
extern "C" void pipe_switch_stack(void **from, void *to);
#endif

namespace Pipe::runtime::emulator {

namespace {

/// The fiber that starts for the first time.
thread_local Fiber *starting = nullptr;

#ifdef PIPE_SWITCH_STACK
struct Stack {
    void *pointer = nullptr;

    void prepare(char *, char *top, void (*entry)()) {
#ifdef __x86_64__
        constexpr int words = 8,
                      entry_at =
                          6;  // six registers, the entry's address, and where it would return to
#else
        constexpr int words = 20, entry_at = 11;  // x30
#endif
        void *saved[words] = {};
        saved[entry_at] = reinterpret_cast<void *>(entry);
        pointer = top - sizeof(saved);
        std::memcpy(pointer, saved, sizeof(saved));
    }
    void switch_to(Stack &other) {
        pipe_switch_stack(&pointer, other.pointer);
    }
};
#else
struct Stack {
    ucontext_t context;

    void prepare(char *bottom, char *top, void (*entry)()) {
        getcontext(&context);
        context.uc_stack.ss_sp = bottom;
        context.uc_stack.ss_size = static_cast<size_t>(top - bottom);
        context.uc_link = nullptr;
        makecontext(&context, entry, 0);
    }
    void switch_to(Stack &other) { swapcontext(&context, &other.context); }
};
#endif

}  // namespace

/// Both sides of a switch, and what sanitizers must be told of it.
struct Fiber::Context {
    Stack fiber, host;
#if defined(__SANITIZE_ADDRESS__)
    void *fiber_frames = nullptr, *host_frames = nullptr;
    const void *host_bottom = nullptr;
    size_t host_bytes = 0;
    void to_fiber(char *bottom, char *top) {
        __sanitizer_start_switch_fiber(&host_frames, bottom, static_cast<size_t>(top - bottom));
        host.switch_to(fiber);
        __sanitizer_finish_switch_fiber(host_frames, nullptr, nullptr);
    }
    void to_host() {
        __sanitizer_start_switch_fiber(&fiber_frames, host_bottom, host_bytes);
        fiber.switch_to(host);
        arrived(fiber_frames);
    }
    void arrived(void *frames) {
        __sanitizer_finish_switch_fiber(frames, &host_bottom, &host_bytes);
    }
    void renew(char *bottom, char *top) {
        __asan_unpoison_memory_region(bottom, static_cast<size_t>(top - bottom));
    }
#elif defined(__SANITIZE_THREAD__)
    void *fiber_state = nullptr, *host_state = nullptr;
    ~Context() {
        if (fiber_state)
            __tsan_destroy_fiber(fiber_state);
    }
    void to_fiber(char *, char *) {
        host_state = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(fiber_state, 0);
        host.switch_to(fiber);
    }
    void to_host() {
        __tsan_switch_to_fiber(host_state, 0);
        fiber.switch_to(host);
    }
    void arrived(void *) {}
    void renew(char *, char *) {
        if (fiber_state)
            __tsan_destroy_fiber(fiber_state);
        fiber_state = __tsan_create_fiber(0);
    }
#else
    void to_fiber(char *, char *) {
        host.switch_to(fiber);
    }
    void to_host() {
        fiber.switch_to(host);
    }
    void arrived(void *) {}
    void renew(char *, char *) {}
#endif
};

Fiber::Fiber(char *bottom, char *top)
    : bottom_(bottom), top_(top), context_(std::make_unique<Context>()) {
    prepare();
}

Fiber::~Fiber() = default;

void Fiber::prepare() {
    body_ = nullptr;
    context_->renew(bottom_, top_);
    context_->fiber.prepare(bottom_, top_, &Fiber::entry);
}

void Fiber::entry() {
    Fiber *fiber = starting;
    fiber->context_->arrived(nullptr);
    run(fiber);
}

void Fiber::run(Fiber *fiber) {
    while (true) {
        fiber->body_(fiber->argument_);
        fiber->body_ = nullptr;
        fiber->context_->to_host();
    }
}

void Fiber::start(Body *body, void *argument) {
    body_ = body;
    argument_ = argument;
    starting = this;
    resume();
}

void Fiber::resume() {
    context_->to_fiber(bottom_, top_);
}

void Fiber::leave() {
    context_->to_host();
}

void Fiber::abandon() {
    prepare();
}

namespace {

constexpr size_t stacks_in_slab = 32;
constexpr size_t slab_bytes = stacks_in_slab * (FiberPool::stack_bytes + FiberPool::guard_bytes);

}  // namespace

FiberPool::~FiberPool() {
    fibers_.clear();
    for (char *slab : slabs_)
        munmap(slab, slab_bytes);
}

Fiber *FiberPool::take() {
    if (idle_.empty() && !add_stacks())
        return nullptr;
    Fiber *fiber = idle_.back();
    idle_.pop_back();
    return fiber;
}

bool FiberPool::add_stacks() {
    void *slab =
        mmap(nullptr, slab_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab == MAP_FAILED)
        return false;
    slabs_.push_back(static_cast<char *>(slab));
    for (size_t i = stacks_in_slab; i-- > 0;) {
        char *guard = slabs_.back() + i * (stack_bytes + guard_bytes);
        char *bottom = guard + guard_bytes;
        if (mprotect(bottom, stack_bytes, PROT_READ | PROT_WRITE) != 0)
            return !idle_.empty();
        // Stacks that all began at the same distance of a large power of two would share few sets of the caches.
        char *top = bottom + stack_bytes - 64 * (fibers_.size() * 7 % 64);
        fibers_.push_back(std::make_unique<Fiber>(bottom, top));
        idle_.push_back(fibers_.back().get());
    }
    return true;
}

}  // namespace Pipe::runtime::emulator
