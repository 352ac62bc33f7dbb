#include "task/run/relay.hpp"

#include <cstring>

#include "task/pool/embedded.hpp"
#include "task/run/sends.hpp"

namespace photon::task {

namespace {

// A relay whose child is lost takes over its children, and so on.
void pass_on(Pe& pe, const Message& message, std::uint32_t process, std::uint32_t root) noexcept {
  const Children children = children_of(process, root, pe.shared().processes);
  for (std::uint32_t i = 0; i < children.count; ++i) {
    const ph_status status = pe.machine().send_copy(message.wire, message, children.of[i]);
    if (status == PH_ERR_MEMORY)
      Machine::die("PE %u has no memory to pass on a broadcast: send less at a time", pe.number());
    if (status != PH_OK) pass_on(pe, message, children.of[i], root);
  }
}

// The own copy stands where the next send to itself stands, too, so that both are met in order.
void give(Pe& pe, std::uint32_t rank, Message& message) noexcept {
  pe.count_created(1);
  message.target = pe.shared().process * pe.shared().pes + rank;
  if (rank == pe.rank())
    pe.push_own(message);
  else
    pe.shared().all[rank]->push(message);
}

// To PEs of this process from `rank` downward, but for `skipped`; whoever is the last gets it all.
void hand_out(Pe& pe, Message& message, std::uint32_t skipped) noexcept {
  const Shared& shared = pe.shared();
  const std::uint32_t last = skipped == shared.pes - 1 ? shared.pes - 2 : shared.pes - 1;
  for (std::uint32_t rank = 0; rank < last; ++rank) {
    if (rank == skipped) continue;
    Message* copy = copy_of(pe, message);
    if (copy == nullptr)
      Machine::die("PE %u has no memory for a broadcast: send less at a time", pe.number());
    give(pe, rank, *copy);
  }
  give(pe, last, message);
}

bool is_sound(const Shared& shared, const Message& message, const RelayFront& front) noexcept {
  return message.size_bytes >= kFrontBytes && front.root < shared.processes &&
         front.source < shared.pes_of_job() && front.source / shared.pes == front.root &&
         (front.flags & ~(PH_TASK_TO_PROCESSES | PH_TASK_WITH_SELF)) == 0;
}

}  // namespace

Children children_of(std::uint32_t process, std::uint32_t root, std::uint32_t processes) noexcept {
  const std::uint64_t place = (process + processes - root) % processes;
  Children children{};
  for (std::uint64_t child = 4 * place + 1; child <= 4 * place + 4 && child < processes; ++child)
    children.of[children.count++] = static_cast<std::uint32_t>((child + root) % processes);
  return children;
}

bool relay(Pe& pe, Message& message) noexcept {
  const Shared& shared = pe.shared();
  RelayFront front{};
  if (message.size_bytes >= sizeof front) std::memcpy(&front, body_of(message), sizeof front);
  if (!is_sound(shared, message, front)) return drop_message(pe, message);  // a peer has sent it
  message.wire.source = static_cast<std::uint8_t>(pe.rank());
  message.wire.target = static_cast<std::uint8_t>(pe.rank());
  pass_on(pe, message, shared.process, front.root);
  const bool is_root = shared.process == front.root;
  const bool to_processes = (front.flags & PH_TASK_TO_PROCESSES) != 0;
  const bool skips = is_root && (front.flags & PH_TASK_WITH_SELF) == 0;
  if (skips && (to_processes || shared.pes == 1)) return drop_message(pe, message);
  Message& original = embed(message, front.handler, front.source);
  if (to_processes) {
    original.target = pe.number();
    pe.count_created(1);
    pe.push_node(original);
    return false;
  }
  constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  hand_out(pe, original, skips ? front.source % shared.pes : kNobody);
  return false;
}

ph_status broadcast(Pe& pe, const Message& message, std::uint32_t flags) noexcept {
  Message* relayed = pe.pool().alloc(kFrontBytes + message.size_bytes);
  if (relayed == nullptr) return PH_ERR_MEMORY;
  const RelayFront front{.root = pe.shared().process,
                         .flags = flags,
                         .source = pe.number(),
                         .handler = message.wire.handler,
                         .zero = {}};
  std::byte* body = body_of(*relayed);
  std::memcpy(body, &front, sizeof front);
  std::memcpy(body + sizeof front, &message + 1, message.size_bytes);
  relayed->source = pe.number();
  relayed->wire.kind = Kind::relay;
  relay(pe, *relayed);
  return PH_OK;
}

}  // namespace photon::task
