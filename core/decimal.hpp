// Decimal text to the nearest double, ties to even, whatever the locale of the process.
#pragma once

namespace isrht {

// Reads the longest number that begins at `begin`: [+-] digits [. digits] [e [+-] digits], with a digit on at least
// one side of the point. Returns where it ends, or nullptr where none begins. What is too large for a double
// becomes infinite. The text must go on to a byte that belongs to no number, a line end for instance.
const char* read_decimal(const char* begin, double& value);

}  // namespace isrht
