#pragma once
// What the C function of an extern stage is given, and how its name is read.

#include <concepts>
#include <memory>

#include <pipe/buffer.h>
#include <pipe/expr.h>
#include <pipe/param.h>

namespace Pipe {

namespace graph {
struct FuncContents;
}

class Func;

/// How the name of a C function is to be read: as it stands. CPlusPlus is a CompileError.
enum class NameMangling { Default, C, CPlusPlus };

/// What the C function of an extern stage is given (Func::define_extern): a Func, ImageParam or
/// Buffer as a whole, or a number: an Expr of Params, sizes of ImageParams and constants.
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

    const std::shared_ptr<graph::FuncContents> &func() const { return func_; }
    /// The number, or a call of the image without coordinates, which stands for all of it.
    const Expr &expr() const { return expr_; }

  private:
    enum class Kind { Undefined, Func, ImageParam, Buffer, Expr };
    static Expr whole_buffer(const Buffer<void, AnyDims> &buffer);

    Kind kind_ = Kind::Undefined;
    std::shared_ptr<graph::FuncContents> func_;
    Expr expr_;
};

/// The JITUserContext of the call of the pipeline, as the handlers get it: for a C function whose
/// parameter is a pointer to one. Null where the function is only asked for bounds before a call,
/// and in realize_reference. What depends on it cannot be memoized.
ExternFuncArgument user_context_value();

}  // namespace Pipe
