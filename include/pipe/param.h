#pragma once
// Param, ImageParam: run-time inputs of a compiled pipeline.

#include <concepts>
#include <cstring>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

#include <pipe/buffer.h>
#include <pipe/expr.h>
#include <pipe/operators.h>
#include <pipe/rdom.h>
#include <pipe/var.h>

namespace Pipe {

class Func;

namespace language {
struct ParamContents;
struct ImageContents;
}  // namespace language

namespace detail {
/// A C++ number as a constant Expr.
template <typename T> Expr number(const T &value) {
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8)  // long and long long alike
        return Expr(static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(value));
    else
        return Expr(value);
}

/// The part of Param that does not depend on its type.
class ParamBase {
  public:
    const std::string &name() const;
    Type type() const;
    operator Expr() const;
    const std::shared_ptr<language::ParamContents> &contents() const { return contents_; }

    /// Promises a range. `realize` checks it: RuntimeError if the value lies outside.
    void set_range(const Expr &min, const Expr &max);
    void set_min_value(const Expr &min) { set_range(min, max_value()); }
    void set_max_value(const Expr &max) { set_range(min_value(), max); }
    /// The ends of the range; undefined Exprs if there are none.
    Expr min_value() const;
    Expr max_value() const;

  protected:
    ParamBase(Type type, const std::string &name, SourceLocation where);
    void set_bits(const void *value);
    void set_number(const Expr &value);
    void require_type(Type type) const;
    void get_bits(void *value) const;
    void set_estimate_value(const Expr &value);

    std::shared_ptr<language::ParamContents> contents_;
};
}  // namespace detail

/// A number that may change between calls of `realize` without recompilation. Copies refer to the
/// same parameter. The value is read when `realize` starts; RuntimeError if it was never set.
template <typename T = void> class Param : public detail::ParamBase {
  public:
    static constexpr bool has_static_type = true;
    static constexpr Type static_type() { return type_of<T>(); }

    /// The same parameter. RuntimeError if its type is not T.
    Param(const Param<void> &other);
    Param(SourceLocation where = std::source_location::current())
        : ParamBase(type_of<T>(), "", where) {}
    explicit Param(const std::string &name, SourceLocation where = std::source_location::current())
        : ParamBase(type_of<T>(), name, where) {}
    explicit Param(const char *name, SourceLocation where = std::source_location::current())
        : ParamBase(type_of<T>(), name, where) {}
    Param(const std::string &name, T value, SourceLocation where = std::source_location::current())
        : ParamBase(type_of<T>(), name, where) {
        set(value);
    }
    explicit Param(T value, SourceLocation where = std::source_location::current()) requires(
        !std::is_pointer_v<T>)
        : ParamBase(type_of<T>(), "", where) {
        set(value);
    }
    Param(T value, const Expr &min, const Expr &max,
          SourceLocation where = std::source_location::current()) requires(!std::is_pointer_v<T>)
        : Param(value, where) {
        set_range(min, max);
    }
    Param(const std::string &name, T value, const Expr &min, const Expr &max,
          SourceLocation where = std::source_location::current())
        : Param(name, value, where) {
        set_range(min, max);
    }

    /// Floats are rounded to the Param's type. RuntimeError if the type cannot represent the value:
    /// 300 for a uint8, 0.5 for an int32.
    template <typename V> void set(V value) {
        constexpr bool rounds = std::is_floating_point_v<V> && std::is_floating_point_v<T>;
        if constexpr (std::is_enum_v<V>) {
            set(static_cast<std::underlying_type_t<V>>(value));
        } else if constexpr (std::is_same_v<V, long double> && !rounds) {
            set(static_cast<double>(value));
        } else if constexpr (!std::is_same_v<V, T> && std::is_arithmetic_v<V> && !rounds) {
            set_number(detail::number(value));
        } else {
            T same = value;
            set_bits(&same);
        }
    }
    /// 0 if it was never set.
    T get() const {
        T value;
        get_bits(&value);
        return value;
    }

    /// A typical value, for the autoscheduler.
    void set_estimate(T value) { set_estimate_value(Expr(value)); }
};

/// A Param whose type is chosen at run time.
template <> class Param<void> : public detail::ParamBase {
  public:
    static constexpr bool has_static_type = false;

    explicit Param(Type type, const std::string &name = "",
                   SourceLocation where = std::source_location::current())
        : ParamBase(type, name, where) {}

    /// RuntimeError if the type of the Param cannot represent the value.
    template <typename T> void set(T value) { set_number(detail::number(value)); }
    /// RuntimeError if T is not the type of the Param.
    template <typename T> T get() const {
        require_type(type_of<T>());
        T value;
        get_bits(&value);
        return value;
    }

    template <typename T> void set_estimate(T value) { set_estimate_value(Expr(value)); }

    /// The same parameter.
    template <typename T> Param(const Param<T> &other) : ParamBase(other) {}
};

template <typename T> Param<T>::Param(const Param<void> &other) : ParamBase(other) {
    require_type(type_of<T>());
}

/// One dimension of an ImageParam or output. Promises about it let the compiler generate simpler
/// code; `realize` checks them and throws RuntimeError if the given Buffer breaks one.
class ImageDimension {
  public:
    ImageDimension(std::shared_ptr<language::ImageContents> image, int d)
        : image_(std::move(image)), d_(d) {}

    /// Shape of the Buffer that is passed at run time, for definitions and promises; max() is
    /// inclusive. int32; the stride is in elements.
    Expr min() const;
    Expr extent() const;
    Expr max() const;
    Expr stride() const;

