#include "transport/sim/sim_locals.hpp"

#include <cstdio>
#include <cstdlib>

namespace photon::transport::sim {
namespace {

void require(bool holds, const char* invariant, std::uint64_t handle) noexcept {
  if (holds) return;
  std::fprintf(stderr, "photon: sim: broken contract: %s (registration %llu)\n", invariant,
               static_cast<unsigned long long>(handle));
  std::abort();
}

}  // namespace

base::Result<std::uint64_t> SimLocals::add(std::span<const std::byte> memory, bool is_written) {
  const SimNetwork::Settings& settings = network_.settings();
  const bool is_refused = settings.locals_refused_percent != 0 &&
                          network_.draw(me_, 99) < settings.locals_refused_percent;
  if (is_refused || shown_.size() >= settings.locals_max) {
    return base::Error{PH_ERR_MEMORY, 0,
                       "sim: the NIC of rank " + std::to_string(me_) + " registers no more memory",
                       me_};
  }
  const auto begin = reinterpret_cast<std::uint64_t>(memory.data());
  shown_[++last_handle_] = {begin, begin + memory.size(), is_written, 0};
  return last_handle_;
}

void SimLocals::remove(std::uint64_t handle) noexcept {
  const auto found = shown_.find(handle);
  require(found != shown_.end(), "what is not registered is given back", handle);
  require(found->second.fragments == 0, "memory is given back that a fragment under way uses",
          handle);
  shown_.erase(found);
}

void SimLocals::begin(const PostedFragment& fragment) noexcept {
  const auto found = shown_.find(fragment.local);
  require(found != shown_.end(), "a fragment names no registration of its own memory",
          fragment.local);
  Shown& shown = found->second;
  const bool is_read = fragment.source != nullptr;
  const auto first =
      reinterpret_cast<std::uint64_t>(is_read ? fragment.source : fragment.destination);
  require(first >= shown.begin && first <= shown.end && fragment.size_bytes <= shown.end - first,
          "a fragment leaves the registration that it names", fragment.local);
  require(is_read || shown.is_written, "a fragment writes to memory registered for reading",
          fragment.local);
  ++shown.fragments;
}

void SimLocals::end(const PostedFragment& fragment) noexcept {
  --shown_.at(fragment.local).fragments;
}

}  // namespace photon::transport::sim
