#include "apps/practice/practice.h"

namespace practice {

const std::vector<Practice> &registry() {
    static const std::vector<Practice> all = [] {
        std::vector<Practice> rows;
#define APPEND(name)                                                                               \
    for (Practice & row : name##_practices())                                                      \
        rows.push_back(std::move(row));
        PIPE_PRACTICES(APPEND)
#undef APPEND
        return rows;
    }();
    return all;
}

Arrays make_arrays(const Practice &practice, const Program &program, Size size) {
    Arrays arrays;
    for (size_t i = 0; i < practice.inputs.size(); ++i) {
        const Input &input = practice.inputs[i];
        arrays.inputs.push_back(
            apps::make_array(program.inputs.at(i).type(), input.box(size), input.interleaved));
        apps::fill(arrays.inputs.back(), [&](const Point &p) { return input.value(p, size); });
    }
    arrays.output = apps::make_array(program.output.types().at(0), practice.output(size),
                                     practice.interleaved_output);
    return arrays;
}

void set_inputs(Program &program, const Arrays &arrays) {
    for (size_t i = 0; i < arrays.inputs.size(); ++i)
        program.inputs.at(i).set(arrays.inputs[i]);
}

namespace {

Pipe::Region region(const Box &box) {
    Pipe::Region region;
    for (apps::Range range : box)
        region.emplace_back(range.min, range.extent);
    return region;
}

}  // namespace

void set_estimates(const Practice &practice, Program &program, Size size) {
    for (size_t i = 0; i < practice.inputs.size(); ++i)
        program.inputs.at(i).set_estimates(region(practice.inputs[i].box(size)));
    program.output.set_estimates(region(practice.output(size)));
}

}  // namespace practice
