#pragma once
// in() and clone_in(): resolves the objects that a Func reads if they have wrappers.

#include <memory>
#include <vector>

#include "language/contents.h"

namespace Pipe::language {

/// The object that `reader` reads instead of `named`: its wrapper for `reader`, else the wrapper
/// for all, and so on with the wrappers of that. Wrappers for all do not apply to each other.
std::shared_ptr<const Wrappable> resolve(std::shared_ptr<const Wrappable> named,
                                         const FuncContents &reader);

/// The Funcs that `reader` reads after applying wrappers, in order of first use.
std::vector<std::shared_ptr<const FuncContents>> callees(const FuncContents &reader);

/// CompileError if a wrapper was made for `reader`, which does not read the wrapped object.
void check_wrappers(const FuncContents &reader);

/// The Func that in() makes, without telling the objects of it: they do not read it.
std::shared_ptr<FuncContents> copy_of(const Wrappable &of, const FuncContents &reader);

/// ImageParam::in.
Func wrap_image(ImageContents &image, const std::vector<Func> &consumers, SourceLocation where);

}  // namespace Pipe::language
