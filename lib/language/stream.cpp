#include <pipe/stream.h>

#include <ostream>

#include "language/contents.h"
#include "schedule/print.h"

namespace Pipe {

std::ostream &operator<<(std::ostream &out, const Var &v) {
    return out << v.name();
}
std::ostream &operator<<(std::ostream &out, const RVar &v) {
    return out << v.name();
}
std::ostream &operator<<(std::ostream &out, const RDom &r) {
    if (!r.defined())
        return out << "undefined RDom";
    out << "RDom " << r.name();
    for (int i = 0; i < r.dimensions(); i++)
        out << (i == 0 ? ": " : "; ") << r[i] << " in [" << r[i].min() << ", +" << r[i].extent()
            << ")";
    return out;
}
std::ostream &operator<<(std::ostream &out, const Type &type) {
    return out << to_string(type);
}
std::ostream &operator<<(std::ostream &out, const Target &target) {
    return out << target.to_string();
}
std::ostream &operator<<(std::ostream &out, const LoopLevel &level) {
    return out << level.to_string();
}
std::ostream &operator<<(std::ostream &out, TailStrategy tail) {
    return out << schedules::to_string(tail);
}
std::ostream &operator<<(std::ostream &out, MemoryType memory) {
    return out << schedules::to_string(memory);
}
std::ostream &operator<<(std::ostream &out, Partition partition) {
    return out << schedules::to_string(partition);
}
std::ostream &operator<<(std::ostream &out, LoopAlignStrategy align) {
    return out << schedules::to_string(align);
}
std::ostream &operator<<(std::ostream &out, PrefetchBoundStrategy strategy) {
    return out << schedules::to_string(strategy);
}
std::ostream &operator<<(std::ostream &out, DeviceAPI api) {
    return out << schedules::to_string(api);
}

}  // namespace Pipe
