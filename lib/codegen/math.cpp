#include "codegen/math.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

#include "codegen/arith.h"
#include "codegen/device/math_library.h"

namespace Pipe::codegen {

using llvm::Value;

namespace {

/// "exp_f32" -> "exp", if the suffix matches the type.
std::optional<std::string> strip_suffix(const std::string &name, Type type) {
    std::string suffix = type.bits() == 32 ? "_f32" : "_f64";
    if (name.size() <= suffix.size())
        return std::nullopt;
    if (name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0)
        return std::nullopt;
    return name.substr(0, name.size() - suffix.size());
}

/// Functions that are LLVM intrinsics. Round is half to even, as in the IR.
Value *emit_intrinsic(Builder &b, Type arg_type, const std::string &function,
                      const std::vector<Value *> &args) {
    struct Entry {
        const char *name;
        llvm::Intrinsic::ID id;
    };
    static const Entry unary[] = {
        {"sqrt", llvm::Intrinsic::sqrt},       {"floor", llvm::Intrinsic::floor},
        {"ceil", llvm::Intrinsic::ceil},       {"trunc", llvm::Intrinsic::trunc},
        {"fabs", llvm::Intrinsic::fabs},       {"abs", llvm::Intrinsic::fabs},
        {"round", llvm::Intrinsic::roundeven}, {"nearbyint", llvm::Intrinsic::roundeven},
    };
    for (const Entry &e : unary) {
        if (function == e.name && args.size() == 1)
            return b.CreateUnaryIntrinsic(e.id, args[0]);
    }
    if (function == "fma" && args.size() == 3)
        return b.CreateIntrinsic(args[0]->getType(), llvm::Intrinsic::fma, args);
    auto infinity = [&] {
        return llvm::ConstantFP::getInfinity(register_type(b.getContext(), arg_type));
    };
    auto magnitude = [&] { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, args[0]); };
    if (function == "is_nan")
        return b.CreateFCmpUNO(args[0], args[0]);
    if (function == "is_inf")
        return b.CreateFCmpOEQ(magnitude(), infinity());
    if (function == "is_finite")
        return b.CreateFCmpOLT(magnitude(), infinity());
    return nullptr;
}

struct VectorFunction {
    const char *name;
    int arguments;
};

/// The functions of libmvec in glibc 2.35, in the vector ABI of x86-64, for float and double.
constexpr VectorFunction libmvec_functions[] = {
    {"acos", 1},  {"acosh", 1}, {"asin", 1},  {"asinh", 1}, {"atan", 1},  {"atan2", 2},
    {"atanh", 1}, {"cbrt", 1},  {"cos", 1},   {"cosh", 1},  {"erf", 1},   {"erfc", 1},
    {"exp", 1},   {"exp2", 1},  {"exp10", 1}, {"expm1", 1}, {"hypot", 2}, {"log", 1},
    {"log10", 1}, {"log1p", 1}, {"log2", 1},  {"pow", 2},   {"sin", 1},   {"sinh", 1},
    {"tan", 1},   {"tanh", 1},
};

bool in_libmvec(const std::string &function, size_t arguments) {
    return std::any_of(std::begin(libmvec_functions), std::end(libmvec_functions), [&](auto &f) {
        return f.name == function && static_cast<size_t>(f.arguments) == arguments;
    });
}

/// "_ZGV" + instruction set + "N" (no mask) + lanes + a "v" per argument + "_" + the C name.
std::string libmvec_name(char isa, int lanes, size_t arguments, const std::string &c_name) {
    return std::string("_ZGV") + isa + "N" + std::to_string(lanes) + std::string(arguments, 'v') +
           "_" + c_name;
}

/// Calls the function on parts that fill a register of 64, 32 or 16 bytes. The last part is padded
/// with values that are harmless to compute.
Value *emit_libmvec(Builder &b, const MathLibrary &library, Type type, const std::string &c_name,
                    const std::vector<Value *> &args) {
    struct Width {
        int bytes;
        char isa;
        bool there;
    };
    const Target &t = library.target;
    const Width widths[] = {{64, 'e', t.has_feature(Target::AVX512_Skylake)},
                            {32, 'd', t.has_feature(Target::AVX2)},
                            {16, 'b', true}};
    std::vector<Value *> pieces;
    for (int done = 0; done < type.lanes();) {
        int left = type.lanes() - done;
        const Width *width = nullptr;  // the narrowest that holds all that is left, or the widest
        for (const Width &w : widths) {
            if (w.there && (!width || w.bytes / type.bytes() >= left))
                width = &w;
        }
        int lanes = width->bytes / type.bytes();
        std::vector<Value *> piece;
        for (Value *arg : args) {
            Value *part = slice(b, arg, done, lanes);
            // The undefined lanes past the end could be numbers on which the function is slow.
            if (left < lanes) {
                Value *last = b.CreateExtractElement(arg, static_cast<uint64_t>(type.lanes() - 1));
                for (int i = left; i < lanes; i++) {
                    part = b.CreateInsertElement(part, last, static_cast<uint64_t>(i));
                }
            }
            piece.push_back(part);
        }
        Type piece_type = type.with_lanes(lanes);
        llvm::Type *vector = register_type(b.getContext(), piece_type);
        std::vector<llvm::Type *> parameters(args.size(), vector);
        auto callee =
            library.module.getOrInsertFunction(libmvec_name(width->isa, lanes, args.size(), c_name),
                                               llvm::FunctionType::get(vector, parameters, false));
        llvm::CallInst *call = b.CreateCall(callee, piece);
        call->setDoesNotAccessMemory();
        call->setDoesNotThrow();
        call->addFnAttr(llvm::Attribute::WillReturn);
        pieces.push_back(left < lanes ? slice(b, call, 0, left) : call);
        done += std::min(lanes, left);
    }
    return concat(b, pieces);
}

/// 1 / x or 1 / sqrt(x) to some 12 bits.
Value *emit_estimate(Builder &b, const Target &target, Type type, bool of_root, Value *x) {
    Value *one = llvm::ConstantFP::get(x->getType(), 1.0);
    if (target.arch != Target::X86)
        return b.CreateFDiv(one, of_root ? b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x) : x);
    bool wide = target.has_feature(Target::AVX) && type.lanes() > 4;
    int piece = wide ? 8 : 4;
    auto id = wide
                  ? (of_root ? llvm::Intrinsic::x86_avx_rsqrt_ps_256
                             : llvm::Intrinsic::x86_avx_rcp_ps_256)
                  : (of_root ? llvm::Intrinsic::x86_sse_rsqrt_ps : llvm::Intrinsic::x86_sse_rcp_ps);
    if (type.is_scalar()) {
        Value *first = b.CreateVectorSplat(4, x);
        return b.CreateExtractElement(b.CreateIntrinsic(id, {}, {first}), uint64_t{0});
    }
    std::vector<Value *> pieces;
    for (int done = 0; done < type.lanes(); done += piece) {
        Value *estimates = b.CreateIntrinsic(id, {}, {slice(b, x, done, piece)});
        pieces.push_back(slice(b, estimates, 0, std::min(piece, type.lanes() - done)));
    }
    return concat(b, pieces);
}

}  // namespace

