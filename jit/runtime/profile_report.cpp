// The profiler's results as a table and as a page.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "jit/runtime/profiler.h"
#include "support/text.h"

namespace Pipe::runtime {

namespace {

/// A line for one Func, in readable units.
struct Line {
    std::string name, stack;
    double milliseconds, share, threads;
    std::string peak;
    int64_t mallocs;
};

std::string bytes(int64_t n) {
    if (n < 10 << 10)
        return fmt::format("{} B", n);
    if (n < 10 << 20)
        return fmt::format("{} KiB", n >> 10);
    return fmt::format("{} MiB", n >> 20);
}

double per_run(double milliseconds, int64_t runs) {
    return milliseconds / static_cast<double>(std::max<int64_t>(1, runs));
}

Line line_of(const Profile::Func &f, double milliseconds, double total, int64_t runs) {
    Line line;
    line.name = f.name;
    line.share = total > 0 ? f.weight / total : 0;
    line.milliseconds = per_run(line.share * milliseconds, runs);
    line.threads =
        f.samples > 0 ? static_cast<double>(f.thread_samples) / static_cast<double>(f.samples) : 0;
    line.peak = bytes(f.peak_bytes);
    line.stack = bytes(f.stack_bytes);
    line.mallocs = f.mallocs;
    return line;
}

const char *const style =
    "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}"
    "th,td{padding:3px 12px;text-align:right;border-bottom:1px solid #ddd}"
    "th:first-child,td:first-child{text-align:left;font-family:monospace}"
    ".bar{width:240px;text-align:left}.bar div{background:#4a7fb5;height:12px}";

}  // namespace

Profile::Profile(const Profile &other) {
    std::lock_guard lock(other.mutex_);
    funcs_ = other.funcs_, kernels_ = other.kernels_, runs_ = other.runs_,
    milliseconds_ = other.milliseconds_;
}

Profile::Func &Profile::find(const std::string &name) {
    auto found =
        std::find_if(funcs_.begin(), funcs_.end(), [&](const Func &f) { return f.name == name; });
    if (found != funcs_.end())
        return *found;
    funcs_.emplace_back().name = name;
    return funcs_.back();
}

double Profile::total_weight() const {
    double total = 0;
    for (const Func &f : funcs_)
        total += f.weight;
    return total;
}

void Profile::add(ProfiledRun &run, const std::vector<ProfiledFunc> &funcs) {
    std::lock_guard lock(mutex_);
    runs_++;
    milliseconds_ += run.milliseconds();
    for (size_t i = 0; i < run.size(); i++) {
        const ProfileEntry &e = run.table()[i];
        Func &f = find(funcs[i].name);
        f.weight += e.weight;
        f.samples += e.samples;
        f.thread_samples += e.thread_samples;
        f.peak_bytes = std::max(f.peak_bytes, e.peak_bytes.load());
        f.mallocs += e.mallocs;
        f.malloc_bytes += e.malloc_bytes;
        f.stack_bytes = std::max(f.stack_bytes, funcs[i].stack_bytes);
    }
}

void add_kernel_time(std::vector<KernelTime> &times, const KernelTime &time) {
    auto found = std::find_if(times.begin(), times.end(),
                              [&](const KernelTime &t) { return t.kernel == time.kernel; });
    if (found == times.end()) {
        times.push_back(time);
        return;
    }
    found->launches += time.launches;
    found->milliseconds += time.milliseconds;
}

void Profile::add(const std::vector<KernelTime> &kernels) {
    std::lock_guard lock(mutex_);
    for (const KernelTime &k : kernels)
        add_kernel_time(kernels_, k);
}

void Profile::add(const Profile &other) {
    Profile copy(other);
    add(copy.kernels_);
    std::lock_guard lock(mutex_);
    runs_ += copy.runs_;
    milliseconds_ += copy.milliseconds_;
    for (const Func &from : copy.funcs_) {
        Func &f = find(from.name);
        f.weight += from.weight;
        f.samples += from.samples;
        f.thread_samples += from.thread_samples;
        f.peak_bytes = std::max(f.peak_bytes, from.peak_bytes);
        f.mallocs += from.mallocs;
        f.malloc_bytes += from.malloc_bytes;
        f.stack_bytes = std::max(f.stack_bytes, from.stack_bytes);
    }
}

void Profile::reset() {
    std::lock_guard lock(mutex_);
    funcs_.clear();
    kernels_.clear();
    runs_ = 0, milliseconds_ = 0;
}

std::string Profile::text(const std::string &name) const {
    std::lock_guard lock(mutex_);
    double total = total_weight();
    size_t width = 8;
    for (const Func &f : funcs_)
        width = std::max(width, f.name.size());
    double mean = runs_ > 0 ? milliseconds_ / static_cast<double>(runs_) : 0;
    std::string text =
        fmt::format("{}: {} runs, {:.3f} ms each, {:.0f} samples\n", name, runs_, mean, total);
    text += fmt::format("  {:<{}}  {:>10}  {:>6}  {:>7}  {:>10}  {:>8}  {:>8}\n", "Func", width,
                        "ms", "share", "threads", "peak", "mallocs", "stack");
    for (const Func &f : funcs_) {
        Line l = line_of(f, milliseconds_, total, runs_);
        text += fmt::format("  {:<{}}  {:>10.3f}  {:>5.1f}%  {:>7.2f}  {:>10}  {:>8}  {:>8}\n",
                            l.name, width, l.milliseconds, 100 * l.share, l.threads, l.peak,
                            l.mallocs, l.stack);
    }
    if (kernels_.empty())
        return text;
    for (const KernelTime &k : kernels_)
        width = std::max(width, k.kernel.size());
    text += fmt::format("  {:<{}}  {:>10}  {:>8}\n", "kernel", width, "ms", "launches");
    for (const KernelTime &k : kernels_)
        text += fmt::format("  {:<{}}  {:>10.3f}  {:>8}\n", k.kernel, width,
                            per_run(k.milliseconds, runs_), k.launches);
    return text;
}

std::vector<std::pair<std::string, double>> Profile::milliseconds_per_run() const {
    std::lock_guard lock(mutex_);
    const double total = total_weight();
    std::vector<std::pair<std::string, double>> times;
    for (const Func &f : funcs_)
        times.emplace_back(f.name, line_of(f, milliseconds_, total, runs_).milliseconds);
    return times;
}

std::string Profile::html(const std::string &name) const {
    std::lock_guard lock(mutex_);
    double total = total_weight();
    std::vector<Func> sorted = funcs_;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Func &a, const Func &b) { return a.weight > b.weight; });
    double mean = runs_ > 0 ? milliseconds_ / static_cast<double>(runs_) : 0;
    std::string page = fmt::format(
        "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>Profile of {0}</title>"
        "<style>{1}</style></head><body>\n<h1>{0}</h1>\n<p>{2} runs, {3:.3f} ms each, {4:.0f} "
        "samples</p>\n<table><tr><th>Func</th><th>ms per run</th><th>share</th><th></th>"
        "<th>threads</th><th>peak memory</th><th>mallocs</th><th>stack</th></tr>\n",
        support::html(name), style, runs_, mean, total);
    for (const Func &f : sorted) {
        Line l = line_of(f, milliseconds_, total, runs_);
        page += fmt::format("<tr><td>{}</td><td>{:.3f}</td><td>{:.1f}%</td><td class=\"bar\"><div "
                            "style=\"width:{:.1f}%\"></div></td><td>{:.2f}</td><td>{}</td>"
                            "<td>{}</td><td>{}</td></tr>\n",
                            support::html(l.name), l.milliseconds, 100 * l.share, 100 * l.share,
                            l.threads, l.peak, l.mallocs, l.stack);
    }
    page += "</table>";
    if (!kernels_.empty())
        page += "<h2>On the GPU</h2><table><tr><th>kernel</th><th>ms per "
                "run</th><th>launches</th></tr>\n";
    for (const KernelTime &k : kernels_)
        page += fmt::format("<tr><td>{}</td><td>{:.3f}</td><td>{}</td></tr>\n",
                            support::html(k.kernel), per_run(k.milliseconds, runs_), k.launches);
    return page + (kernels_.empty() ? "" : "</table>") + "</body></html>\n";
}

}  // namespace Pipe::runtime
