#include "task/run/relay.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include "task/run/route.hpp"
#include "task/run/sends.hpp"

namespace photon::task {

namespace {

constexpr std::uint64_t kNumberBytes = sizeof(std::uint32_t);

JobShape shape_of(const Pe& pe) noexcept { return {pe.shared().processes, pe.shared().pes}; }

constexpr std::uint64_t padded_list(std::uint64_t bytes) noexcept {
  return (bytes + kNumberBytes - 1) / kNumberBytes * kNumberBytes;
}

// A list that goes with the relay begins behind the body.
std::uint32_t* numbers_of(Message& relayed, std::uint64_t body_bytes) noexcept {
  return reinterpret_cast<std::uint32_t*>(body_of(relayed) + kFrontBytes + padded_list(body_bytes));
}

Route route_of(const Pe& pe, const RelayFront& front, const Roster* roster) noexcept {
  if (roster == nullptr) return {front.root, pe.shared().processes};
  return {front.root, roster->processes};
}

[[noreturn]] void die_without_memory(const Pe& pe) noexcept {
  Machine::die("PE %u has no memory to pass on a message to many: send less at a time",
               pe.number());
}

// The whole list to one process, in pieces that are carried: so it is there before what is sent to
// that process behind it.
ph_status tell(Pe& pe, const Groups::Name& name, const Groups::Group& group,
               std::uint32_t process) noexcept {
  const std::uint64_t room_bytes =
      pe.shared().carried_bytes - sizeof(WireWord) - sizeof(GroupPiece);
  const auto most = static_cast<std::uint32_t>(room_bytes / kNumberBytes);
  const auto all = static_cast<std::uint32_t>(group.numbers.size());
  for (std::uint32_t first = 0; first < all; first += most) {
    const std::uint32_t count = std::min(most, all - first);
    Message* message = pe.pool().alloc(sizeof(GroupPiece) + count * kNumberBytes);
    if (message == nullptr) return PH_ERR_MEMORY;
    const GroupPiece piece{name.maker, name.number, group.pes, all - group.pes, first, count, 0};
    std::memcpy(body_of(*message), &piece, sizeof piece);
    std::memcpy(body_of(*message) + sizeof piece, &group.numbers[first], count * kNumberBytes);
    message->wire.target = message->wire.source = static_cast<std::uint8_t>(pe.rank());
    message->wire.kind = Kind::group;
    const ph_status status = pe.machine().send(*message, process);
    if (status == PH_OK) continue;
    if (!is_lost(status)) pe.pool().free(*message);
    return status;
  }
  return PH_OK;
}

// Those below a place. Not PH_OK: there is no memory, or nothing can be sent any more.
ph_status tell_below(Pe& pe, const Groups::Name& name, const Groups::Group& group,
                     std::uint64_t place) noexcept {
  const Route route(name.maker / pe.shared().pes, group.roster().processes);
  const Children children = route.children_of(place);
  for (std::uint32_t i = 0; i < children.count; ++i) {
    ph_status status = tell(pe, name, group, route.at(children.first + i));
    if (is_lost(status)) status = tell_below(pe, name, group, children.first + i);
    if (status != PH_OK) return status;
  }
  return PH_OK;
}

// What a relay goes by.
struct Way {
  Route route;
  Groups::Name name;           // of the group
  const Groups::Group* group;  // null: none
};

// To those below a place. A relay whose child is lost takes over its children, and so on; these may
// not know of the group. Not PH_OK: as tell_below().
ph_status pass_on(Pe& pe, const Message& message, const Way& way, std::uint64_t place,
                  bool is_in_place) noexcept {
  const Children children = way.route.children_of(place);
  for (std::uint32_t i = 0; i < children.count; ++i) {
    const std::uint32_t process = way.route.at(children.first + i);
    ph_status status = PH_OK;
    if (is_in_place && way.group != nullptr) status = tell(pe, way.name, *way.group, process);
    if (status == PH_OK) status = pe.machine().send_copy(message.wire, message, process);
    if (is_lost(status)) status = pass_on(pe, message, way, children.first + i, true);
    if (status != PH_OK) return status;
  }
  return PH_OK;
}

// The own copy stands where the next send to itself stands, too, so that both are met in order.
void give(Pe& pe, std::uint32_t rank, Message& message) noexcept {
  pe.balance().created += 1;
  message.target = pe.shared().process * pe.shared().pes + rank;
  if (rank == pe.rank())
    pe.push_own(message);
  else
    pe.shared().all[rank]->push(message);
}

// The PEs of this process that get one.
class Receivers {
 public:
  Receivers(const Pe& pe, const RelayFront& front, const Roster* roster) noexcept {
    const Shared& shared = pe.shared();
    first_ = shared.process * shared.pes;
    if (roster != nullptr) {
      const auto from = std::ranges::lower_bound(roster->pes, first_);
      const auto to = std::ranges::lower_bound(from, roster->pes.end(), first_ + shared.pes);
      listed_ = {from, to};
      count_ = static_cast<std::uint32_t>(listed_.size());
      return;
    }
    count_ = shared.pes;
    if (shared.process != front.root || (front.flags & PH_TASK_WITH_SELF) != 0) return;
    skipped_ = front.source - first_;
    --count_;
  }
  std::uint32_t count() const noexcept { return count_; }
  std::uint32_t rank_at(std::uint32_t i) const noexcept {
    if (!listed_.empty()) return listed_[i] - first_;
    return i < skipped_ ? i : i + 1;
  }

