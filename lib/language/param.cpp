// Param, ImageParam, and Buffers inside expressions.

#include <pipe/param.h>

#include <bit>
#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include "ir/fold.h"
#include "ir/visit.h"
#include "language/collect.h"
#include "language/contents.h"
#include "language/implicit.h"
#include "language/match.h"
#include "support/error_text.h"
#include "support/text.h"
#include <pipe/func.h>

namespace Pipe {

using language::ImageContents;
using language::ParamContents;
using support::Field;

namespace detail {

namespace {

/// The bytes of a constant in memory, the lowest first.
uint64_t bits_of(const Expr &constant) {
    Type type = constant.type();
    if (!type.is_float())
        return static_cast<uint64_t>(constant->int_value);
    double value = constant->float_value;
    if (type.bits() == 64)
        return std::bit_cast<uint64_t>(value);
    if (type.bits() == 32)
        return std::bit_cast<uint32_t>(static_cast<float>(value));
    return type.is_bfloat() ? bfloat16_t(value).to_bits() : float16_t(value).to_bits();
}

}  // namespace

ParamBase::ParamBase(Type type, const std::string &name, SourceLocation where)
    : contents_(std::make_shared<ParamContents>()) {
    language::passed(where);
    language::require_scalar("Param '" + name + "'", type);
    contents_->where = where;
    contents_->identity = language::Identity::named(name, "p");
    contents_->type = type;
}

const std::string &ParamBase::name() const {
    return contents_->identity->name;
}
Type ParamBase::type() const {
    return contents_->type;
}
ParamBase::operator Expr() const {
    return ir::make_param(type(), name(), contents_);
}

void ParamBase::set_bits(const void *value) {
    uint64_t bits = 0;
    std::memcpy(&bits, value, static_cast<size_t>(type().bytes()));
    contents_->bits.store(bits, std::memory_order_relaxed);
    contents_->is_set.store(true, std::memory_order_relaxed);
}

void ParamBase::get_bits(void *value) const {
    uint64_t bits = contents_->bits.load(std::memory_order_relaxed);
    std::memcpy(value, &bits, static_cast<size_t>(type().bytes()));
}

void ParamBase::set_number(const Expr &given) {
    Expr value = given;
    constexpr double exact = int64_t{1} << 53;  // all integers up to it are doubles
    if (type().is_int_or_uint() && value->op == ir::Op::FloatImm &&
        std::trunc(value->float_value) == value->float_value &&
        std::abs(value->float_value) <= exact)
        value = ir::make_int(Int(64), static_cast<int64_t>(value->float_value));
    Expr same = language::lossless_cast(type(), value);
    bool rounded = ir::as_const_int(value, nullptr) && !language::holds_integer(type(), value);
    if (!same.defined() || !ir::is_constant(same) || rounded)
        throw RuntimeError(
            fmt::format("{} is of type {}, which cannot represent {}. Set a number that it can.",
                        contents_->description(), support::marked(Field::Needed, to_string(type())),
                        support::marked(Field::Given, language::describe(given))));
    uint64_t bits = bits_of(same);
    set_bits(&bits);
}

void ParamBase::require_type(Type wanted) const {
    if (wanted != type())
        throw RuntimeError(
            fmt::format("{} is of type {}, not {}. Read it with get<T>() of its own type.",
                        contents_->description(), support::marked(Field::Needed, to_string(type())),
                        support::marked(Field::Given, to_string(wanted))));
}

void ParamBase::set_range(const Expr &min, const Expr &max) {
    auto limit = [&](const Expr &e) {
        if (!e.defined())
            return e;
        Expr same = language::lossless_cast(type(), e);
        if (!same.defined() || !ir::is_constant(same))
            throw CompileError(fmt::format(
                "{}: the limit {} of its range is not a constant of its type {}. Use numbers that "
                "the type can represent.",
                contents_->description(), language::describe(e), to_string(type())));
        return same;
    };
    contents_->min = limit(min);
    contents_->max = limit(max);
    contents_->identity->touch();
}

void ParamBase::set_estimate_value(const Expr &value) {
    contents_->estimate = value;
    contents_->identity->touch();
}

Expr ParamBase::min_value() const {
    return contents_->min;
}
Expr ParamBase::max_value() const {
    return contents_->max;
}

}  // namespace detail

namespace {

/// "ImageParam 'in' at blur.cpp:3"
std::string describe(const ImageContents &image) {
    return fmt::format("{} '{}'{}", image.is_output ? "The output" : "ImageParam",
                       language::func_field(image.identity->name), language::at(image.where));
}

Expr shape_variable(Type type, const std::shared_ptr<ImageContents> &image, const char *what,
                    int d) {
    std::string name = fmt::format("{}.{}.{}", image->identity->name, what, d);
    return ir::make_variable(type, name, image);
}

Expr call(const std::shared_ptr<ImageContents> &image, const std::vector<Expr> &given,
          SourceLocation where) {
    language::passed(where);
    const std::string &name = image->identity->name;
    std::vector<Expr> args =
        language::expand_to("The call of image '" + name + "'", given, image->dimensions, where);
    if (args.size() != static_cast<size_t>(image->dimensions))
        throw CompileError(fmt::format(
            "Image '{}' has {}, but is called with {}{}. Give one coordinate per "
            "dimension.",
            language::func_field(name), support::counted(image->dimensions, "dimension"),
            support::counted(args.size(), "argument"), language::at(where)));
    return ir::make_call(image->type, name,
                         language::coordinates("the call of image '" + name + "'", args, where),
                         ir::CallKind::Image, 0, image);
}

Expr promise(const ImageContents &image, int d, const char *what, const Expr &e) {
    std::string why;
    Expr number = language::directive_number(e, &why);
    if (!number.defined())
        throw CompileError(
            fmt::format("{}, dimension {}: {} is {}", describe(image), d, what, why));
    if (!language::is_uniform(e))
        throw CompileError(
            fmt::format("{}, dimension {}: {} is {}, but must not depend on coordinates. "
                        "Give a number, a Param or the size of an image.",
                        describe(image), d, what, language::describe(e)));
    return language::without_referent(number, image);
}

}  // namespace

namespace language {

namespace {

class OwnSizes : public ir::GraphMutator {
  public:
    OwnSizes(const ImageContents &image, std::shared_ptr<const ImageContents> now)
        : image_(image), now_(std::move(now)) {}

