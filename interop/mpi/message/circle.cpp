#include "interop/mpi/message/circle.hpp"

#include <new>
#include <utility>

namespace photon::mpi {

Outcome outcome_of(Fault fault) noexcept {
  switch (fault) {
    case Fault::none: break;
    case Fault::no_handler:
      return {MPI_ERR_OTHER, "a message has come for a handler that its target has freed"};
    case Fault::header_handler:
      return {MPI_ERR_OTHER, "the header handler of a message has returned an error"};
    case Fault::too_small:
      return {MPI_ERR_OTHER,
              "a header handler has named a landing that is too small for the payload"};
    case Fault::bad_landing:
      return {MPI_ERR_OTHER,
              "a header handler has named a landing with a null buffer, a negative number, or a "
              "layout that is freed"};
    case Fault::comp_handler:
      return {MPI_ERR_OTHER, "the completion handler of a message has returned an error"};
    case Fault::cut_off:
      return {MPI_ERR_OTHER, "the payload of a message could not be read by its target"};
    case Fault::no_memory:
      return {MPI_ERR_OTHER, "the target of a message has no memory to land its payload"};
  }
  return {};
}

bool Circles::enter(const std::shared_ptr<Circle>& circle) noexcept {
  try {
    const std::lock_guard guard(mutex_);
    return all_.try_emplace(circle->number, circle).second;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void Circles::leave(const Circle& circle) noexcept {
  std::shared_ptr<Circle> taken;  // it may be the last one, and goes without the lock
  const std::lock_guard guard(mutex_);
  const auto at = all_.find(circle.number);
  if (at == all_.end()) return;
  taken = std::move(at->second);
  all_.erase(at);
}

std::shared_ptr<Circle> Circles::find(std::uint64_t number) noexcept {
  const std::lock_guard guard(mutex_);
  const auto at = all_.find(number);
  return at == all_.end() ? nullptr : at->second;
}

void Circles::count_sent(Circle& circle) noexcept {
  const std::lock_guard guard(mutex_);
  ++circle.counts.sent;
}

void Circles::end_unsent(Circle& circle) noexcept {
  const std::lock_guard guard(mutex_);
  ++circle.counts.begun;
  ++circle.counts.over;
}

Handler Circles::begin(Circle& circle, int id) noexcept {
  const std::lock_guard guard(mutex_);
  ++circle.counts.begun;
  const auto at = circle.handlers.find(id);
  return at == circle.handlers.end() ? Handler{} : at->second;
}

void Circles::end(Circle& circle) noexcept {
  const std::lock_guard guard(mutex_);
  ++circle.counts.over;
}

void Circles::note(Circle& circle, Fault fault) noexcept {
  const std::lock_guard guard(mutex_);
  if (circle.fault == Fault::none) circle.fault = fault;
}

void Circles::note_news(Circle& circle, Fault fault) noexcept {
  const std::lock_guard guard(mutex_);
  if (circle.fault == Fault::none) circle.fault = fault;
  ++circle.counts.begun;
  ++circle.counts.over;
}

}  // namespace photon::mpi
