// Decimal text read as the nearest double: see decimal.hpp.
//
// Most numbers in files have few digits. Then both the digits, as an integer, and the power of ten are doubles without
// rounding, and one product or quotient gives the nearest double (Clinger 1990). All others are left to the C++
// library.
#include "text/decimal.hpp"

#include <charconv>
#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <string>
#ifdef __APPLE__
#include <xlocale.h>
#endif

namespace isrht {
namespace {

constexpr double kTens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                            1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int64_t kExactTens = 22;                     // Larger powers of ten are not doubles without rounding.
constexpr uint64_t kExactInteger = uint64_t(1) << 53;  // Larger integers need not be.
constexpr int64_t kSafeDigits = 19;                    // More digits may not fit 64 bits.
constexpr int64_t kHugeExponent = 1'000'000'000;       // An exponent beyond this is not read any further.

bool is_digit(char c) { return unsigned(c - '0') < 10; }

// Reads a number by strtod, with a point for decimals whatever the locale of the process.
double in_c_locale(const char* begin, const char* end) {
    const std::string text(begin, end);
#ifdef _WIN32
    static const _locale_t plain = _create_locale(LC_ALL, "C");
    return _strtod_l(text.c_str(), nullptr, plain);
#else
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
    return strtod_l(text.c_str(), nullptr, plain);
#endif
}

// Reads an unsigned number that is the whole of [begin, end).
double correctly_rounded(const char* begin, const char* end) {
#ifdef __cpp_lib_to_chars  // libc++ has no from_chars for double.
    double value;
    // "Out of range" may mean too large or too small; strtod tells them apart.
    if (std::from_chars(begin, end, value).ec == std::errc()) return value;
#endif
    return in_c_locale(begin, end);
}

}  // namespace

const char* read_decimal(const char* begin, double& value) {
    const char* p = begin;
    const bool negative = *p == '-';
    p += negative || *p == '+';
    const char* const first = p;
    uint64_t digits = 0;  // It wraps around when there are too many digits, but then it is not used.
    while (is_digit(*p)) digits = digits * 10 + uint64_t(*p++ - '0');
    int64_t count = p - first, exponent = 0;
    if (*p == '.') {
        const char* const point = p++;
        while (is_digit(*p)) digits = digits * 10 + uint64_t(*p++ - '0');
        exponent = point + 1 - p;
        count -= exponent;
    }
    if (count == 0) return nullptr;
    if (*p == 'e' || *p == 'E') {
        const char* q = p + 1;
        const bool down = *q == '-';
        q += down || *q == '+';
        if (is_digit(*q)) {
            int64_t power = 0;
            for (; is_digit(*q); ++q)
                if (power < kHugeExponent) power = power * 10 + (*q - '0');
            exponent += down ? -power : power;
            p = q;
        }
    }
    if (count <= kSafeDigits && digits <= kExactInteger && -kExactTens <= exponent && exponent <= kExactTens)
        value = exponent < 0 ? double(digits) / kTens[-exponent] : double(digits) * kTens[exponent];
    else value = correctly_rounded(first, p);
    if (negative) value = -value;
    return p;
}

}  // namespace isrht
