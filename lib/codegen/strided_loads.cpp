// Loads of every n-th element: vectors are loaded and shuffled.

#include <algorithm>

#include "codegen/expr_emitter.h"
#include "support/target.h"

namespace Pipe::codegen {

using llvm::Value;

namespace {

/// Up to it, a vector of the elements from the first to the last one has enough lanes that are needed to be worth it.
constexpr int64_t short_stride = 4;

}  // namespace

/// How many elements are loaded at once: those of a register, if the lanes are far apart.
int ExprEmitter::strided_width(Type type, int64_t stride) const {
    const int whole = unit_.target.natural_vector_size(type.element_of());
    return stride <= short_stride ? type.lanes() : std::max(type.lanes(), whole);
}

/// Whether load_strided takes less than a load per lane. If the lanes are far apart, only with masks, and if no
/// instruction gathers elements of this size: each lane would test its mask, choose an address, load, and be put into
/// the vector, which is at least twice as much as a load and a shuffle per register.
/// \param all_or_none  all lanes have the same condition, or none
bool ExprEmitter::takes_dense_loads(Type type, int64_t stride, bool all_or_none) const {
    if (stride < 2 || !(all_or_none || support::has_masked_access(unit_.target, type)))
        return false;
    if (stride <= short_stride)
        return true;
    const int64_t span = stride * (type.lanes() - 1) + 1, width = strided_width(type, stride);
    return !all_or_none && !has_fast_gather(type) && span >= width &&
           2 * ((span + width - 1) / width) <= type.lanes();
}

/// Every `stride`-th element. The last vector ends with the last element needed, and so overlaps the
/// previous one: nothing beyond the elements is accessed, and nothing for lanes that are masked off.
Value *ExprEmitter::load_strided(const ir::ExprNode &e, const Offset &start, int stride,
                                 const Active &active) {
    const int lanes = e.type.lanes(), span = stride * (lanes - 1) + 1,
              width = strided_width(e.type, stride);
    Value *result = nullptr;
    for (int block = 0; block * width < span; block++) {
        int begin = std::min(block * width, span - width);
        bool needed = false;
        // Lanes found earlier, then those found here.
        std::vector<int> order(static_cast<size_t>(width), -1);
        // Of the mask; from `lanes` on: false.
        std::vector<int> on(static_cast<size_t>(width), lanes);
        for (int i = 0; i < lanes; i++) {
            int element = i * stride, found_in = element / width;
            needed |= found_in == block;
            if (found_in == block)
                on[static_cast<size_t>(element - begin)] = i;
            if (found_in <= block)
                order[static_cast<size_t>(i)] =
                    found_in < block ? i : (result ? width : 0) + element - begin;
        }
        if (!needed)
            continue;
        Active here = active;
        if (active.lanes)
            here.lanes = b_.CreateShuffleVector(
                active.lanes, llvm::Constant::getNullValue(active.lanes->getType()), on);
        Value *loaded = load_dense(e, e.type.with_lanes(width), start.plus(begin), here);
        result = result ? b_.CreateShuffleVector(result, loaded, order)
                        : b_.CreateShuffleVector(loaded, order);
    }
    return subvector(b_, result, 0, lanes);
}

}  // namespace Pipe::codegen