 private:
  std::uint32_t first_;
  std::uint32_t count_;
  std::uint32_t skipped_ = ~std::uint32_t{0};
  std::span<const std::uint32_t> listed_;
};

// Whoever is the last gets it all. The list, which may lie in the message, is read before that.
void hand_out(Pe& pe, Message& original, const Receivers& receivers) noexcept {
  const std::uint32_t last = receivers.rank_at(receivers.count() - 1);
  for (std::uint32_t i = 0; i + 1 < receivers.count(); ++i) {
    Message* copy = copy_of(pe, original);
    if (copy == nullptr) die_without_memory(pe);
    give(pe, receivers.rank_at(i), *copy);
  }
  give(pe, last, original);
}

// For whom it is: null for all; a group has told of its roster before.
struct Listed {
  const Roster* roster = nullptr;
  const Groups::Group* group = nullptr;
};

// Passes on what stands at `place` of its way, and hands it out. The message is over then, but
// where the root could not send: then all is as before.
ph_status spread(Pe& pe, Message& relayed, const RelayFront& front, const Listed& listed,
                 std::uint64_t place) noexcept {
  relayed.wire.source = relayed.wire.target = static_cast<std::uint8_t>(pe.rank());
  const Way way{route_of(pe, front, listed.roster), {front.source, front.group}, listed.group};
  const ph_status status = pass_on(pe, relayed, way, place, false);
  if (status == PH_ERR_MEMORY) die_without_memory(pe);  // some have it already
  if (status != PH_OK && place == 0) return status;
  const Receivers receivers(pe, front, listed.roster);
  const bool to_processes = (front.flags & PH_TASK_TO_PROCESSES) != 0;
  const bool is_for_none =
      to_processes ? place == 0 && (front.flags & PH_TASK_WITH_SELF) == 0 : receivers.count() == 0;
  if (is_for_none) {
    static_cast<void>(drop_message(pe, relayed));
    return PH_OK;
  }
  Message& original =
      embed(relayed, 0, {front.body_bytes, front.handler, front.source, Kind::program});
  if (!to_processes) {
    hand_out(pe, original, receivers);
    return PH_OK;
  }
  original.target = pe.number();
  pe.balance().created += 1;
  pe.push_node(original);
  return PH_OK;
}

// Blocks that are taken and given back at once, before a call sends the first of several messages:
// so it is refused while nobody has any, and the pool has what it needs then.
class Spares {
 public:
  explicit Spares(Pool& pool) noexcept : pool_(pool) {}
  ~Spares() {
    while (first_ != nullptr) {
      Message& one = *first_;
      first_ = named(one.link);
      pool_.free(one);
    }
  }
  Spares(const Spares&) = delete;
  Spares& operator=(const Spares&) = delete;
  bool take(std::uint64_t size_bytes, std::uint32_t count) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
      Message* one = pool_.alloc(size_bytes);
      if (one == nullptr) return false;
      one->link = name_of(first_);
      first_ = one;
    }
    return true;
  }

 private:
  Pool& pool_;
  Message* first_ = nullptr;
};

