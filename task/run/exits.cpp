#include "task/run/exits.hpp"

#include <cstring>

#include "task/run/sends.hpp"

namespace photon::task {

namespace {

// So many messages with that status, by their links. Null: there is no memory.
Message* make_exits(Pe& pe, std::uint32_t count, std::int32_t status) noexcept {
  Message* all = nullptr;
  for (std::uint32_t i = 0; i < count; ++i) {
    Message* one = pe.pool().alloc(sizeof status);
    if (one == nullptr) {
      while (all != nullptr) {
        Message& made = *all;
        all = named(made.link);
        pe.pool().free(made);
      }
      return nullptr;
    }
    std::memcpy(body_of(*one), &status, sizeof status);
    one->link = name_of(all);
    all = one;
  }
  return all;
}

}  // namespace

ph_status send_exit(Pe& pe, std::int32_t status) noexcept {
  const Shared& shared = pe.shared();
  const std::uint32_t count = shared.pes - 1 + shared.processes - 1;
  Message* left = make_exits(pe, count, status);
  if (left == nullptr && count != 0) return PH_ERR_MEMORY;
  for (std::uint32_t to = 0; left != nullptr; ++to) {
    const bool is_sibling = to / shared.pes == shared.process;
    const bool has_same_rank = to % shared.pes == pe.rank();
    if (is_sibling == has_same_rank) continue;  // itself, or told by its process
    Message& one = *left;
    left = named(one.link);
    const ph_status sent = send_of_kind(pe, Kind::exit, to, one);
    if (sent != PH_OK && !is_lost(sent)) pe.pool().free(one);
  }
  return PH_OK;
}

bool take_exit(Pe& pe, Message& message) noexcept {
  std::int32_t status = 0;
  if (message.size_bytes == sizeof status) {  // else a peer has sent nonsense
    std::memcpy(&status, body_of(message), sizeof status);
    if (!pe.exit_status()) pe.exit_status() = status;
    pe.stop();
  }
  return drop_message(pe, message);
}

}  // namespace photon::task
