// Result<T>: a value or an Error. The core's way to fail; translated to ph_status in api/.
// Invariant: exactly one of value and error is present. Owner: the caller who received it.
#pragma once

#include <photon/types.h>

#include <string>
#include <utility>
#include <variant>

namespace photon::base {

// What failed. `what` says operation, object and next step; errors are off the data path, so a
// string is affordable.
struct Error {
  ph_status status = PH_ERR_SYSTEM;
  int native_errno = 0;
  std::string what;
  ph_rank rank = PH_ANY_RANK;
};

template <class T = void>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  explicit operator bool() const noexcept { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  Error& error() { return std::get<1>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}
  explicit operator bool() const noexcept { return !failed_; }
  Error& error() { return error_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool failed_ = false;
};

// An Error from errno, taken at once. Where a limit or a sandbox is in the way it says what to do.
Error system_error(std::string what);

}  // namespace photon::base
