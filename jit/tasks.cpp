#include "jit/tasks.h"

#include <chrono>
#include <condition_variable>
#include <new>
#include <system_error>
#include <thread>

#include <omp.h>

namespace Pipe::jit {

namespace {

thread_local bool is_inside_parallel_loop = false;

struct Semaphore {
    std::mutex mutex;
    std::condition_variable changed;
    int64_t count;
};
static_assert(sizeof(Semaphore) <= codegen::semaphore_bytes && alignof(Semaphore) <= 64);

Semaphore &at(void *memory) {
    return *std::launder(static_cast<Semaphore *>(memory));
}

}  // namespace

bool inside_parallel_loop() {
    return is_inside_parallel_loop || omp_in_parallel();
}

int32_t fork_tasks(Context *context, codegen::RangeBody *first, void *first_closure,
                   codegen::RangeBody *second, void *second_closure) {
    int32_t first_code = 0;
    bool inside = inside_parallel_loop();
    std::thread thread;
    try {
        thread = std::thread([&] {
            is_inside_parallel_loop = inside;
            first_code = first(context, 0, 0, first_closure);
        });
    } catch (const std::system_error &error) {
        context->fail(out_of_memory,
                      std::string("no thread could be started for an async Func: ") + error.what());
        return out_of_memory;
    }
    int32_t second_code = second(context, 0, 0, second_closure);
    thread.join();
    bool first_failed = first_code != 0 && first_code != codegen::cancelled;
    return first_failed || second_code == 0 ? first_code : second_code;
}

void semaphore_open(void *memory, int64_t count) {
    new (memory) Semaphore{{}, {}, count};
}

void semaphore_close(void *memory) {
    at(memory).~Semaphore();
}

int32_t semaphore_acquire(Context *context, void *memory) {
    Semaphore &s = at(memory);
    std::unique_lock lock(s.mutex);
    // A failure elsewhere is looked for now and then: nobody releases any more.
    while (!s.changed.wait_for(lock, std::chrono::milliseconds(20), [&] { return s.count > 0; }))
        if (context->failed())
            return codegen::cancelled;
    s.count--;
    return context->failed() ? codegen::cancelled : 0;
}

void semaphore_release(void *memory) {
    Semaphore &s = at(memory);
    std::lock_guard lock(s.mutex);
    s.count++;
    s.changed.notify_one();
}

}  // namespace Pipe::jit
