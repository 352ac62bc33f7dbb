// Variables of which each thread has its own, and the PE one outside of threads. Those of a thread
// are one block, which is made with it.
// Invariant: an offset stays; so a thread has those that were registered before it was made.
// Owner: the PE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace photon::task {

class ThreadVariables {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // all of a thread
  static constexpr std::size_t kAlignment = 16;

  // False: there would be too many bytes. Throws bad_alloc.
  bool add(std::size_t size_bytes, std::uint32_t& number) {
    if (size_bytes > kMostBytes - bytes_) return false;
    const std::size_t room = (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
    variables_.push_back({bytes_, std::make_unique<std::byte[]>(room)});  // zeros
    bytes_ += room;
    number = static_cast<std::uint32_t>(variables_.size() - 1);
    return true;
  }
  std::size_t count() const noexcept { return variables_.size(); }
  std::size_t bytes() const noexcept { return bytes_; }
  std::size_t offset(std::uint32_t number) const noexcept { return variables_[number].offset; }
  void* of_pe(std::uint32_t number) const noexcept { return variables_[number].of_pe.get(); }

 private:
  struct Variable {
    std::size_t offset;
    std::unique_ptr<std::byte[]> of_pe;
  };

  std::vector<Variable> variables_;
  std::size_t bytes_ = 0;
};

}  // namespace photon::task
