#pragma once
// Arguments of extern stages, and the mangling of their names.

#include <concepts>
#include <memory>

#include <pipe/buffer.h>
#include <pipe/expr.h>
#include <pipe/param.h>

namespace Pipe {

namespace language {
struct FuncContents;
}

class Func;

/// Names of C functions are used unmangled. CPlusPlus is a CompileError.
enum class NameMangling { Default, C, CPlusPlus };

/// An argument of the C function of an extern stage (Func::define_extern): a whole Func, ImageParam
/// or Buffer, or a number: an Expr of Params, sizes of ImageParams and constants.
class ExternFuncArgument {
  public:
    ExternFuncArgument() = default;
    ExternFuncArgument(const Func &f);
    ExternFuncArgument(const ImageParam &image);
    template <typename T, int D>
    ExternFuncArgument(const Buffer<T, D> &buffer)
        : kind_(Kind::Buffer), expr_(whole_buffer(Buffer<void, AnyDims>(buffer))) {}
    template <typename T>
    requires(std::convertible_to<const T &, Expr>) ExternFuncArgument(const T &number)
        : kind_(Kind::Expr), expr_(number) {}

    bool defined() const { return kind_ != Kind::Undefined; }
    bool is_func() const { return kind_ == Kind::Func; }
    bool is_image_param() const { return kind_ == Kind::ImageParam; }
    bool is_buffer() const { return kind_ == Kind::Buffer; }
    bool is_expr() const { return kind_ == Kind::Expr; }

    const std::shared_ptr<language::FuncContents> &func() const { return func_; }
    /// The number, or a call of the image without coordinates, which stands for the whole image.
    const Expr &expr() const { return expr_; }

  private:
    enum class Kind { Undefined, Func, ImageParam, Buffer, Expr };
    static Expr whole_buffer(const Buffer<void, AnyDims> &buffer);

    Kind kind_ = Kind::Undefined;
    std::shared_ptr<language::FuncContents> func_;
    Expr expr_;
};

/// The JITUserContext of the current call, as handlers receive it: for C functions with a parameter
/// of type JITUserContext *. Null in bounds queries before a call, and in realize_reference. Funcs
/// that depend on it cannot be memoized.
ExternFuncArgument user_context_value();

}  // namespace Pipe