Value *emit_c_call(Builder &b, llvm::Module &module, Type type, const std::string &name,
                   const std::vector<Type> &arg_types, const std::vector<Value *> &args,
                   bool pure) {
    std::vector<llvm::Type *> parameters;
    for (Type t : arg_types)
        parameters.push_back(register_type(b.getContext(), t.element_of()));
    llvm::Type *result = register_type(b.getContext(), type.element_of());
    auto callee =
        module.getOrInsertFunction(name, llvm::FunctionType::get(result, parameters, false));
    return lane_by_lane(b, args, type.lanes(), [&](const std::vector<Value *> &lane) -> Value * {
        llvm::CallInst *call = b.CreateCall(callee, lane);
        // C says how narrow integers travel: extended to int.
        auto extension = [](Type t) {
            return t.is_int() ? llvm::Attribute::SExt : llvm::Attribute::ZExt;
        };
        for (unsigned i = 0; i < arg_types.size(); i++) {
            if (arg_types[i].is_int_or_uint() && arg_types[i].bits() < 32) {
                call->addParamAttr(i, extension(arg_types[i]));
            }
        }
        if (type.is_int_or_uint() && type.bits() < 32)
            call->addRetAttr(extension(type));
        call->setDoesNotThrow();
        if (pure) {
            call->setDoesNotAccessMemory();
            call->addFnAttr(llvm::Attribute::WillReturn);
        }
        return call;
    });
}

Value *emit_pure_extern(Builder &b, const MathLibrary &library, Type type, const std::string &name,
                        const std::vector<Type> &arg_types, const std::vector<Value *> &args) {
    Type arg_type = arg_types.empty() ? type : arg_types[0];
    std::optional<std::string> function;
    if (arg_type.is_float())
        function = strip_suffix(name, arg_type);
    if (!function)
        return emit_c_call(b, library.module, type, name, arg_types, args, true);

    if (Value *done = emit_intrinsic(b, arg_type, *function, args))
        return done;
    if (*function == "fast_inverse" || *function == "fast_inverse_sqrt")
        return emit_estimate(b, library.target, type, *function == "fast_inverse_sqrt", args[0]);
    if (llvm::Triple(library.module.getTargetTriple()).isNVPTX())
        return emit_device_math(b, library.module, type, *function, args);
    std::string c_name = *function + (arg_type.bits() == 32 ? "f" : "");
    bool all_alike =
        std::all_of(arg_types.begin(), arg_types.end(), [&](Type t) { return t == type; });
    if (type.is_vector() && library.libmvec && library.target.arch == Target::X86 && all_alike &&
        in_libmvec(*function, args.size())) {
        return emit_libmvec(b, library, type, c_name, args);
    }
    return emit_c_call(b, library.module, type, c_name, arg_types, args, true);
}

}  // namespace Pipe::codegen
