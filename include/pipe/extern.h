#pragma once
// C functions called from expressions.
//
//     extern "C" float gain(float value, int32_t level) { ... }
//     HalideExtern_2(float, gain, float, int32_t);
//     f(x) = gain(image(x), level);
//
// declares an overload of `gain` that takes Exprs; a call with C++ numbers only still calls the C
// function directly. The macros exist for 1 to 5 parameters. The function runs once per element;
// HalidePureExtern_2 declares that it has no side effects, so
// calls may be omitted, moved and shared. Arguments and result are numbers. An argument of another
// type is a CompileError, unless the parameter's type holds all its values. A function that is not
// declared at the macro is looked up by name when the pipeline is compiled: among those given to
// Pipeline::set_jit_externs, then in the process. Functions in your executable resolve by name if
// it is linked with -rdynamic (CMake: ENABLE_EXPORTS).

#include <concepts>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <pipe/expr.h>

namespace Pipe {

class Func;
class Pipeline;
struct JITUserContext;

}  // namespace Pipe

namespace Pipe::detail {

/// A pipeline that serves as the function of an extern stage. Receives the addresses of the
/// arguments; throws on error.
struct ExternPipeline {
    virtual ~ExternPipeline() = default;
    virtual int call(JITUserContext *context, const void *const *args) const = 0;
};

/// Describes the call of a C function. `invoke` receives the addresses of the arguments and of the
/// result.
struct ExternFunction {
    const char *name;
    void *address;  ///< null: look it up by name
    Type result;
    std::vector<Type> parameters;
    void (*invoke)(void *address, const void *const *args, void *result);
    /// The pipeline that is called instead of a function: `address` refers to it.
    std::shared_ptr<const ExternPipeline> pipeline = nullptr;
};

/// A call of the function. How to call it is remembered by its name for the lifetime of the
/// process.
Expr extern_call(const ExternFunction &function, bool pure, const std::vector<Expr> &args);

template <typename Signature> struct ExternCall;
template <typename Result, typename... Parameters> struct ExternCall<Result(Parameters...)> {
    static ExternFunction describe(const char *name, Result (*address)(Parameters...)) {
        return {name,
                reinterpret_cast<void *>(address),
                type_of<Result>(),
                {type_of<Parameters>()...},
                &invoke,
                nullptr};
    }
    static Expr make(const char *name, bool pure, Result (*address)(Parameters...),
                     const std::vector<Expr> &args) {
        return extern_call(describe(name, address), pure, args);
    }

  private:
    static void invoke(void *address, const void *const *args, void *result) {
        call(reinterpret_cast<Result (*)(Parameters...)>(address), args, result,
             std::index_sequence_for<Parameters...>());
    }
    template <size_t... I>
    static void call(Result (*function)(Parameters...), const void *const *args, void *result,
                     std::index_sequence<I...>) {
        Result value = function(*static_cast<const Parameters *>(args[I])...);
        std::memcpy(result, &value, sizeof value);
    }
};

}  // namespace Pipe::detail

namespace Pipe {

/// The types of a C function: numbers and pointers; the result is a number.
class ExternSignature {
  public:
    template <typename Result, typename... Parameters>
    explicit ExternSignature(Result (*)(Parameters...))
        : result_(type_of<Result>()), parameters_{type_of<Parameters>()...} {}

    const Type &ret_type() const { return result_; }
    const std::vector<Type> &arg_types() const { return parameters_; }
    bool is_void_return() const { return false; }

  private:
    Type result_;
    std::vector<Type> parameters_;
};

/// A C function by its address.
class ExternCFunction {
  public:
    template <typename Result, typename... Parameters>
    explicit ExternCFunction(Result (*f)(Parameters...))
        : function_(detail::ExternCall<Result(Parameters...)>::describe("", f)), signature_(f) {}

    void *address() const { return function_.address; }
    const ExternSignature &signature() const { return signature_; }
    const detail::ExternFunction &function() const { return function_; }

  private:
    detail::ExternFunction function_;
    ExternSignature signature_;
};

/// The definition of a name for Pipeline::set_jit_externs.
struct JITExtern {
    template <typename Result, typename... Parameters>
    explicit JITExtern(Result (*f)(Parameters...)) : JITExtern(ExternCFunction(f)) {}
    JITExtern(const ExternCFunction &f) : function(f.function()) {}
    /// A Func or Pipeline as the function of an extern stage. The extern stage must be given the
    /// arguments that infer_arguments() lists, in that order: a Func, an image, or a number of
    /// exactly the same type for each. It is compiled here, with its current schedule, and answers
    /// bounds queries. An error in it ends the call of the enclosing pipeline with its
    /// RuntimeError. The definition remains until the process ends.
    JITExtern(const Func &f);
    JITExtern(const Pipeline &pipeline);