bool has_memory(Pe& pe, const Message& relayed, const RelayFront& front,
                const Roster* roster) noexcept {
  const std::uint32_t own = Receivers(pe, front, roster).count();
  const bool to_processes = (front.flags & PH_TASK_TO_PROCESSES) != 0;
  Spares spares(pe.pool());
  return spares.take(relayed.size_bytes, route_of(pe, front, roster).children_of(0).count) &&
         spares.take(front.body_bytes, to_processes || own == 0 ? 0 : own - 1);
}

// Of the caller's own. Not PH_OK: nothing was sent.
ph_status begin(Pe& pe, Message& relayed, const RelayFront& front, const Listed& listed) noexcept {
  const ph_status status = has_memory(pe, relayed, front, listed.roster)
                               ? spread(pe, relayed, front, listed, 0)
                               : PH_ERR_MEMORY;
  if (status != PH_OK) pe.pool().free(relayed);
  return status;
}

// A peer has sent it.
bool is_sound(const Pe& pe, const Message& message, const RelayFront& front) noexcept {
  const Shared& shared = pe.shared();
  const std::uint32_t numbers = RelayFront::kListed | RelayFront::kGrouped;
  const std::uint32_t plain = PH_TASK_TO_PROCESSES | PH_TASK_WITH_SELF;
  if (front.source >= shared.pes_of_job() || front.source / shared.pes != front.root) return false;
  if (std::ranges::any_of(front.zero, [](std::uint8_t byte) { return byte != 0; })) return false;
  const std::uint64_t rest_bytes = message.size_bytes - kFrontBytes;
  if (front.flags == RelayFront::kListed) {
    const std::uint64_t list_bytes = (std::uint64_t{front.pes} + front.processes) * kNumberBytes;
    return front.body_bytes <= rest_bytes && padded_list(front.body_bytes) <= rest_bytes &&
           rest_bytes - padded_list(front.body_bytes) == list_bytes;
  }
  if (front.body_bytes != rest_bytes || front.pes != 0 || front.processes != 0) return false;
  return front.flags == RelayFront::kGrouped || (front.flags & (numbers | ~plain)) == 0;
}

// A message that encloses a body, with room for so many numbers behind it. Null: no memory.
Message* enclose(Pe& pe, const RelayFront& front, const void* body,
                 std::uint64_t numbers) noexcept {
  const std::uint64_t tail = numbers == 0 ? 0 : padded_list(front.body_bytes) - front.body_bytes;
  Message* relayed =
      pe.pool().alloc(kFrontBytes + front.body_bytes + tail + numbers * kNumberBytes);
  if (relayed == nullptr) return nullptr;
  std::byte* at = body_of(*relayed);
  std::memcpy(at, &front, sizeof front);
  if (front.body_bytes != 0) std::memcpy(at + sizeof front, body, front.body_bytes);
  relayed->source = pe.number();
  relayed->wire.kind = Kind::relay;
  return relayed;
}

RelayFront front_of(const Pe& pe, const Message& message, std::uint32_t flags) noexcept {
  return {.body_bytes = message.size_bytes,
          .root = pe.shared().process,
          .flags = flags,
          .source = pe.number(),
          .handler = message.wire.handler,
          .group = 0,
          .pes = 0,
          .processes = 0,
          .zero = {}};
}

}  // namespace

bool relay(Pe& pe, Message& message) noexcept {
  RelayFront front{};
  if (message.size_bytes < sizeof front) return drop_message(pe, message);
  std::memcpy(&front, body_of(message), sizeof front);
  if (!is_sound(pe, message, front)) return drop_message(pe, message);
  Roster roster{};
  Listed listed;
  if (front.flags == RelayFront::kListed) {
    const std::uint32_t* numbers = numbers_of(message, front.body_bytes);
    roster = {{numbers, front.pes}, {numbers + front.pes, front.processes}};
    listed.roster = &roster;
    if (!is_sound(roster, shape_of(pe), front.root)) return drop_message(pe, message);
  } else if (front.flags == RelayFront::kGrouped) {
    listed.group = pe.groups().find({front.source, front.group});
    if (listed.group == nullptr) return drop_message(pe, message);  // its list comes before it
    roster = listed.group->roster();
    listed.roster = &roster;
  }
  const Route route = route_of(pe, front, listed.roster);
  const std::optional<std::uint64_t> place =
      route.place_below(message.source / pe.shared().pes, pe.shared().process);
  if (!place) return drop_message(pe, message);
  static_cast<void>(spread(pe, message, front, listed, *place));  // who is below hears nothing
  return false;
}

