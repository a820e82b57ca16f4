#pragma once
// Param, ImageParam: what a compiled pipeline takes when it runs.

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

namespace graph {
struct ParamContents;
struct ImageContents;
}  // namespace graph

namespace detail {
/// A number of C++ as a constant.
template <typename T> Expr number(const T &value) {
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8)  // long and long long alike
        return Expr(static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(value));
    else
        return Expr(value);
}

/// The part of Param that does not depend on the type.
class ParamBase {
  public:
    const std::string &name() const;
    Type type() const;
    operator Expr() const;
    const std::shared_ptr<graph::ParamContents> &contents() const { return contents_; }

    /// Promises a range. `realize` tests it: RuntimeError where the value lies outside.
    void set_range(const Expr &min, const Expr &max);
    void set_min_value(const Expr &min) { set_range(min, max_value()); }
    void set_max_value(const Expr &max) { set_range(min_value(), max); }
    /// Its ends; undefined Exprs where there are none.
    Expr min_value() const;
    Expr max_value() const;

  protected:
    ParamBase(Type type, const std::string &name);
    void set_bits(const void *value);
    void set_number(const Expr &value);
    void require_type(Type type) const;
    void get_bits(void *value) const;
    void set_estimate_value(const Expr &value);

    std::shared_ptr<graph::ParamContents> contents_;
};
}  // namespace detail

/// A number that may change between two calls of `realize` without compiling anew. Copies are the
/// same parameter. The value is read when `realize` starts; RuntimeError where it was never set.
template <typename T = void> class Param : public detail::ParamBase {
  public:
    static constexpr bool has_static_type = true;
    static constexpr Type static_type() { return type_of<T>(); }

    /// The same parameter. RuntimeError where T is not its type.
    Param(const Param<void> &other);
    Param() : ParamBase(type_of<T>(), "") {}
    explicit Param(const std::string &name) : ParamBase(type_of<T>(), name) {}
    explicit Param(const char *name) : ParamBase(type_of<T>(), name) {}
    Param(const std::string &name, T value) : ParamBase(type_of<T>(), name) { set(value); }
    explicit Param(T value) requires(!std::is_pointer_v<T>) : ParamBase(type_of<T>(), "") {
        set(value);
    }
    Param(T value, const Expr &min, const Expr &max) requires(!std::is_pointer_v<T>)
        : Param(value) {
        set_range(min, max);
    }
    Param(const std::string &name, T value, const Expr &min, const Expr &max) : Param(name, value) {
        set_range(min, max);
    }

    /// Floats are rounded to the Param's. RuntimeError where its type cannot hold the value: 300 of a
    /// uint8, 0.5 of an int32.
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
    /// 0 until it is set.
    T get() const {
        T value;
        get_bits(&value);
        return value;
    }

    /// A typical value, for the autoscheduler.
    void set_estimate(T value) { set_estimate_value(Expr(value)); }
};

/// A Param whose type is chosen when the program runs.
template <> class Param<void> : public detail::ParamBase {
  public:
    static constexpr bool has_static_type = false;

    explicit Param(Type type, const std::string &name = "") : ParamBase(type, name) {}

    /// RuntimeError where the type of the Param cannot hold the value.
    template <typename T> void set(T value) { set_number(detail::number(value)); }
    /// RuntimeError where T is not the type of the Param.
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

/// One dimension of an ImageParam. The promises are tested by `realize`, which throws RuntimeError
/// where the image given breaks one, and let the compiler make simpler code.
class ImageDimension {
  public:
    ImageDimension(std::shared_ptr<graph::ImageContents> image, int d)
        : image_(std::move(image)), d_(d) {}

    Expr min() const;
    Expr extent() const;
    Expr max() const;
    Expr stride() const;

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
    std::shared_ptr<graph::ImageContents> image_;
    int d_;
};

/// The shape of a Buffer that `realize` is given for an output (Func::output_buffer), and what is
/// promised of it. Copies are the same.
class OutputImageParam {
  public:
    OutputImageParam() = default;
    explicit OutputImageParam(std::shared_ptr<graph::ImageContents> contents)
        : contents_(std::move(contents)) {}

    bool defined() const { return contents_ != nullptr; }
    const std::string &name() const;
    Type type() const;
    int dimensions() const;

    /// CompileError where there is no such dimension.
    ImageDimension dim(int d) const;
    Expr width() const { return dim(0).extent(); }
    Expr height() const { return dim(1).extent(); }
    Expr channels() const { return dim(2).extent(); }
    Expr left() const { return dim(0).min(); }
    Expr right() const { return dim(0).max(); }
    Expr top() const { return dim(1).min(); }
    Expr bottom() const { return dim(1).max(); }
    /// One Range per dimension. Changes no result.
    OutputImageParam &set_estimates(const Region &estimates);
    /// Promises that the element with all coordinates at their minimum lies at a multiple of this
    /// many bytes, a power of two. `realize` tests it.
    OutputImageParam &set_host_alignment(int bytes);
    int host_alignment() const;
    /// Says in advance that the Buffer given for this output may be the one given for `input`, or
    /// lie in its memory. Without it the same is allowed, where it gives the right values: if the
    /// pure definition reads the input only at the point that it stores, as in `f(x, y) =
    /// 2 * in(x, y)`, and the two have the same mins and strides; or if all Funcs that read the
    /// input are computed at root before. `realize` throws RuntimeError where it does not. With it,
    /// compiling throws CompileError where the definition or the schedule does not allow it, and
    /// the code for it is compiled at once, not in the first call that needs it. The image of an
    /// ImageParam is no output: CompileError.
    OutputImageParam &may_alias(const OutputImageParam &input);
    OutputImageParam &may_alias(const Buffer<void> &input);

    const std::shared_ptr<graph::ImageContents> &contents() const { return contents_; }

  protected:
    graph::ImageContents &checked() const;

    std::shared_ptr<graph::ImageContents> contents_;
};

/// An input image, given before `realize` with `set`. Copies are the same parameter. Any strides
/// are taken; a stride of 1 in dimension 0 is fastest.
class ImageParam : public OutputImageParam {
  public:
    ImageParam() = default;
    ImageParam(Type type, int dimensions, const std::string &name = "",
               SourceLocation where = std::source_location::current());

    /// The image for the next `realize`. RuntimeError where type or number of dimensions differ.
    void set(const Buffer<void> &image);
    Buffer<void> get() const;
    void reset() { set(Buffer<void>()); }

    /// Tells of each element read, with its value; see Func::trace_loads.
    ImageParam &trace_loads();
    /// An event of this text at the begin of the pipelines that read it.
    ImageParam &add_trace_tag(const std::string &tag);

    /// The value of an element. One coordinate per dimension, else CompileError.
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

    /// A Func of the same elements. Its dimensions are _0, _1, ...
    operator Func() const;

    /// A Func of the same elements that `consumer` (each of `consumers`; all that read the image)
    /// reads in its place: see Func::in. Its dimensions are _0, _1, ...
    Func in(const Func &consumer, SourceLocation where = std::source_location::current()) const;
    Func in(const std::vector<Func> &consumers,
            SourceLocation where = std::source_location::current()) const;
    Func in(SourceLocation where = std::source_location::current()) const;
};

}  // namespace Pipe
