// What replaces a schedule of the autoscheduler that cannot be used.

#include <fmt/format.h>

#include "driver/scheduled.h"
#include "support/error.h"

namespace Pipe::driver {
namespace {

struct Fallback {
    const char *what;
    /// Nothing: not for this machine.
    std::optional<Scheduled::Given> (*schedule)(const Scheduled &);
    /// Whether that it is needed is a fault of Pipe, which the user should hear of.
    bool is_fault = true;
};

/// The sizes of shared memory are known only after lowering: a group may turn out to be too large.
std::optional<Scheduled::Given> single_kernels(const Scheduled &s) {
    if (!s.report.machine.gpu)
        return std::nullopt;
    AutoscheduleOptions single = s.options;
    single.group_limit = 1;
    autoschedule::Result found =
        autoschedule::schedule(s.user->graph, s.user->schedule, s.sizes, s.report.machine, single);
    return Scheduled::Given{std::move(found.graph), std::move(found.schedule)};
}

/// Best first.
constexpr Fallback fallbacks[] = {
    {"each Func is computed by kernels of its own", single_kernels, false},
    {"Funcs without directives are computed at root, without fusion",
     [](const Scheduled &s) -> std::optional<Scheduled::Given> {
         return {{s.user->graph, autoschedule::at_root(s.user->graph, s.user->schedule)}};
     }},
};

void tell(Scheduled &s, const char *what, bool is_fault, const std::string &why) {
    s.report.text +=
        fmt::format("The autoscheduler found no usable schedule ({}): {}.\n", why, what);
    if (is_fault)
        s.fallback_warning =
            fmt::format("{}: the autoscheduler found no usable schedule ({}): {}. Give them "
                        "directives if that is slow. Please report this.",
                        graph::description(s.frozen.graph), why, what);
}

/// Whether there is one, and it is legal; then it is taken.
bool takes(Scheduled &s, const Fallback &fallback) {
    try {
        support::SuppressErrorReporting suppressed;
        std::optional<Scheduled::Given> found = fallback.schedule(s);
        if (found)
            take_schedule(s, std::move(found->graph), std::move(found->schedule));
        return found.has_value();
    } catch (const std::exception &) {
        return false;
    }
}

}  // namespace

bool can_fall_back(const Scheduled &s) {
    return s.user && s.fallbacks_used < std::size(fallbacks);
}

void fall_back(Scheduled &s, const std::string &why) {
    while (can_fall_back(s)) {
        const Fallback &next = fallbacks[s.fallbacks_used++];
        if (takes(s, next))
            return tell(s, next.what, next.is_fault, why);
    }
    // Which is legal, or there is an error of the user's.
    take_schedule(s, s.user->graph, s.user->schedule);
    tell(s, "Funcs without directives are inlined", true, why);
}

}  // namespace Pipe::driver
