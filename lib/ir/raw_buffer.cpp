#include <pipe/raw_buffer.h>

namespace Pipe {

BufferBase BufferBase::wrap(const RawBuffer &raw, const std::string &name) {
    return wrap(raw.type, raw.host, detail::shape_of(raw.dim, raw.dimensions), name);
}

RawBuffer *BufferBase::raw_buffer() const {
    struct Raw {
        RawBuffer buffer;
        std::vector<RawDimension> dims;
    };
    if (!defined())
        return nullptr;
    auto raw = std::make_shared<Raw>();
    const BufferView &v = view();
    for (const BufferDim &d : v.dims)
        raw->dims.push_back({d.min, d.extent, d.stride, 0});
    raw->buffer.host = static_cast<uint8_t *>(v.host);
    raw->buffer.type = v.type;
    raw->buffer.dimensions = dimensions();
    raw->buffer.dim = raw->dims.data();
    contents().raw = raw;
    return &raw->buffer;
}

}  // namespace Pipe
