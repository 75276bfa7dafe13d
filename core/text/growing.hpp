// An array that grows at its end and is then given away without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

namespace isrht {

// std::vector cannot give its memory away. This uses realloc, which moves the pages of large blocks rather than their
// bytes.
template <class T> class Growing {
  public:
    Growing() = default;
    Growing(const Growing&) = delete;
    Growing& operator=(const Growing&) = delete;
    ~Growing() { std::free(data_); }

    size_t size() const { return size_; }
    T* end() { return data_ + size_; }
    // Counts values that were written from end() on.
    void add(size_t count) { size_ += count; }

    // Makes room for so many more values at the end.
    void make_room(size_t count) {
        if (count > room_ - size_) resize_room(size_ + count + room_ / 2);
    }
    void push(T value) {
        make_room(1);
        data_[size_++] = value;
    }
    // Gives the values away: the receiver has to call std::free.
    T* give() {
        if (size_ < room_ || !data_) resize_room(size_ ? size_ : 1);
        size_ = room_ = 0;
        return std::exchange(data_, nullptr);
    }

  private:
    void resize_room(size_t count) {
        void* moved = count <= SIZE_MAX / sizeof(T) ? std::realloc(data_, count * sizeof(T)) : nullptr;
        if (!moved) throw std::bad_alloc();
        data_ = static_cast<T*>(moved);
        room_ = count;
    }

    T* data_ = nullptr;
    size_t size_ = 0, room_ = 0;
};

}  // namespace isrht
