// Callable: maps the arguments of a call to the kernel's slots, and checks them.

#include "driver/callable.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "language/contents.h"
#include "support/error_text.h"
#include "support/text.h"

namespace Pipe {

using driver::CallableContents;
using driver::Slot;
using support::Field;
using Kind = ir::Argument::Kind;

Argument::Argument(const detail::ParamBase &param)
    : name(param.name()), kind(InputScalar), type(param.type()), parameter(param.contents()) {}

Argument::Argument(const ImageParam &image)
    : name(image.name()), kind(InputBuffer), dimensions(static_cast<uint8_t>(image.dimensions())),
      type(image.type()), parameter(image.contents()) {}

Argument Argument::of_buffer(const Buffer<void> &buffer) {
    auto image = language::image_of(buffer);
    Argument argument(image->identity->name, InputBuffer, image->type, image->dimensions);
    argument.parameter = image;
    return argument;
}

namespace driver {

namespace {

bool is_output(const Slot &slot) {
    return slot.kind == Kind::OutputBuffer;
}

bool is_bound(const Slot &slot) {
    return slot.kind == Kind::InputBuffer && !slot.image;
}

std::string describe(bool is_buffer, Type type, int dimensions) {
    if (!is_buffer)
        return type.defined() ? to_string(type) : "a number";
    std::string element = type.defined() ? " of " + to_string(type) : "";
    return dimensions < 0 ? "a Buffer" + element
                          : fmt::format("a {}-dimensional Buffer{}", dimensions, element);
}

std::string describe(const Argument &a) {
    return describe(a.is_buffer(), a.type, a.dimensions);
}

Argument argument_of(const Slot &slot) {
    Argument a;
    a.name = slot.name;
    a.type = slot.type;
    a.dimensions = static_cast<uint8_t>(slot.dimensions);
    a.kind = is_output(slot)             ? Argument::OutputBuffer
             : slot.kind == Kind::Scalar ? Argument::InputScalar
                                         : Argument::InputBuffer;
    if (slot.image)
        a.parameter = slot.image;
    if (slot.param)
        a.parameter = slot.param;
    return a;
}

bool describes(const Argument &a, const Slot &slot) {
    if (!a.parameter)
        return a.name == slot.name;
    if (!is_bound(slot))
        return slot.param ? a.parameter == slot.param : a.parameter == slot.image;
    auto image = std::dynamic_pointer_cast<const language::ImageContents>(a.parameter);
    return image && image->bound && image->buffer.same_as(slot.bound);
}

/// The index in the user's list of the argument for a slot; -1 for a Buffer that is not listed.
int find(const Slot &slot, const std::vector<Argument> &inputs) {
    const Argument needed = argument_of(slot);
    auto found = std::find_if(inputs.begin(), inputs.end(),
                              [&](const Argument &a) { return describes(a, slot); });
    if (found == inputs.end() && is_bound(slot))
        return -1;
    if (found == inputs.end())
        throw CompileError(fmt::format("compile_to_callable: the pipeline uses {} '{}'{}, which is "
                                       "not in the list of arguments. Add it.",
                                       needed.is_buffer() ? "the ImageParam" : "the Param",
                                       support::marked(Field::Func, needed.name),
                                       language::at(slot.where)));
    if (found->type != needed.type || found->is_buffer() != needed.is_buffer() ||
        found->dimensions != needed.dimensions)
        throw CompileError(fmt::format(
            "compile_to_callable: the argument '{}'{} is described as {}, but is {}. Pass the "
            "Param or ImageParam itself.",
            support::marked(Field::Func, needed.name), language::at(slot.where),
            support::marked(Field::Given, describe(*found)),
            support::marked(Field::Needed, describe(needed))));
    return static_cast<int>(found - inputs.begin());
}

}  // namespace

std::vector<Argument> input_arguments(const Slots &slots) {
    std::vector<Argument> inputs;
    for (const Slot &slot : slots.slots())
        if (!is_output(slot) && !is_bound(slot))
            inputs.push_back(argument_of(slot));
    return inputs;
}

std::shared_ptr<const CallableContents> make_callable(std::shared_ptr<Compiled> compiled,
                                                      const std::vector<Argument> &inputs,
                                                      const JITHandlers &handlers,
                                                      std::shared_ptr<runtime::Profile> profile) {
    auto contents = std::make_shared<CallableContents>();
    for (const Argument &a : inputs)
        if (!a.is_output())  // outputs may be listed, too, but always come last
            contents->arguments.push_back(a);
    std::vector<Argument> given = contents->arguments;
    for (const Slot &slot : compiled->slots().slots()) {
        int place = -1;
        if (is_output(slot)) {
            place = static_cast<int>(contents->arguments.size());
            contents->arguments.push_back(argument_of(slot));
            if (contents->name.empty())
                contents->name = fmt::format("'{}'{}", slot.name, language::at(slot.where));
        } else {
            place = find(slot, given);
        }
        contents->argument_of_slot.push_back(place);
    }
    contents->compiled = std::move(compiled);
    contents->handlers = handlers;
    contents->profile = std::move(profile);
    return contents;
}

}  // namespace driver

namespace {

const CallableContents &checked(const std::shared_ptr<const CallableContents> &contents) {
    if (!contents)
        throw RuntimeError("An undefined Callable was called: make it with compile_to_callable.");
    return *contents;
}

std::string wrong_count(const CallableContents &c, size_t count) {
    std::string names;
    for (const Argument &a : c.arguments)
        names += (names.empty() ? "'" : ", '") + a.name + "'";
    return fmt::format(
        "The Callable {} takes {} ({}), but is given {}. Pass all of them, in this "
        "order.",
        c.name, support::marked(Field::Needed, support::counted(c.arguments.size(), "argument")),
        names, support::marked(Field::Given, count));
}

std::string wrong_argument(const CallableContents &c, size_t i, const std::string &given) {
    return fmt::format("The Callable {}, argument {} ('{}'): it must be {}, but is {}. The types "
                       "of arguments must match those of the Params and images exactly.",
                       c.name, i, support::marked(Field::Func, c.arguments[i].name),
                       support::marked(Field::Needed, driver::describe(c.arguments[i])),
                       support::marked(Field::Given, given));
}

}  // namespace

const std::vector<Argument> &Callable::arguments() const {
    return checked(contents_).arguments;
}

void Callable::check(const std::vector<detail::ParameterType> &parameters) const {
    const CallableContents &c = checked(contents_);
    if (parameters.size() != c.arguments.size())
        throw RuntimeError(wrong_count(c, parameters.size()));
    for (size_t i = 0; i < parameters.size(); i++) {
        const detail::ParameterType &p = parameters[i];
        const Argument &a = c.arguments[i];
        bool same_type = p.type == a.type || (p.is_buffer && !p.type.defined());
        bool same_shape = !p.is_buffer || p.dimensions < 0 || p.dimensions == a.dimensions;
        if (p.is_buffer != a.is_buffer() || !same_type || !same_shape)
            throw RuntimeError(
                wrong_argument(c, i, driver::describe(p.is_buffer, p.type, p.dimensions)));
    }
}

int Callable::run(JITUserContext *context, const detail::CallValue *values, size_t count) const {
    return driver::run_callable(checked(contents_), context, values, count);
}

int driver::run_callable(const CallableContents &c, JITUserContext *context,
                         const detail::CallValue *values, size_t count) {
    const CallSettings settings{context, c.handlers, *c.profile};
    if (count != c.arguments.size())
        return c.compiled->fail(wrong_count(c, count), settings);
    for (size_t i = 0; i < count; i++) {
        const bool is_buffer = !values[i].type.defined();
        if (is_buffer != c.arguments[i].is_buffer() ||
            (!is_buffer && values[i].type != c.arguments[i].type))
            return c.compiled->fail(
                wrong_argument(c, i, driver::describe(is_buffer, values[i].type, -1)), settings);
    }
    driver::BorrowedArguments call;
    const std::vector<Slot> &slots = c.compiled->slots().slots();
    call->given.resize(slots.size());
    for (size_t s = 0; s < slots.size(); s++) {
        int place = c.argument_of_slot[s];
        driver::ArgumentValue &given = call->given[s] = {};
        if (place < 0) {
            given.buffer = &slots[s].bound;
        } else if (slots[s].kind == Kind::Scalar) {
            std::memcpy(&given.bits, values[place].address,
                        static_cast<size_t>(slots[s].type.bytes()));
        } else {
            given.buffer = static_cast<const BufferBase *>(values[place].address);
        }
    }
    return is_query(call->given) ? c.compiled->answer_query(call->given, settings)
                                 : c.compiled->run(*call, settings);
}

}  // namespace Pipe
