// cast<uint8_t>.t..*take one, as in t[[]0[]].*sqrt.t..*take one, as in t[[]0[]].*t [+] 1.*take one, as in t[[]0[]].*Expr e.*take one, as in t[[]0[]]
#include <pipe/pipe.h>

using namespace Pipe;

void misuse(const Tuple &t) {
    cast<uint8_t>(t);
    sqrt(t);
    t + 1;
    Expr e = t;
}