    detail::ExternFunction function;  ///< the name is left empty
};

}  // namespace Pipe

/// The address of the C function if it is declared at this place, else null. Tested in a template,
/// so that both cases are well-formed.
#define PIPE_EXTERN_ADDRESS(name, signature)                                                       \
    ([]<typename Function>(Function *) -> Function * {                                             \
        if constexpr (requires { static_cast<Function *>(&name); })                                \
            return static_cast<Function *>(&name);                                                 \
        else                                                                                       \
            return nullptr;                                                                        \
    }(static_cast<signature *>(nullptr)))

#define PIPE_UNPACK(...) __VA_ARGS__
#define PIPE_EXTERN(pure, name, signature, parameters, args)                                       \
    inline ::Pipe::Expr name parameters {                                                          \
        using Signature = PIPE_UNPACK signature;                                                   \
        return ::Pipe::detail::ExternCall<Signature>::make(                                        \
            #name, pure, PIPE_EXTERN_ADDRESS(name, Signature), {PIPE_UNPACK args});                \
    }                                                                                              \
    static_assert(true)

#define PIPE_EXTERN_1(pure, rt, name, t1)                                                          \
    PIPE_EXTERN(pure, name, (rt(t1)), (const ::Pipe::Expr &a1), (a1))
#define PIPE_EXTERN_2(pure, rt, name, t1, t2)                                                      \
    PIPE_EXTERN(pure, name, (rt(t1, t2)), (const ::Pipe::Expr &a1, const ::Pipe::Expr &a2),        \
                (a1, a2))
#define PIPE_EXTERN_3(pure, rt, name, t1, t2, t3)                                                  \
    PIPE_EXTERN(pure, name, (rt(t1, t2, t3)),                                                      \
                (const ::Pipe::Expr &a1, const ::Pipe::Expr &a2, const ::Pipe::Expr &a3),          \
                (a1, a2, a3))
#define PIPE_EXTERN_4(pure, rt, name, t1, t2, t3, t4)                                              \
    PIPE_EXTERN(pure, name, (rt(t1, t2, t3, t4)),                                                  \
                (const ::Pipe::Expr &a1, const ::Pipe::Expr &a2, const ::Pipe::Expr &a3,           \
                 const ::Pipe::Expr &a4),                                                          \
                (a1, a2, a3, a4))
#define PIPE_EXTERN_5(pure, rt, name, t1, t2, t3, t4, t5)                                          \
    PIPE_EXTERN(pure, name, (rt(t1, t2, t3, t4, t5)),                                              \
                (const ::Pipe::Expr &a1, const ::Pipe::Expr &a2, const ::Pipe::Expr &a3,           \
                 const ::Pipe::Expr &a4, const ::Pipe::Expr &a5),                                  \
                (a1, a2, a3, a4, a5))

#define HalideExtern_1(rt, name, t1) PIPE_EXTERN_1(false, rt, name, t1)
#define HalideExtern_2(rt, name, t1, t2) PIPE_EXTERN_2(false, rt, name, t1, t2)
#define HalideExtern_3(rt, name, t1, t2, t3) PIPE_EXTERN_3(false, rt, name, t1, t2, t3)
#define HalideExtern_4(rt, name, t1, t2, t3, t4) PIPE_EXTERN_4(false, rt, name, t1, t2, t3, t4)
#define HalideExtern_5(rt, name, t1, t2, t3, t4, t5)                                               \
    PIPE_EXTERN_5(false, rt, name, t1, t2, t3, t4, t5)
#define HalidePureExtern_1(rt, name, t1) PIPE_EXTERN_1(true, rt, name, t1)
#define HalidePureExtern_2(rt, name, t1, t2) PIPE_EXTERN_2(true, rt, name, t1, t2)
#define HalidePureExtern_3(rt, name, t1, t2, t3) PIPE_EXTERN_3(true, rt, name, t1, t2, t3)
#define HalidePureExtern_4(rt, name, t1, t2, t3, t4) PIPE_EXTERN_4(true, rt, name, t1, t2, t3, t4)
#define HalidePureExtern_5(rt, name, t1, t2, t3, t4, t5)                                           \
    PIPE_EXTERN_5(true, rt, name, t1, t2, t3, t4, t5)
