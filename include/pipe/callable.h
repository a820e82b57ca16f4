#pragma once
// Callable: a compiled pipeline as a function.

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <pipe/buffer.h>
#include <pipe/jit.h>
#include <pipe/param.h>
#include <pipe/raw_buffer.h>
#include <pipe/target.h>

namespace Pipe {

namespace driver {
struct CallableContents;
}
namespace ir {
struct Referent;
}

/// An argument of a compiled pipeline: a Param, an ImageParam, a Buffer used in an expression, or
/// an output.
struct Argument {
    enum Kind { InputScalar, InputBuffer, OutputBuffer };

    std::string name;
    Kind kind = InputScalar;
    uint8_t dimensions = 0;
    Type type;
    /// The Param, ImageParam or Buffer; null if the argument is only described.
    std::shared_ptr<const ir::Referent> parameter;

    Argument() = default;
    Argument(const std::string &name, Kind kind, Type type, int dimensions)
        : name(name), kind(kind), dimensions(static_cast<uint8_t>(dimensions)), type(type) {}
    Argument(const detail::ParamBase &param);
    Argument(const ImageParam &image);
    /// A Buffer used in expressions: the compiled function takes another one in its place with each
    /// call.
    template <typename T, int D>
    Argument(const Buffer<T, D> &buffer) : Argument(of_buffer(Buffer<void>(buffer))) {}

    bool is_buffer() const { return kind != InputScalar; }
    bool is_scalar() const { return kind == InputScalar; }
    bool is_input() const { return kind != OutputBuffer; }
    bool is_output() const { return kind == OutputBuffer; }

  private:
    static Argument of_buffer(const Buffer<void> &buffer);
};

namespace detail {

/// One argument of a call: the address of a number, or a BufferBase.
struct CallValue {
    Type type;            ///< of the number; undefined for a Buffer
    const void *address;  ///< not owned
};

/// The requirements of a parameter type of a std::function: its element type (undefined if known
/// only at run time) and dimensions.
struct ParameterType {
    bool is_buffer;
    Type type;
    int dimensions;
};

template <typename T> struct Parameter {
    static constexpr ParameterType requirement{false, type_of<T>(), 0};
    static CallValue value(const T &number) { return {type_of<T>(), &number}; }
};
template <typename T>
requires std::is_base_of_v<BufferBase, T>
struct Parameter<T> {
    static constexpr Type element() {
        if constexpr (T::has_static_type)
            return type_of<typename T::ElemType>();
        else
            return Type();
    }
    static constexpr ParameterType requirement{true, element(), T::static_dimensions()};
    static CallValue value(const T &buffer) {
        return {Type(), static_cast<const BufferBase *>(&buffer)};
    }
};

/// A halide_buffer_t as a Buffer for one call; undefined for a null pointer. The answer to a bounds
/// query is written back.
class RawArgument {
  public:
    explicit RawArgument(const RawBuffer *raw) : raw_(raw) {
        if (raw)
            buffer_ = raw->buffer();
    }
    RawArgument(const RawArgument &) = delete;
    ~RawArgument() {
        if (raw_ && raw_->is_bounds_query())
            for (int i = 0; i < raw_->dimensions; i++)
                raw_->dim[i] = {buffer_.min(i), buffer_.extent(i), buffer_.stride(i),
                                raw_->dim[i].flags};
    }
    const Buffer<void> &buffer() const { return buffer_; }

  private:
    const RawBuffer *raw_;
    Buffer<void> buffer_;
};
template <> struct Parameter<RawArgument> {
    static CallValue value(const RawArgument &raw) {
        return {Type(), static_cast<const BufferBase *>(&raw.buffer())};
    }
};
template <> struct Parameter<RawBuffer *> {
    static constexpr ParameterType requirement{true, Type(), AnyDims};
};
template <> struct Parameter<const RawBuffer *> : Parameter<RawBuffer *> {};

/// Converts an argument to the form that run() takes.
template <typename T> const T &held(const T &value) {
    return value;
}
inline RawArgument held(const RawBuffer *raw) {
    return RawArgument(raw);
}
inline RawArgument held(RawBuffer *raw) {
    return RawArgument(raw);
}

template <typename T>
concept UserContext = std::is_convertible_v<T, JITUserContext *> && !std::is_null_pointer_v<T>;

}  // namespace detail

/// A compiled pipeline as a function of its Params, ImageParams and outputs, in the order of the
/// list given to compile_to_callable, outputs last. Later changes of definitions, schedules and
/// values of Params do not affect it. Copies share the code. Thread-safe.
///
///     Callable blur = f.compile_to_callable({in, radius});
///     blur(photo, 3, result);
///
/// If a Buffer has no memory (Buffer::is_bounds_query), nothing is computed. Instead, all Buffers
/// without memory receive the shape that would be read or written.
class Callable {
  public:
    Callable() = default;
    explicit Callable(std::shared_ptr<const driver::CallableContents> contents)
        : contents_(std::move(contents)) {}
    bool defined() const { return contents_ != nullptr; }
    /// The arguments of a call, in order.
    const std::vector<Argument> &arguments() const;

    /// Runs the pipeline. The types of numbers must match those of the Params exactly; element
    /// types and dimensions of Buffers must match those of the images: RuntimeError otherwise, and
    /// in all cases in which `realize` throws one. A JITUserContext * may precede the arguments.
    /// Returns 0, or an error code if a custom_error handler received the error.
    template <typename... Args> int operator()(const Args &...args) const {
        return call(nullptr, args...);
    }
    template <detail::UserContext Context, typename... Args>
    int operator()(Context context, const Args &...args) const {
        return call(context, args...);
    }

    /// The same as a std::function, whose types are checked once: `make_std_function<Buffer<float>,
    /// int, Buffer<float, 2>>()`. The first type may be JITUserContext *.
    template <typename First, typename... Rest>
    std::function<int(First, Rest...)> make_std_function() const {
        if constexpr (detail::UserContext<First>) {
            check({detail::Parameter<std::remove_cvref_t<Rest>>::requirement...});
            return
                [self = *this](First context, Rest... rest) { return self.call(context, rest...); };
        } else {
            check({detail::Parameter<std::remove_cvref_t<First>>::requirement,
                   detail::Parameter<std::remove_cvref_t<Rest>>::requirement...});
            return [self = *this](First first, Rest... rest) {
                return self.call(nullptr, first, rest...);
            };
        }
    }

    const std::shared_ptr<const driver::CallableContents> &contents() const { return contents_; }

  private:
    std::shared_ptr<const driver::CallableContents> contents_;

    template <typename... Args> int call(JITUserContext *context, const Args &...args) const {
        return call_held(context, detail::held(args)...);
    }
    template <typename... Args> int call_held(JITUserContext *context, const Args &...args) const {
        const detail::CallValue values[sizeof...(Args) + 1] = {
            detail::Parameter<Args>::value(args)..., {Type(), nullptr}};
        return run(context, values, sizeof...(Args));
    }
    int run(JITUserContext *context, const detail::CallValue *values, size_t count) const;
    void check(const std::vector<detail::ParameterType> &parameters) const;
};

}  // namespace Pipe
