/**
 * Memory that peers may write and read, as objects. Include photon.hpp.
 */
#ifndef PHOTON_MEMORY_HPP
#define PHOTON_MEMORY_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include "types.hpp"

namespace photon {

using Target = ph_target;
using Region = ph_region;

/** What may travel as plain bytes. */
template <class T>
concept Plain = std::is_trivially_copyable_v<T> && std::is_object_v<T>;

/**
 * Contiguous plain objects: vectors, arrays, strings, spans. A container that is about to die is
 * none: operations go on using the memory after the call returned.
 */
template <class R>
concept PlainRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                     std::ranges::borrowed_range<R> && Plain<std::ranges::range_value_t<R>>;

/** Element `index` of a region that holds an array of T. The operation checks the bounds. */
template <Plain T = std::byte>
[[nodiscard]] Target at(const Region &region, std::size_t index) noexcept {
  return ph_at(&region, index * sizeof(T));
}

namespace detail {

/** Shared with regions, so that they may outlive the Context: their calls then fail cleanly. */
using Handle = std::shared_ptr<ph_context>;

/** The end of a lane's handle. */
struct CloseLane {
  Handle context; /**< Outlives it. */
  bool is_closed = false;
  void operator()(ph_context *lane) const noexcept {
    if (!is_closed) ph_lane_close(lane);
  }
};

/** Lane::close() was called: no call may name it any more. */
inline bool is_closed(const Handle &handle) noexcept {
  const auto *const closing = std::get_deleter<CloseLane>(handle);
  return closing != nullptr && closing->is_closed;
}

}  // namespace detail

/**
 * Registered memory of the caller. Move-only.
 * Ownership: the memory stays the caller's and must outlive this object. The destructor waits until
 * no peer on this host copies under the key any more, however long: memory that a peer may still
 * write must not be given back. release() is the bounded form.
 */
class Registration {
 public:
  Registration() = default;
  Registration(Registration &&) noexcept = default;
  Registration &operator=(Registration &&other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(region_, other.region_);
    return *this;
  }
  ~Registration() {
    while (handle_ != nullptr && ph_unregister(handle_.get(), region_.key) == PH_TIMEOUT) continue;
  }

  /** Plain data, the same on every rank: send it to whoever may access the memory. */
  [[nodiscard]] const Region &region() const noexcept { return region_; }

  /** ph_unregister(); false: a stopped peer holds a copy open, call again. */
  [[nodiscard]] bool release() {
    if (handle_ == nullptr) return true;
    if (!detail::check(handle_.get(), ph_unregister(handle_.get(), region_.key))) return false;
    handle_.reset();
    return true;
  }

 private:
  friend class Lane;
  Registration(detail::Handle handle, const Region &region)
      : handle_(std::move(handle)), region_(region) {}
  detail::Handle handle_;
  Region region_ = {};
};

/**
 * Zeroed memory of ph_alloc() as an array of T: a contiguous range that peers on this host reach
 * directly. Move-only. Valid until destroyed or the context is finalized, whichever comes first.
 */
template <Plain T>
class Allocation {
 public:
  Allocation() = default;
  Allocation(Allocation &&) noexcept = default;
  Allocation &operator=(Allocation &&other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(region_, other.region_);
    return *this;
  }
  /** The memory is the library's: where a peer still copies, it is kept until finalize. */
  ~Allocation() {
    if (handle_ != nullptr) ph_free(handle_.get(), data());
  }

  [[nodiscard]] const Region &region() const noexcept { return region_; }
  [[nodiscard]] T *data() const noexcept {
    return reinterpret_cast<T *>(static_cast<std::uintptr_t>(region_.address));
  }
  [[nodiscard]] std::size_t size() const noexcept { return region_.size_bytes / sizeof(T); }
  [[nodiscard]] T *begin() const noexcept { return data(); }
  [[nodiscard]] T *end() const noexcept { return data() + size(); }
  [[nodiscard]] T &operator[](std::size_t index) const noexcept { return data()[index]; }
  [[nodiscard]] std::span<T> span() const noexcept { return {data(), size()}; }

 private:
  friend class Lane;
  Allocation(detail::Handle handle, const Region &region)
      : handle_(std::move(handle)), region_(region) {}
  detail::Handle handle_;
  Region region_ = {};
};

/**
 * A peer's ph_alloc memory as an array of T: ph_map(). Move-only; the destructor gives it back.
 * Valid until destroyed or the mapper's context is finalized, whichever comes first, whatever
 * becomes of the owner.
 */
template <Plain T>
class Mapped {
 public:
  Mapped() = default;
  Mapped(Mapped &&) noexcept = default;
  Mapped &operator=(Mapped &&other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(span_, other.span_);
    return *this;
  }
  ~Mapped() {
    if (handle_ != nullptr) ph_unmap(handle_.get(), span_.data());
  }

  [[nodiscard]] T *data() const noexcept { return span_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return span_.size(); }
  [[nodiscard]] T &operator[](std::size_t index) const noexcept { return span_[index]; }
  [[nodiscard]] std::span<T> span() const noexcept { return span_; }

 private:
  friend class Context;
  Mapped(detail::Handle handle, std::span<T> span) : handle_(std::move(handle)), span_(span) {}
  detail::Handle handle_;
  std::span<T> span_;
};

}  // namespace photon

#endif
