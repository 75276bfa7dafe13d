// Decimal text read as the nearest double (of two that are equally near, the even one), whatever the locale of the
// process.
#pragma once

namespace isrht {

// Reads the longest number that begins at `begin`: [+-] digits [. digits] [e [+-] digits], with a digit on at least one
// side of the point. Returns where it ends, or a null pointer if no number begins there. A number that is too large for
// a double becomes infinite. The text must go on to a byte that cannot belong to a number, a line end for instance.
const char* read_decimal(const char* begin, double& value);

}  // namespace isrht
