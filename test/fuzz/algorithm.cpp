#include "fuzz/algorithm.h"

#include <algorithm>
#include <set>

namespace Pipe::fuzz {

void Interval::include(Interval other) {
    if (other.empty())
        return;
    if (empty())
        *this = other;
    low = std::min(low, other.low);
    high = std::max(high, other.high);
}

namespace {

int floor_div(int a, int b) {
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

Interval range_of(const Index &index, const Box &box, const StageInfo &stage) {
    Interval result = index.rest;
    for (const Index::Term &term : index.terms) {
        auto var = static_cast<size_t>(term.var);
        Interval v = var < box.size() ? box[var] : stage.rvars[var - box.size()];
        int a = floor_div(v.low * term.num + term.off, term.den);
        int b = floor_div(v.high * term.num + term.off, term.den);
        result.low += std::min(a, b);
        result.high += std::max(a, b);
    }
    return result;
}

}  // namespace

void insert_source(Algorithm &algorithm, size_t at, Source source) {
    auto moved = [&](int &index) { index += index >= static_cast<int>(at); };
    algorithm.sources.insert(algorithm.sources.begin() + static_cast<long>(at), std::move(source));
    for (Source &s : algorithm.sources) {
        moved(s.wraps);
        for (StageInfo &stage : s.stages) {
            for (Access &access : stage.accesses)
                moved(access.source);
        }
    }
    for (int &output : algorithm.outputs)
        moved(output);
}

std::vector<Box> required_boxes(const Algorithm &algorithm, const std::vector<Box> &outputs,
                                const std::vector<std::vector<Slack>> &slack,
                                std::vector<Box> *of_outputs) {
    std::vector<Box> boxes;
    for (const Source &source : algorithm.sources)
        boxes.emplace_back(static_cast<size_t>(source.dimensions));
    for (size_t i = 0; i < outputs.size(); i++)
        boxes[static_cast<size_t>(algorithm.outputs[i])] = outputs[i];
    if (of_outputs)
        of_outputs->clear();
    for (size_t i = boxes.size(); i-- > 0;) {
        const Source &source = algorithm.sources[i];
        bool used = std::none_of(boxes[i].begin(), boxes[i].end(),
                                 [](const Interval &v) { return v.empty(); });
        if (!used)
            continue;
        if (!source.fixed_box.empty())
            boxes[i] = source.fixed_box;
        for (size_t d = 0; d < source.touched.size(); d++)
            boxes[i][d].include(source.touched[d]);
        if (of_outputs && source.output)
            of_outputs->insert(of_outputs->begin(), boxes[i]);
        for (size_t d = 0; d < boxes[i].size() && !source.is_image; d++) {
            boxes[i][d].low -= slack[i][d].below;
            boxes[i][d].high += slack[i][d].above;
        }
        for (const StageInfo &stage : source.stages) {
            for (const Access &access : stage.accesses) {
                Box &box = boxes[static_cast<size_t>(access.source)];
                for (size_t d = 0; d < box.size(); d++)
                    box[d].include(range_of(access.coordinates[d], boxes[i], stage));
            }
        }
    }
    return boxes;
}

}  // namespace Pipe::fuzz