bool take_group(Pe& pe, Message& message) noexcept {
  GroupPiece piece{};
  if (message.size_bytes < sizeof piece) return drop_message(pe, message);
  std::memcpy(&piece, body_of(message), sizeof piece);
  const bool is_whole = message.size_bytes == sizeof piece + piece.count * kNumberBytes;
  if (!is_whole || piece.zero != 0 || piece.maker >= pe.shared().pes_of_job() ||
      piece.maker / pe.shared().pes == pe.shared().process)
    return drop_message(pe, message);
  const auto* numbers = reinterpret_cast<const std::uint32_t*>(body_of(message) + sizeof piece);
  const Groups::Name name{piece.maker, piece.number};
  try {
    const Groups::Told told =
        pe.groups().take(name, {piece.pes, piece.processes, piece.first, {numbers, piece.count}},
                         shape_of(pe), {message.source / pe.shared().pes, pe.shared().process});
    if (told != Groups::Told::complete) return drop_message(pe, message);
  } catch (const std::bad_alloc&) {
    Machine::die("PE %u has no memory for a group of %u PEs: make fewer or smaller ones",
                 pe.number(), piece.pes);
  }
  const Groups::Group& group = *pe.groups().find(name);
  const Route route(piece.maker / pe.shared().pes, group.roster().processes);
  const std::optional<std::uint64_t> place = route.place_of(pe.shared().process);
  if (place && tell_below(pe, name, group, *place) == PH_ERR_MEMORY) die_without_memory(pe);
  return drop_message(pe, message);
}

ph_status broadcast(Pe& pe, const Message& message, std::uint32_t flags) noexcept {
  const RelayFront front = front_of(pe, message, flags);
  Message* relayed = enclose(pe, front, &message + 1, 0);
  if (relayed == nullptr) return PH_ERR_MEMORY;
  return begin(pe, *relayed, front, {});
}

ph_status send_list(Pe& pe, std::span<const std::uint32_t> pes, const Message& message) noexcept {
  RelayFront front = front_of(pe, message, RelayFront::kListed);
  if (pes.size() > pe.shared().pes_of_job()) return PH_ERR_ARGUMENT;
  const auto count = static_cast<std::uint32_t>(pes.size());
  Message* relayed = enclose(pe, front, &message + 1, 2 * std::uint64_t{count});
  if (relayed == nullptr) return PH_ERR_MEMORY;
  std::uint32_t* numbers = numbers_of(*relayed, front.body_bytes);
  std::ranges::copy(pes, numbers);
  const std::optional<std::size_t> processes =
      arrange({numbers, count}, shape_of(pe), front.root, numbers + count);
  if (!processes) {
    pe.pool().free(*relayed);
    return PH_ERR_ARGUMENT;
  }
  front.pes = count;
  front.processes = static_cast<std::uint32_t>(*processes);
  std::memcpy(body_of(*relayed), &front, sizeof front);
  relayed->size_bytes -= (count - *processes) * kNumberBytes;
  const Roster roster{{numbers, count}, {numbers + count, *processes}};
  return begin(pe, *relayed, front, {&roster, nullptr});
}

ph_status multicast(Pe& pe, std::uint32_t number, const Message& message) noexcept {
  const Groups::Name name{pe.number(), number};
  Groups::Group* group = pe.groups().find(name);
  if (group == nullptr) return PH_ERR_NOT_FOUND;
  RelayFront front = front_of(pe, message, RelayFront::kGrouped);
  front.group = number;
  Message* relayed = enclose(pe, front, &message + 1, 0);
  if (relayed == nullptr) return PH_ERR_MEMORY;
  const ph_status status = group->is_told ? PH_OK : tell_below(pe, name, *group, 0);
  if (status != PH_OK) {
    pe.pool().free(*relayed);
    return status;
  }
  group->is_told = true;
  const Roster roster = group->roster();
  return begin(pe, *relayed, front, {&roster, group});
}

}  // namespace photon::task
