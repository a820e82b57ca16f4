#include "lower/bounds_query.h"

#include "ir/simplify.h"
#include "lower/lower.h"
#include "region/region_map.h"

namespace Pipe::lower {

using namespace ir;

Program bounds_query(const graph::Graph &graph, const schedules::Schedule &schedule) {
    schedules::Schedule plain = schedule;
    for (schedules::FuncSchedule &f : plain.funcs)
        for (schedules::StageSchedule &s : f.stages)
            s.specializations.clear();
    region::LoopTree tree(graph, plain);
    region::RegionMap regions(tree, /*any_size=*/true);
    std::vector<Stmt> stores;
    auto put = [&](const Expr &value) {
        Expr place = make_int(Int(32), static_cast<int64_t>(stores.size()));
        stores.push_back(make_store(bounds_name, place, simplify(value)));
    };
    Expr zero = make_int(Int(32), 0), one = make_int(Int(32), 1);
    for (const graph::Image &image : graph.images) {
        const region::Box &box = regions.image(image.name);
        for (size_t d = 0; d < static_cast<size_t>(image.dimensions); d++) {
            put(box.empty() ? zero : box[d].min);
            put(box.empty() ? zero : max(zero, add(sub(box[d].max, box[d].min), one)));
        }
    }
    Stmt body = stores.empty() ? make_evaluate(zero) : make_block(std::move(stores));
    const auto &lets = regions.lets("");
    for (auto let = lets.rbegin(); let != lets.rend(); ++let)
        body = make_let(let->first, let->second, std::move(body));
    Program program{"bounds", arguments(graph), simplify(body)};
    program.args.push_back({Argument::Kind::OutputBuffer, bounds_name, Int(32), 1});
    return program;
}

}  // namespace Pipe::lower
