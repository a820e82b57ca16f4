#include "autoschedule/block_traffic.h"

#include <algorithm>

namespace Pipe::autoschedule {

using poly::Access;
using poly::Coordinate;

namespace {

constexpr double near_pages = 48, page_clocks = 7;  ///< of the first level of the TLB
constexpr double apart_clocks =
    0.7;  ///< of each piece from beyond the L1 cache that lies apart from the one before

}  // namespace

Covered BlockTraffic::one_block(const RegisterBlock &b) const {
    Covered covered;
    covered.blocks.fill(1);
    covered.part = b.part == 0 ? all_of_rvar() : b.part;
    return covered;
}

bool BlockTraffic::is_moved(const Access &load, const BlockLoop &loop) const {
    if (loop.dim >= 0)
        return depends_on(load, loop.dim);
    return std::any_of(load.coords.begin(), load.coords.end(),
                       [&](const Coordinate &c) { return c.reductions >> rvar_ & 1; });
}

double BlockTraffic::elements(const Coordinate &c, const Covered &covered) const {
    return elements_of(block_, c, covered, rvar_, all_of_rvar() - covered.part);
}

OperandBytes BlockTraffic::bytes_given(const Access &load, const Covered &covered) const {
    OperandBox box(load.bytes);
    for (const Coordinate &c : load.coords)
        box.add(elements(c, covered), double(c.range.size()));
    return box.bytes();
}

OperandBytes BlockTraffic::bytes(const Access &load, const Covered &covered) const {
    if (&load != copy_.operand)
        return bytes_given(load, covered);
    OperandBox box(load.bytes);
    for (int d : copy_.order) {
        const Coordinate &c = load.coords[size_t(d)];
        const double held = elements(c, copy_.held);
        box.add(std::min(held, elements(c, covered)), d == copy_.order[0] ? row_of_copy() : held);
    }
    return box.bytes();
}

double BlockTraffic::row_of_copy() const {
    return support::cache::row_in_all_sets(
        elements(copy_.operand->coords[size_t(copy_.order[0])], copy_.held), copy_.operand->bytes);
}

double BlockTraffic::sum_bytes(const Covered &covered) const {
    double result = stage_.node.bytes;
    for (size_t d = 0; d < stage_.extents.size(); d++)
        result *= double(std::min(stage_.extents[d], block_.size(int(d)) * covered.blocks[d]));
    return result;
}

OperandBytes BlockTraffic::all_bytes(const Covered &covered, bool with_sums) const {
    const double sums = with_sums ? sum_bytes(covered) : 0;
    OperandBytes all{sums, sums};
    for (const Access *load : stage_.operands) {
        const OperandBytes mine = bytes(*load, covered);
        all.moved += mine.moved, all.occupied += mine.occupied;
    }
    return all;
}

void BlockTraffic::advance(const BlockLoop &loop, Covered &covered) const {
    if (loop.dim >= 0)
        covered.blocks[size_t(loop.dim)] *= loop.trips;
    else
        covered.part = std::min(all_of_rvar(), covered.part * loop.trips);
}

bool BlockTraffic::is_on_small_pages(const Access &load) const {
    constexpr double large_page = 2 << 20;
    return &load == copy_.operand ? bytes(load, copy_.held).moved < large_page : load.image >= 0;
}

size_t BlockTraffic::loops_within_l1(Covered covered, const BlockNest &nest) const {
    const double most = usable_l1 * double(stage_.machine.l1_bytes);
    size_t count = 0;
    for (; all_bytes(covered, false).occupied <= most; count++) {
        if (count == nest.size)
            return nest.size + 1;
        advance(nest.loops[count], covered);
    }
    return count;
}

double BlockTraffic::from_l2_per_block(const Access &load, Covered covered, const BlockNest &nest,
                                       size_t fits) const {
    double blocks = 1;
    for (size_t i = 0; i < nest.size && (i < fits || is_moved(load, nest.loops[i])); i++) {
        advance(nest.loops[i], covered);
        blocks *= double(nest.loops[i].trips);
    }
    return fits > nest.size ? 0 : bytes(load, covered).moved / blocks;
}

bool BlockTraffic::copy_fits() const {
    return bytes(*copy_.operand, copy_.held).moved <= usable_l2 * double(stage_.machine.l2_bytes);
}

double BlockTraffic::far_bytes(const RegisterBlock &b, const BlockNest &nest) const {
    const double cache = usable_l2 * static_cast<double>(stage_.machine.l2_bytes);
    const auto &loops = nest.loops;
    const size_t count = nest.size;
    Covered covered = one_block(b);
    size_t inside = 0;
    for (; inside < count; inside++) {
        Covered more = covered;
        advance(loops[inside], more);
        if (all_bytes(more, b.part > 0).occupied > cache)
            break;
        covered = more;
    }
    double total = 0;
    auto add = [&](auto &&size, auto &&moved) {
        Covered seen = covered;
        double again = 1;
        bool stays = size(seen).occupied <= cache;
        for (size_t i = inside; i < count; i++) {
            if (!moved(loops[i]) && stays)
                continue;  // it is still there
            stays = false;
            if (moved(loops[i]) && i == inside)  // of windows that overlap, what is new
                advance(loops[i], seen);
            else
                again *= double(loops[i].trips);
        }
        total += size(seen).moved * again;
    };
    for (const Access *load : stage_.operands)
        if (load != copy_.operand || !copy_fits())
            add([&](const Covered &c) { return bytes(*load, c); },
                [&](const BlockLoop &loop) { return is_moved(*load, loop); });
    if (b.part > 0)
        add(
            [&](const Covered &c) {
                return OperandBytes{2 * sum_bytes(c), sum_bytes(c)};
            },
            [](const BlockLoop &loop) { return loop.dim >= 0; });
    return total;
}

NearClocks BlockTraffic::near_clocks(const RegisterBlock &b, const BlockNest &nest) const {
    const Covered block = one_block(b);
    const double iterations = stage_.stage.repeats / double(all_of_rvar()) * double(block.part);
    const size_t fits = loops_within_l1(block, nest);
    double from_l2 = 0, pages = 0, apart = 0;
    for (const Access *load : stage_.operands) {
        const double mine = from_l2_per_block(*load, block, nest, fits);
        from_l2 += mine;
        const OperandBytes one = bytes(*load, block);
        if (one.pieces > 1)
            apart += one.pieces * std::min(1.0, mine / one.moved);
        if (is_on_small_pages(*load))
            pages += bytes(*load, block).pages;
    }
    return {(from_l2 / stage_.machine.l2_rate + (pages > near_pages ? pages * page_clocks : 0)) /
                iterations,
            apart * apart_clocks / iterations};
}

}  // namespace Pipe::autoschedule