  protected:
    Expr rewrite(const Expr &e) override {
        const ir::Referent *own = now_ ? nullptr : &image_;
        const std::string prefix = image_.identity->name + ".";
        if (e->op == ir::Op::Variable && e->referent.get() == own && e->name.starts_with(prefix))
            return ir::make_variable(e.type(), e->name, now_);
        return ir::GraphMutator::rewrite(e);
    }

  private:
    const ImageContents &image_;
    const std::shared_ptr<const ImageContents> now_;
};

}  // namespace

Expr without_referent(const Expr &e, const ImageContents &image) {
    return OwnSizes(image, nullptr).mutate(e);
}

Expr with_referent(const Expr &e, const std::shared_ptr<const ImageContents> &image) {
    return OwnSizes(*image, image).mutate(e);
}

}  // namespace language

Expr ImageDimension::min() const {
    return shape_variable(Int(32), image_, "min", d_);
}
Expr ImageDimension::extent() const {
    return shape_variable(Int(32), image_, "extent", d_);
}
Expr ImageDimension::max() const {
    return min() + extent() - 1;
}
Expr ImageDimension::stride() const {
    return cast(Int(32), shape_variable(Int(64), image_, "stride", d_));
}

ImageDimension ImageDimension::set_min(const Expr &min) {
    image_->promise.dims[static_cast<size_t>(d_)].min = promise(*image_, d_, "the min", min);
    image_->identity->touch();
    return *this;
}

ImageDimension ImageDimension::set_extent(const Expr &extent) {
    image_->promise.dims[static_cast<size_t>(d_)].extent =
        promise(*image_, d_, "the extent", extent);
    image_->identity->touch();
    return *this;
}

ImageDimension ImageDimension::set_stride(const Expr &stride) {
    image_->promise.dims[static_cast<size_t>(d_)].stride =
        stride.defined() ? promise(*image_, d_, "the stride", stride) : Expr();
    image_->identity->touch();
    return *this;
}

ImageDimension ImageDimension::set_bounds(const Expr &min, const Expr &extent) {
    set_min(min);
    return set_extent(extent);
}

ImageDimension ImageDimension::set_estimate(const Expr &min, const Expr &extent) {
    auto &c = image_->promise.dims[static_cast<size_t>(d_)];
    c.estimate_min = promise(*image_, d_, "the estimated min", min);
    c.estimate_extent = promise(*image_, d_, "the estimated extent", extent);
    image_->identity->touch();
    return *this;
}

ImageDimension ImageDimension::dim(int d) const {
    if (d < 0 || d >= image_->dimensions)
        throw CompileError(fmt::format("{} has {}, numbered from 0: there is no dimension {}.",
                                       describe(*image_),
                                       support::counted(image_->dimensions, "dimension"), d));
    return ImageDimension(image_, d);
}

ImageParam::ImageParam(Type type, int dimensions, const std::string &name, SourceLocation where)
    : OutputImageParam(std::make_shared<ImageContents>()) {
    if (!type.defined() || !type.is_scalar() || dimensions < 0)
        throw CompileError(
            fmt::format("ImageParam '{}'{} needs a scalar type and at least 0 dimensions, not "
                        "{} and {}. Example: ImageParam(UInt(8), 2).",
                        name, language::at(where), to_string(type), dimensions));
    contents_->where = where;
    language::passed(where);
    contents_->identity = language::Identity::named(name, "image");
    contents_->type = type;
    contents_->dimensions = dimensions;
    contents_->promise.dims.resize(static_cast<size_t>(dimensions));
}

ImageContents &OutputImageParam::checked() const {
    if (!contents_)
        throw CompileError("An undefined ImageParam was used" + language::nearby() +
                           ". Give it a type and dimensions, as in ImageParam in(UInt(8), 2).");
    return *contents_;
}

const std::string &OutputImageParam::name() const {
    return checked().identity->name;
}
Type OutputImageParam::type() const {
    return checked().type;
}
int OutputImageParam::dimensions() const {
    return checked().dimensions;
}

namespace {
/// "2 dimensions of uint8", marked.
std::string shape(Field field, int dimensions, Type type) {
    return support::marked(field,
                           support::counted(dimensions, "dimension") + " of " + to_string(type));
}
}  // namespace

void ImageParam::set(const Buffer<void> &image) {
    ImageContents &c = checked();
    if (image.defined() && (image.type() != c.type || image.dimensions() != c.dimensions))
        throw RuntimeError(
            fmt::format("{} expects {}, but was given a Buffer with {}. Convert the Buffer, or "
                        "declare the ImageParam with its type and dimensions.",
                        describe(c), shape(Field::Needed, c.dimensions, c.type),
                        shape(Field::Given, image.dimensions(), image.type())));
    c.buffer = image;
}

Buffer<void> ImageParam::get() const {
    return checked().buffer;
}

ImageDimension OutputImageParam::dim(int d) const {
    checked();
    return ImageDimension(contents_, 0).dim(d);
}

ImageParam &ImageParam::trace_loads() {
    checked().trace_loads = true;
    contents_->identity->touch();
    return *this;
}

ImageParam &ImageParam::add_trace_tag(const std::string &tag) {
    checked().trace_tags.push_back(tag);
    contents_->identity->touch();
    return *this;
}

OutputImageParam &OutputImageParam::set_estimates(const Region &estimates) {
    if (estimates.size() != static_cast<size_t>(dimensions()))
        throw CompileError(
            fmt::format("{} has {}, but set_estimates is given {}. Give one Range per "
                        "dimension.",
                        describe(checked()), support::counted(dimensions(), "dimension"),
                        support::counted(estimates.size(), "range")));
    for (int d = 0; d < dimensions(); d++)
        dim(d).set_estimate(estimates[static_cast<size_t>(d)].min,
                            estimates[static_cast<size_t>(d)].extent);
    return *this;
}

OutputImageParam &OutputImageParam::set_host_alignment(int bytes) {
    if (bytes < 1 || (bytes & (bytes - 1)) != 0)
        throw CompileError(fmt::format("{}: set_host_alignment({}) takes a power of two, in bytes.",
                                       describe(checked()), bytes));
    checked().promise.host_alignment = bytes;
    contents_->identity->touch();
    return *this;
}

int OutputImageParam::host_alignment() const {
    return checked().promise.host_alignment;
}

namespace {

void add_alias(ImageContents &output, const std::shared_ptr<ImageContents> &input) {
    if (!output.is_output || input->is_output)
        throw CompileError(fmt::format("{}.may_alias: it takes an input, and must be called on an "
                                       "output: f.output_buffer().may_alias(in).",
                                       describe(output)));
    output.may_alias.push_back(input);
    output.identity->touch();
}

}  // namespace

OutputImageParam &OutputImageParam::may_alias(const OutputImageParam &input) {
    input.checked();
    add_alias(checked(), input.contents());
    return *this;
}

OutputImageParam &OutputImageParam::may_alias(const Buffer<void> &input) {
    add_alias(checked(), language::image_of(input));
    return *this;
}

Expr ImageParam::operator()(const std::vector<Expr> &args, SourceLocation where) const {
    checked();
    return call(contents_, args, where);
}

ImageParam::operator Func() const {
    std::vector<Expr> vars;
    for (int i = 0; i < dimensions(); i++)
        vars.push_back(Var::implicit(i));
    Func f(language::undefined_func(language::Identity::derived(*checked().identity, "_func"), {}));
    f(vars) = (*this)(vars, {});
    return f;
}

struct language::BufferImages {
    static std::weak_ptr<void> &of(const BufferBase &buffer) { return buffer.contents().image; }
};

/// The same image for each use of a Buffer, so that two reads of an element are equal expressions.
std::shared_ptr<ImageContents> language::image_of(const Buffer<void> &image, SourceLocation where) {
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    auto known = std::static_pointer_cast<ImageContents>(BufferImages::of(image).lock());
    const std::string &name = image.name();
    if (known && known->type == image.type() && known->dimensions == image.dimensions() &&
        (name.empty() || known->identity->name == name))
        return known;
    auto contents = std::make_shared<ImageContents>();
    contents->identity = language::Identity::named(name, "buffer");
    contents->where = where;
    contents->type = image.type();
    contents->dimensions = image.dimensions();
    contents->bound = true;
    contents->buffer = image;
    contents->promise.dims.resize(static_cast<size_t>(image.dimensions()));
    BufferImages::of(image) = contents;
    return contents;
}

Expr image_access(const Buffer<void, AnyDims> &image, const std::vector<Expr> &args,
                  SourceLocation where) {
    return call(language::image_of(image, where), args, where);
}

}  // namespace Pipe
