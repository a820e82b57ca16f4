// A picture that the project draws itself: what the applications read when no file is named.
#pragma once

#include <pipe/buffer.h>

#include <cstdint>

namespace apps {

/// A scene with smooth gradients, fine texture, hard edges, corners, thin strokes and round things,
/// so that a blur, a sharpening or a corner detector can be judged by eye. Planar RGB, dimensions
/// (x, y, channel); deterministic.
Pipe::Buffer<uint8_t> default_picture(int width = 2560, int height = 1536);

}  // namespace apps
