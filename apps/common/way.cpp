#include "apps/common/way.h"

namespace apps {

const char *name_of(Way way) {
    switch (way) {
    case Way::Reference:
        return "reference";
    case Way::Naive:
        return "naive";
    case Way::Hand:
        return "hand";
    case Way::Auto:
        return "auto";
    case Way::GPU:
        return "GPU";
    }
    return "?";
}

void schedule(Program &program, Pipe::Pipeline &pipeline, Way way, const Pipe::Target &target) {
    switch (way) {
    case Way::Reference:
        return;
    case Way::Naive:
        return program.schedule_naively();
    case Way::Hand:
        return program.schedule_by_hand(target);
    case Way::Auto:
        pipeline.autoschedule(target);
        return;
    case Way::GPU:
        return program.schedule_for_gpu(target);
    }
}

}  // namespace apps
