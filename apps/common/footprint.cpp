#include "apps/common/footprint.h"

#include "apps/common/arrays.h"

#include <pipe/pipe.h>

#include <algorithm>
#include <map>
#include <string>

namespace apps {

using namespace Pipe;

namespace {

/// Collects the largest buffer of each Func.
struct Largest : JITUserContext {
    std::map<std::string, Extents> of;

    Largest() {
        handlers.custom_trace = [](JITUserContext *context, const TraceEvent *event) -> int32_t {
            if (event->event == TraceEventCode::BeginRealization)
                static_cast<Largest *>(context)->add(*event);
            return 0;
        };
    }

  private:
    void add(const TraceEvent &event) {
        Extents &largest = of[event.func];
        largest.resize(static_cast<size_t>(event.dimensions) / 2);
        for (size_t d = 0; d < largest.size(); ++d)
            largest[d] = std::max(largest[d], event.coordinates[2 * d + 1]);
    }
};

void schedule(Program &program, const FusedGroup &group) {
    program.schedule_naively();
    Func output = group.output;
    const std::vector<Var> args = output.args();
    const Var xo("xo"), xi("xi"), yo("yo"), yi("yi");
    output.tile(args[0], args[1], xo, yo, xi, yi, group.width, group.height,
                TailStrategy::GuardWithIf);
    std::vector<VarOrRVar> loops = {xi, yi};
    loops.insert(loops.end(), args.begin() + 2, args.end());
    loops.insert(loops.end(), {xo, yo});
    output.reorder(loops);
    for (Func member : group.members)
        member.compute_at(output, xo).trace_realizations();
    for (Func stage : group.inlined)
        stage.compute_inline();
}

}  // namespace

std::vector<Extents> footprints(const App &app, Program &program, const FusedGroup &group,
                                Size size) {
    schedule(program, group);
    set_inputs(program, make_inputs(app, program, size));
    const Buffer<> output = make_output(app, program, size);
    Largest largest;
    Pipeline(program.output())
        .realize(&largest, Realization({output}),
                 get_host_target().with_feature(Target::QuickCompile));
    std::vector<Extents> result;
    for (const Func &member : group.members)
        result.push_back(largest.of.at(member.name()));
    return result;
}

}  // namespace apps