    /// Promises. CompileError for an Expr other than of numbers, Params and sizes of images.
    ImageDimension set_min(const Expr &min);
    ImageDimension set_extent(const Expr &extent);
    ImageDimension set_stride(const Expr &stride);
    ImageDimension set_bounds(const Expr &min, const Expr &extent);
    /// Typical values, for the autoscheduler.
    ImageDimension set_estimate(const Expr &min, const Expr &extent);
    ImageDimension set_bounds_estimate(const Expr &min, const Expr &extent) {
        return set_estimate(min, extent);
    }
    ImageDimension dim(int d) const;

  private:
    std::shared_ptr<language::ImageContents> image_;
    int d_;
};

/// The shape of the Buffer passed to `realize` for an output (Func::output_buffer), and promises
/// about it. Copies refer to the same object.
class OutputImageParam {
  public:
    OutputImageParam() = default;
    explicit OutputImageParam(std::shared_ptr<language::ImageContents> contents)
        : contents_(std::move(contents)) {}

    bool defined() const { return contents_ != nullptr; }
    const std::string &name() const;
    Type type() const;
    int dimensions() const;

    /// CompileError if there is no such dimension.
    ImageDimension dim(int d) const;
    Expr width() const { return dim(0).extent(); }
    Expr height() const { return dim(1).extent(); }
    Expr channels() const { return dim(2).extent(); }
    Expr left() const { return dim(0).min(); }
    Expr right() const { return dim(0).max(); }
    Expr top() const { return dim(1).min(); }
    Expr bottom() const { return dim(1).max(); }
    /// One Range per dimension. Does not change results.
    OutputImageParam &set_estimates(const Region &estimates);
    /// Promises that the element with all coordinates at their minimum is aligned to this many
    /// bytes, a power of two. `realize` checks it.
    OutputImageParam &set_host_alignment(int bytes);
    int host_alignment() const;
    /// Declares that the Buffer passed for this output may be the one passed for `input`, or
    /// overlap it. Without this declaration, overlap is allowed whenever it gives correct values:
    /// if the pure definition reads the input only at the point that it stores, as in `f(x, y) = 2
    /// * in(x, y)`, and the two have the same mins and strides; or if all Funcs that read the input
    /// are computed at root before this output. `realize` throws RuntimeError otherwise. With the
    /// declaration, compiling throws CompileError if the definition or the schedule does not allow
    /// it, and the code for it is compiled at once instead of in the first call that needs it.
    /// CompileError if this is the image of an ImageParam instead of an output.
    OutputImageParam &may_alias(const OutputImageParam &input);
    OutputImageParam &may_alias(const Buffer<void> &input);

    const std::shared_ptr<language::ImageContents> &contents() const { return contents_; }

  protected:
    language::ImageContents &checked() const;

    std::shared_ptr<language::ImageContents> contents_;
};

/// An input image, set before `realize` with `set`. Copies refer to the same parameter. Any strides
/// are accepted; stride 1 in dimension 0 is fastest.
class ImageParam : public OutputImageParam {
  public:
    ImageParam() = default;
    ImageParam(Type type, int dimensions, const std::string &name = "",
               SourceLocation where = std::source_location::current());

    /// Sets the image for the next `realize`. RuntimeError if its type or number of dimensions
    /// differs.
    void set(const Buffer<void> &image);
    Buffer<void> get() const;
    void reset() { set(Buffer<void>()); }

    /// Traces each element read, with its value; see Func::trace_loads.
    ImageParam &trace_loads();
    /// Adds a trace event with this text at the begin of each pipeline that reads the image.
    ImageParam &add_trace_tag(const std::string &tag);

    /// The value of an element. CompileError unless there is one coordinate per dimension.
    Expr operator()(const std::vector<Expr> &coordinates,
                    SourceLocation where = std::source_location::current()) const;
    template <std::same_as<Var> V>
    Expr operator()(const std::vector<V> &coordinates,
                    SourceLocation where = std::source_location::current()) const {
        return (*this)(std::vector<Expr>(coordinates.begin(), coordinates.end()), where);
    }
    Expr operator()(SourceLocation where = std::source_location::current()) const {
        return (*this)(std::vector<Expr>(), where);
    }
    Expr operator()(const Expr &x, SourceLocation where = std::source_location::current()) const {
        return (*this)(std::vector<Expr>{x}, where);
    }
    Expr operator()(const Expr &x, const Expr &y,
                    SourceLocation where = std::source_location::current()) const {
        return (*this)(std::vector<Expr>{x, y}, where);
    }
    Expr operator()(const Expr &x, const Expr &y, const Expr &z,
                    SourceLocation where = std::source_location::current()) const {
        return (*this)(std::vector<Expr>{x, y, z}, where);
    }
    Expr operator()(const Expr &x, const Expr &y, const Expr &z, const Expr &w,
                    SourceLocation where = std::source_location::current()) const {
        return (*this)(std::vector<Expr>{x, y, z, w}, where);
    }
    template <typename... More>
    requires(sizeof...(More) >= 1 && (std::convertible_to<More, Expr> && ...)) Expr
    operator()(const detail::ExprAt &x, const Expr &y, const Expr &z, const Expr &w,
               const More &...more) const {
        return (*this)(std::vector<Expr>{x.expr, y, z, w, Expr(more)...}, x.where);
    }

    /// A Func with the same values. Its dimensions are _0, _1, ...
    operator Func() const;

    /// Returns a Func with the same values, which `consumer` (or each of `consumers`, or every Func
    /// that reads the image) reads instead: see Func::in. Its dimensions are _0, _1, ...
    Func in(const Func &consumer, SourceLocation where = std::source_location::current()) const;
    Func in(const std::vector<Func> &consumers,
            SourceLocation where = std::source_location::current()) const;
    Func in(SourceLocation where = std::source_location::current()) const;
};

}  // namespace Pipe
