// Pipe's variants of an application.
#pragma once

#include "apps/bench/variant.h"

#include <pipe/pipe.h>

#include <functional>
#include <string>

namespace bench {

/// The requested ones of naive, hand and auto, compiled, with their compile times.
std::vector<Variant> our_variants(const apps::App &app, const Data &data, int threads,
                                  const Wanted &wanted);

/// The variant that realizes the pipeline that `make` returns, scheduled for `target`; compiled, with its
/// compile times. Where Pipe throws an error, that is the variant's failure.
Variant pipe_variant(const std::string &name, const Pipe::Target &target,
                     const Pipe::Buffer<> &output, const std::function<Pipe::Pipeline()> &make);

}  // namespace bench
