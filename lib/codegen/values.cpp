#include "codegen/values.h"

#include <algorithm>

namespace Pipe::codegen {

namespace {

llvm::Type *vector_or_scalar(llvm::Type *element, int lanes) {
    return lanes == 1 ? element : vector_of(element, lanes);
}

llvm::Type *element_type(llvm::LLVMContext &context, Type type, int bool_bits) {
    if (type.is_handle())
        return llvm::PointerType::get(context, 0);
    if (type.is_float()) {
        if (type.bits() == 16)
            return llvm::IntegerType::get(context, 16);  // see float16.h
        if (type.bits() == 32)
            return llvm::Type::getFloatTy(context);
        if (type.bits() == 64)
            return llvm::Type::getDoubleTy(context);
        throw InternalError("no code generation for " + Pipe::to_string(type));
    }
    return llvm::IntegerType::get(context,
                                  static_cast<unsigned>(type.is_bool() ? bool_bits : type.bits()));
}

/// Lanes begin, begin + step, ... as a vector.
llvm::Value *shuffled(Builder &b, llvm::Value *vector, int begin, int step, int count) {
    std::vector<int> order;
    for (int i = 0; i < count; i++) {
        int lane = begin + i * step;
        order.push_back(lane < lanes_of(vector) ? lane : -1);
    }
    return b.CreateShuffleVector(vector, order);
}

}  // namespace

llvm::Type *register_type(llvm::LLVMContext &context, Type type) {
    return vector_or_scalar(element_type(context, type, 1), type.lanes());
}

llvm::Type *memory_type(llvm::LLVMContext &context, Type type) {
    return vector_or_scalar(element_type(context, type, 8), type.lanes());
}

llvm::Value *from_memory(Builder &b, Type type, llvm::Value *value) {
    return type.is_bool() ? b.CreateIsNotNull(value) : value;
}

llvm::Value *to_memory(Builder &b, Type type, llvm::Value *value) {
    return type.is_bool() ? b.CreateZExt(value, memory_type(b.getContext(), type)) : value;
}

int lanes_of(const llvm::Value *value) {
    auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    return vector ? static_cast<int>(vector->getNumElements()) : 1;
}

llvm::Type *with_lanes(llvm::Type *type, int lanes) {
    return vector_or_scalar(type->getScalarType(), lanes);
}

llvm::Type *vector_of(llvm::Type *element, int lanes) {
    return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}

llvm::Value *constant(Builder &b, Type type, int64_t value) {
    llvm::Type *t = register_type(b.getContext(), type);
    if (type.is_float() && type.bits() > 16)
        return llvm::ConstantFP::get(t, static_cast<double>(value));
    return llvm::ConstantInt::get(t, static_cast<uint64_t>(value), /*IsSigned=*/true);
}

llvm::Constant *lane_numbers(llvm::Type *vector_type) {
    auto *type = llvm::cast<llvm::FixedVectorType>(vector_type);
    std::vector<llvm::Constant *> lanes;
    for (unsigned i = 0; i < type->getNumElements(); i++) {
        lanes.push_back(llvm::ConstantInt::get(type->getElementType(), i));
    }
    return llvm::ConstantVector::get(lanes);
}

llvm::Value *slice(Builder &b, llvm::Value *vector, int begin, int count) {
    if (begin == 0 && count == lanes_of(vector))
        return vector;
    return strided_slice(b, vector, begin, 1, count);
}

llvm::Value *strided_slice(Builder &b, llvm::Value *vector, int begin, int step, int count) {
    return count == 1 ? b.CreateExtractElement(vector, static_cast<uint64_t>(begin))
                      : shuffled(b, vector, begin, step, count);
}

llvm::Value *subvector(Builder &b, llvm::Value *vector, int begin, int count) {
    return begin == 0 && count == lanes_of(vector) ? vector : shuffled(b, vector, begin, 1, count);
}

llvm::Value *concat(Builder &b, std::vector<llvm::Value *> parts) {
    // Pairwise, so that the shuffles form a shallow tree. Unequal neighbors are padded.
    auto join = [&](llvm::Value *low, llvm::Value *high) {
        int n = lanes_of(low), m = lanes_of(high), wide = std::max(n, m);
        auto widened = [&](llvm::Value *v) -> llvm::Value * {
            if (v->getType()->isVectorTy())
                return slice(b, v, 0, wide);
            auto *none = llvm::PoisonValue::get(
                llvm::FixedVectorType::get(v->getType(), static_cast<unsigned>(wide)));
            return b.CreateInsertElement(none, v, uint64_t(0));
        };
        std::vector<int> mask;
        for (int i = 0; i < n; i++)
            mask.push_back(i);
        for (int i = 0; i < m; i++)
            mask.push_back(wide + i);
        llvm::Value *first = widened(low), *second = widened(high);
        return b.CreateShuffleVector(first, second, mask);
    };
    while (parts.size() > 1) {
        std::vector<llvm::Value *> joined;
        for (size_t i = 0; i + 1 < parts.size(); i += 2) {
            joined.push_back(join(parts[i], parts[i + 1]));
        }
        if (parts.size() % 2 == 1)
            joined.push_back(parts.back());
        parts = std::move(joined);
    }
    return parts.front();
}

llvm::Value *
lane_by_lane(Builder &b, const std::vector<llvm::Value *> &args, int lanes,
             const std::function<llvm::Value *(const std::vector<llvm::Value *> &)> &f) {
    if (lanes == 1)
        return f(args);
    llvm::Value *result = nullptr;
    for (int i = 0; i < lanes; i++) {
        std::vector<llvm::Value *> lane_args;
        for (llvm::Value *arg : args) {
            lane_args.push_back(b.CreateExtractElement(arg, static_cast<uint64_t>(i)));
        }
        llvm::Value *lane = f(lane_args);
        if (!result) {
            result = llvm::PoisonValue::get(
                llvm::FixedVectorType::get(lane->getType(), static_cast<unsigned>(lanes)));
        }
        result = b.CreateInsertElement(result, lane, static_cast<uint64_t>(i));
    }
    return result;
}

}  // namespace Pipe::codegen
