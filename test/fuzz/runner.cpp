#include "fuzz/runner.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace Pipe::fuzz {
namespace {

constexpr time_t seconds_per_case = 60, seconds_per_trial = 10;
constexpr long seconds_slow = 5;
constexpr int exit_slow = 77;
char crash_note[64];  // set before each case: a signal handler may only write what is there

void on_crash(int signal) {
    [[maybe_unused]] auto written = write(STDERR_FILENO, crash_note, std::strlen(crash_note));
    std::signal(signal, SIG_DFL);
    raise(signal);
}

void on_time_over(int signal) {
    if (case_runs)
        _exit(exit_slow);
    std::signal(signal, SIG_DFL);
    raise(signal);
}

/// `what` is empty while a case is being made smaller: many crashes are expected.
void guard_case(const std::string &what) {
    if (!what.empty())
        std::snprintf(crash_note, sizeof crash_note, "\nfuzz: crash in case %s\n", what.c_str());
    for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
        std::signal(signal, on_crash);
    std::signal(SIGPROF, on_time_over);
    // Of processor time, so that it does not depend on what else the machine does.
    itimerval limit{{0, 0}, {what.empty() ? seconds_per_trial : seconds_per_case, 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
}

/// Runs `body` in a child; what it hands to its argument arrives as the parts of the answer.
/// `status` as of waitpid.
std::vector<std::string>
in_child(const std::function<void(const std::function<void(const std::string &)> &)> &body,
         int *status) {
    int ends[2];
    if (pipe(ends) != 0)
        throw std::runtime_error("pipe() failed");
    pid_t child = fork();
    if (child < 0)
        throw std::runtime_error("fork() failed");
    if (child == 0) {
        close(ends[0]);
        body([&](const std::string &part) {
            auto size = static_cast<uint32_t>(part.size());
            std::string message(reinterpret_cast<const char *>(&size), sizeof size);
            message += part;
            for (size_t done = 0; done < message.size();) {
                ssize_t n = write(ends[1], message.data() + done, message.size() - done);
                if (n <= 0)
                    _exit(3);
                done += static_cast<size_t>(n);
            }
        });
        _exit(0);
    }
    close(ends[1]);
    std::string all;
    char block[4096];
    for (ssize_t n; (n = read(ends[0], block, sizeof block)) > 0;)
        all.append(block, static_cast<size_t>(n));
    close(ends[0]);
    waitpid(child, status, 0);
    std::vector<std::string> parts;
    for (size_t at = 0; at + sizeof(uint32_t) <= all.size();) {
        uint32_t size;
        std::memcpy(&size, all.data() + at, sizeof size);
        parts.push_back(all.substr(at + sizeof size, size));
        at += sizeof size + size;
    }
    return parts;
}

Result how_it_ended(int status) {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
        return {Result::Crashed, "was not compiled in time"};
    if (WIFSIGNALED(status))
        return {Result::Crashed, std::string("killed by ") + strsignal(WTERMSIG(status))};
    if (WEXITSTATUS(status) == exit_slow)
        return {Result::Slow, "still ran when its time was over"};
    return {Result::Crashed, "exit status " + std::to_string(WEXITSTATUS(status))};
}

Report run_one(Choices choices, Rules rules, const std::string &name) {
    int status = 0;
    std::vector<std::string> parts = in_child(
        [&](const auto &send) {
            guard_case(name);
            Result result =
                run_case(choices, rules, [&](const std::string &text) { send("T" + text); });
            const std::vector<uint32_t> &made = choices.made();
            send("C" + std::string(reinterpret_cast<const char *>(made.data()),
                                   made.size() * sizeof(uint32_t)));
            send(std::string(1, result.kind) + result.message);
        },
        &status);
    Report report;
    report.result = how_it_ended(status);
    for (const std::string &part : parts) {
        if (part[0] == 'T') {
            report.text = part.substr(1);
        } else if (part[0] == 'C' && report.choices.empty() && &part != &parts.back()) {
            report.choices.resize((part.size() - 1) / sizeof(uint32_t));
            std::memcpy(report.choices.data(), part.data() + 1, part.size() - 1);
        } else {
            report.result = {static_cast<Result::Kind>(part[0]), part.substr(1)};
        }
    }
    return report;
}

}  // namespace

Report run_alone(uint64_t seed, Rules rules) {
    Report report = run_one(Choices(seed), rules, "PIPE_FUZZ_SEED=" + std::to_string(seed));
    if (report.choices
            .empty()) {  // a crash: make many choices again, as many as it can have needed
        Choices again(seed);
        for (int i = 0; i < 20000; i++)
            again.below(1 << 30);
        report.choices = again.made();
    }
    return report;
}

Report run_alone(const std::vector<uint32_t> &choices, Rules rules) {
    Report report = run_one(Choices(choices), rules, "");
    report.choices = choices;
    return report;
}

std::vector<Result> run_batch(uint64_t first, int count, Rules rules) {
    std::vector<Result> results;
    while (static_cast<int>(results.size()) < count) {
        uint64_t next = first + results.size();
        int left = count - static_cast<int>(results.size());
        int status = 0;
        std::vector<std::string> parts = in_child(
            [&](const auto &send) {
                for (int i = 0; i < left; i++) {
                    uint64_t seed = next + static_cast<uint64_t>(i);
                    guard_case("PIPE_FUZZ_SEED=" + std::to_string(seed));
                    Choices choices(seed);
                    std::clock_t start = std::clock();
                    Result result = run_case(choices, rules, [](const std::string &) {});
                    auto seconds = (std::clock() - start) / CLOCKS_PER_SEC;
                    if (seconds >= seconds_slow)
                        std::fprintf(
                            stderr, "fuzz: PIPE_FUZZ_SEED=%llu took %ld s of processor time\n",
                            static_cast<unsigned long long>(seed), static_cast<long>(seconds));
                    send(std::string(1, result.kind) + result.message);
                }
            },
            &status);
        for (const std::string &part : parts)
            results.push_back({static_cast<Result::Kind>(part[0]), part.substr(1)});
        if (static_cast<int>(parts.size()) < left)
            results.push_back(how_it_ended(status));
    }
    return results;
}

namespace {

/// Tries changed lists of choices and keeps those that still fail in the same way.
class Minimizer {
  public:
    Minimizer(const Report &failed, Rules rules) : best_(failed), rules_(rules) {}

    Report run() {
        size_t before;
        do {
            before = trials_kept_;
            remove_and_zero();
            lower();
        } while (trials_kept_ != before && !exhausted());
        return best_;
    }

  private:
    bool exhausted() const {
        return trials_ >= 600 || std::chrono::steady_clock::now() > deadline_;
    }

    bool try_out(const std::vector<uint32_t> &choices) {
        if (exhausted() || choices == best_.choices)
            return false;
        trials_++;
        Report report = run_alone(choices, rules_);
        // An error stays the same error; of crashes and wrong pixels there is one sort each.
        bool same = report.result.kind == best_.result.kind &&
                    (report.result.kind != Result::Error ||
                     report.result.message.substr(0, 24) == best_.result.message.substr(0, 24));
        if (!same)
            return false;
        best_ = report;
        trials_kept_++;
        return true;
    }

    void remove_and_zero() {
        drop_unused_tail();
        for (size_t size = std::max<size_t>(1, best_.choices.size() / 4); size > 0; size /= 2) {
            for (size_t at = 0; at < best_.choices.size() && !exhausted();) {
                std::vector<uint32_t> shorter = best_.choices;
                size_t end = std::min(at + size, shorter.size());
                shorter.erase(shorter.begin() + static_cast<long>(at),
                              shorter.begin() + static_cast<long>(end));
                std::vector<uint32_t> zeroed = best_.choices;
                std::fill(zeroed.begin() + static_cast<long>(at),
                          zeroed.begin() + static_cast<long>(end), 0);
                if (!try_out(shorter) && !try_out(zeroed))
                    at += size;
                else if (best_.choices == zeroed)
                    at += size;
            }
        }
    }

    /// A crash does not tell how many choices it took: the end of the list may be superfluous.
    void drop_unused_tail() {
        while (best_.choices.size() > 1) {
            std::vector<uint32_t> half(best_.choices.begin(),
                                       best_.choices.begin() +
                                           static_cast<long>(best_.choices.size() / 2));
            if (!try_out(half))
                return;
        }
    }

    void lower() {
        for (size_t i = 0; i < best_.choices.size(); i++) {
            for (uint32_t v = best_.choices[i]; v > 0 && !exhausted(); v = best_.choices[i]) {
                std::vector<uint32_t> less = best_.choices;
                less[i] = v / 2;
                if (try_out(less))
                    continue;
                less[i] = v - 1;
                if (!try_out(less))
                    break;
            }
        }
    }

    Report best_;
    const Rules rules_;
    int trials_ = 0;
    size_t trials_kept_ = 0;
    std::chrono::steady_clock::time_point deadline_ =
        std::chrono::steady_clock::now() + std::chrono::seconds(90);
};

}  // namespace

Report minimized(const Report &failed, Rules rules) {
    return Minimizer(failed, rules).run();
}

}  // namespace Pipe::fuzz
