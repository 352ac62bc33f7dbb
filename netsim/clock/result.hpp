// Result<T>: a value, or the sentence that says why there is none. The library neither prints nor
// exits: it hands this to its caller. Invariant: exactly one of the two is present.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace photon::netsim {

struct Error {
  std::string what;  // one sentence: key, value and what is allowed
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const std::string& error() const { return std::get<1>(state_).what; }

 private:
  std::variant<T, Error> state_;
};

}  // namespace photon::netsim
