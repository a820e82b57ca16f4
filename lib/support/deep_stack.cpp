#include "support/deep_stack.h"

#include <exception>

#include <pthread.h>

namespace Pipe::support {

namespace {

thread_local bool is_deep = false;

class Job {
  public:
    explicit Job(const std::function<void()> &work) : work_(work) {}

    /// Returns false if no such thread can be started.
    bool start(size_t stack_bytes) {
        pthread_attr_t attributes;
        if (pthread_attr_init(&attributes) != 0)
            return false;
        started_ = pthread_attr_setstacksize(&attributes, stack_bytes) == 0 &&
                   pthread_create(&thread_, &attributes, &Job::run, this) == 0;
        pthread_attr_destroy(&attributes);
        return started_;
    }
    /// Less stack if the address space is limited; in the worst case, it will be the caller's own.
    void start() {
        if (!start(size_t(1) << 30))
            start(size_t(64) << 20);
    }
    /// Waits for it, or calls it here.
    void finish() {
        if (started_)
            pthread_join(thread_, nullptr);
        else
            call();
    }
    void rethrow() const {
        if (error_)
            std::rethrow_exception(error_);
    }

  private:
    void call() {
        try {
            work_();
        } catch (...) {
            error_ = std::current_exception();
        }
    }
    static void *run(void *job) {
        is_deep = true;
        static_cast<Job *>(job)->call();
        return nullptr;
    }

    const std::function<void()> &work_;
    std::exception_ptr error_;
    pthread_t thread_{};
    bool started_ = false;
};

}  // namespace

void on_deep_stack(const std::function<void()> &work) {
    if (is_deep)
        return work();
    on_deep_stacks({work});
}

void on_deep_stacks(const std::vector<std::function<void()>> &all) {
    std::vector<Job> jobs(all.begin(), all.end());
    for (Job &job : jobs)
        job.start();
    for (Job &job : jobs)
        job.finish();
    for (const Job &job : jobs)
        job.rethrow();
}

}  // namespace Pipe::support
