#include "support/deep_stack.h"

#include <exception>

#include <pthread.h>

namespace Pipe::support {

namespace {

thread_local bool is_deep = false;

struct Job {
    const std::function<void()> &work;
    std::exception_ptr error;

    static void *run(void *job) {
        auto &self = *static_cast<Job *>(job);
        is_deep = true;
        try {
            self.work();
        } catch (...) {
            self.error = std::current_exception();
        }
        return nullptr;
    }
};

/// Returns false if no such thread can be started.
bool run_in_thread(Job &job, size_t stack_bytes) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_t thread;
    bool started = pthread_attr_setstacksize(&attributes, stack_bytes) == 0 &&
                   pthread_create(&thread, &attributes, &Job::run, &job) == 0;
    pthread_attr_destroy(&attributes);
    if (started)
        pthread_join(thread, nullptr);
    return started;
}

}  // namespace

void on_deep_stack(const std::function<void()> &work) {
    if (is_deep)
        return work();
    Job job{work, nullptr};
    // Less if the address space is limited; in the worst case, the caller's own stack.
    if (!run_in_thread(job, size_t(1) << 30) && !run_in_thread(job, size_t(64) << 20))
        return work();
    if (job.error)
        std::rethrow_exception(job.error);
}

}  // namespace Pipe::support
