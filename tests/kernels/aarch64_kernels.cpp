// The baseline kernels as a program: it reads arrays from standard input, transforms them, and writes them to standard
// output. test_aarch64.py compiles it for another processor, runs it there by emulation, and compares the bits.
//
// A request is a line of text, and after it the bytes of the array:
//   transform f|d|i|l outer length inner scale repeat
//   streams f|d|i|l outer length inner scale repeat order field cycle distances added...
#define ISRHT_VARIANT baseline
#define ISRHT_VECTOR_BYTES 16
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "dense/transform.hpp"

using namespace isrht;

struct Request {
    std::string kind;
    char type;
    size_t outer, length, inner;
    double scale;
    size_t repeat;
    std::vector<int64_t> added;
    SmallMatrix plan{1, 1, 1, 0, nullptr};
};

template <class T> void answer(const Request& request) {
    std::vector<T> values(request.outer * request.length * request.inner);
    if (std::fread(values.data(), sizeof(T), values.size(), stdin) != values.size()) std::exit(1);
    const Cube<T> cube{values.data(), request.outer, request.length, request.inner,
                       ptrdiff_t(request.length * request.inner)};
    for (size_t k = 0; k < request.repeat; ++k) {
        if (request.kind == "streams") baseline::transform_streams<T>(cube, request.plan, T(request.scale));
        else baseline::transform<T>(cube, T(request.scale));
    }
    std::fwrite(values.data(), sizeof(T), values.size(), stdout);
}

std::string read_line() {
    std::string line;
    for (int c; (c = std::getchar()) != EOF && c != '\n';) line += char(c);
    return line;
}

int main() {
    for (std::string line; !(line = read_line()).empty();) {
        std::istringstream words(line);
        Request request;
        words >> request.kind >> request.type >> request.outer >> request.length >> request.inner >> request.scale >>
            request.repeat;
        if (request.kind == "streams") {
            SmallMatrix& plan = request.plan;
            words >> plan.order >> plan.field >> plan.cycle >> plan.distances;
            request.added.resize(plan.distances);
            for (int64_t& distance : request.added) words >> distance;
            plan.added = request.added.data();
        }
        if (request.type == 'f') answer<float>(request);
        else if (request.type == 'd') answer<double>(request);
        else if (request.type == 'i') answer<uint32_t>(request);
        else answer<uint64_t>(request);
    }
}
