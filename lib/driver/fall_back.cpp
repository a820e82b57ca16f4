// What replaces a schedule of the autoscheduler that cannot be used.

#include <fmt/format.h>

#include "driver/scheduled.h"
#include "support/error.h"

namespace Pipe::driver {
namespace {

struct Fallback {
    const char *what;
    /// Nothing: not for this machine.
    std::optional<schedules::Schedule> (*schedule)(const Scheduled &);
    /// Whether that it is needed is a fault of Pipe, which the user should hear of.
    bool is_fault = true;
};

/// The sizes of shared memory are known only after lowering: a group may turn out to be too large.
std::optional<schedules::Schedule> single_kernels(const Scheduled &s) {
    if (!s.report.machine.gpu)
        return std::nullopt;
    AutoscheduleOptions single = s.options;
    single.group_limit = 1;
    return autoschedule::schedule(s.frozen.graph, *s.user, s.sizes, s.report.machine, single)
        .schedule;
}

/// Best first. The last one is what the user asked for, which is legal or an error of the user's.
constexpr Fallback fallbacks[] = {
    {"each Func is computed by kernels of its own", single_kernels, false},
    {"Funcs without directives are computed at root, without fusion",
     [](const Scheduled &s) {
         return std::optional(autoschedule::at_root(s.frozen.graph, *s.user));
     }},
    {"Funcs without directives are inlined",
     [](const Scheduled &s) { return std::optional(*s.user); }},
};

void tell(Scheduled &s, const Fallback &used, const std::string &why) {
    s.report.text +=
        fmt::format("The autoscheduler found no usable schedule ({}): {}.\n", why, used.what);
    if (used.is_fault)
        support::warn(fmt::format(
            "{}: the autoscheduler found no usable schedule ({}): {}. Give them directives "
            "if that is slow. Please report this.",
            graph::description(s.frozen.graph), why, used.what));
}

}  // namespace

bool can_fall_back(const Scheduled &s) {
    return s.user && s.fallbacks_used < std::size(fallbacks);
}

void fall_back(Scheduled &s, const std::string &why) {
    while (can_fall_back(s)) {
        const Fallback &next = fallbacks[s.fallbacks_used++];
        const bool last = !can_fall_back(s);
        try {
            std::optional<support::SuppressErrorReporting> suppressed;
            if (!last)
                suppressed.emplace();
            const std::optional<schedules::Schedule> schedule = next.schedule(s);
            if (!schedule)
                continue;
            take_schedule(s, *schedule);
            tell(s, next, why);
            return;
        } catch (const std::exception &) {
            if (last)
                throw;
        }
    }
}

}  // namespace Pipe::driver
