// An array whose elements are all zero until they are written, and cost memory page by page from
// then on: for tables that most of their owners hardly use.
// Owner: one. Threads: as those of its elements.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace photon::base {

template <class T>
  requires std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>
class ZeroArray {
 public:
  ZeroArray() = default;
  // At least one element. Throws std::bad_alloc.
  explicit ZeroArray(std::size_t count) : size_bytes_(count * sizeof(T)) {
    void* memory = ::mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    elements_ = static_cast<T*>(memory);
  }
  ~ZeroArray() { reset(); }
  ZeroArray(ZeroArray&& other) noexcept
      : elements_(std::exchange(other.elements_, nullptr)), size_bytes_(other.size_bytes_) {}
  ZeroArray& operator=(ZeroArray&& other) noexcept {
    std::swap(elements_, other.elements_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }

  explicit operator bool() const noexcept { return elements_ != nullptr; }
  T& operator[](std::size_t i) noexcept { return elements_[i]; }
  const T& operator[](std::size_t i) const noexcept { return elements_[i]; }
  void reset() noexcept {
    if (elements_ != nullptr) ::munmap(std::exchange(elements_, nullptr), size_bytes_);
  }

 private:
  T* elements_ = nullptr;
  std::size_t size_bytes_ = 0;
};

}  // namespace photon::base
