/**
 * The side of the target of typed sends. Include <photon/task.hpp>.
 *
 *   message: come -- malformed --> dropped, told here
 *                 -- other types --> refused
 *                 -- without zero-copy arguments --> the handler runs
 *                 -- else --> the landing function has said where they go
 *                      -- one is too small, or was refused: nothing moves ----+
 *                      -- each is copied, got, or waits for its post          |
 *                           -- all are there --> the handler runs             |
 *                           -- one failed, and the others are over -----------+--> refused
 *
 * Refused: told here, and to the sender with the names of the offers that nobody will read.
 */
#ifndef PHOTON_TASK_LANDINGS_HPP
#define PHOTON_TASK_LANDINGS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "task_core.hpp"

namespace photon::tasks::detail {

/** An arrival is what a message has brought, until its handler has run. */
struct Arrival {
  std::uint32_t generation = 0;
  bool is_open = false;
  bool was_posted = false; /**< Then its time says nothing of its way. */
  ph_status status = PH_OK;
  std::uint32_t from = 0;
  std::uint32_t sample = 0;
  std::uint32_t missing = 0; /**< Arguments that are not over, and one while it is looked at. */
  std::uint64_t name = 0;
  ph_task_message *message = nullptr;
  class Entry *entry = nullptr;
  std::vector<Argument> arguments;
};

class Landings;

/** A handler that was registered, with its types. */
class Entry {
 public:
  Entry(const Entry &) = delete;
  Entry &operator=(const Entry &) = delete;
  virtual ~Entry() = default;
  virtual void run(const std::byte *values, std::span<Argument> arguments, From from) = 0;
  virtual void land(const std::byte *values, Arrival &arrival) = 0;

  Landings &landings;
  std::uint32_t number = kNoHandler;
  std::uint32_t hash = 0;
  std::uint32_t values_bytes = 0;
  std::vector<std::size_t> element_bytes; /**< Of each zero-copy argument. */

 protected:
  explicit Entry(Landings &all) : landings(all) {}
};

class Landings {
 public:
  explicit Landings(Core &core) : core_(core) {}
  Landings(const Landings &) = delete;
  Landings &operator=(const Landings &) = delete;

  void take(Entry &entry, ph_task_message *message) {
    const auto *body = static_cast<const std::byte *>(ph_task_body(message));
    const std::uint64_t size = ph_task_size(message);
    Head head{};
    if (size >= sizeof head) head = read<Head>(body, 0);
    const std::uint32_t from = ph_task_source(message);
    if (size < sizeof head || !is_sound(body, size, head, from)) {
      (void)ph_task_free(core_.pe, message);
      core_.fail({PH_ERR_PROTOCOL, from, entry.number, false});
      return;
    }
    if (!is_of(entry, head, body, size)) {
      refuse(message, entry.number, from, PH_ERR_ARGUMENT);
      return;
    }
    if (head.parts == 0) {
      entry.run(body + sizeof head, {}, {from});
      (void)ph_task_free(core_.pe, message);
      return;
    }
    Arrival &arrival = open(entry, message, head, from);
    entry.land(body + sizeof head, arrival);
    check_room(arrival);
    for (Argument &argument : arrival.arguments) begin(arrival, argument);
    if (--arrival.missing == 0) finish(arrival);
  }

  /** An argument that was got is there, or will not be. */
  void take_done(ph_task_message *message) {
    ph_task_done done{};
    const bool is_one = ph_task_size(message) == sizeof done;
    if (is_one) std::memcpy(&done, ph_task_body(message), sizeof done);
    (void)ph_task_free(core_.pe, message);
    if (!is_one) return;  // a peer has made it up
    const auto user = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(done.user));
    Arrival *arrival = all_.find(user & kArrivalMask);
    const std::uint64_t index = user >> 48;
    if (arrival == nullptr || index >= arrival->arguments.size()) return;
    Argument &argument = arrival->arguments[index];
    const bool is_it = argument.state == Argument::State::landing &&
                       argument.buffer == done.buffer &&
                       ph_task_buffer_free(core_.pe, done.buffer) == PH_OK;  // it is over
    if (!is_it) return;
    argument.buffer = 0;
    end(*arrival, argument, done.status);
    if (arrival->missing == 0) finish(*arrival);
  }
  /** A post or a drop has ended the last argument: said by this PE to itself. */
  void take_ready(ph_task_message *message) {
    std::uint64_t name = 0;
    const bool is_one =
        ph_task_size(message) == sizeof name && ph_task_source(message) == core_.place.pe;
    if (is_one) std::memcpy(&name, ph_task_body(message), sizeof name);
    (void)ph_task_free(core_.pe, message);
    Arrival *arrival = is_one ? all_.find(name) : nullptr;
    if (arrival != nullptr && arrival->missing == 0) finish(*arrival);
  }

  ph_status post(std::uint64_t name, std::uint32_t index, std::span<std::byte> memory) {
    if (const ph_status status = core_.check_thread("post"); status != PH_OK) return status;
    Argument *argument = find(name, index);
    if (argument == nullptr) return no_ticket("post");
    if (memory.size() < argument->size_bytes)
      return core_.tell(PH_ERR_RANGE, "post",
                        "the memory is smaller than the argument: nothing was moved, post more");
    argument->data = memory.data();
    return bring(*all_.find(name), *argument, PH_OK);
  }
  ph_status drop(std::uint64_t name, std::uint32_t index) {
    if (const ph_status status = core_.check_thread("drop"); status != PH_OK) return status;
    Argument *argument = find(name, index);
    if (argument == nullptr) return no_ticket("drop");
    return bring(*all_.find(name), *argument, PH_ERR_NO_BUFFER);
  }

  static constexpr std::uint64_t kArrivalMask = (std::uint64_t{1} << 48) - 1;

 private:
  /** Whether a sender can have made it. An offer is of its sender's own memory, and other processes
   * get its key: of one without a key they would have to let the sender write. */
  bool is_sound(const std::byte *body, std::uint64_t size, const Head &head,
                std::uint32_t from) const {
    const bool is_near = core_.is_near(from);
    bool is_right = true;
    const bool is_whole =
        read_parts(body, size, head, [&](std::uint32_t, const Part &part, std::uint64_t at) {
          if (part.way == Way::packed) return;
          const auto offered = read<Offered>(body, at);
          is_right &= offered.source.size_bytes == part.size_bytes && offered.source.pe == from &&
                      part.size_bytes != 0 && (is_near || offered.source.key != 0);
        });
    return is_whole && is_right;
  }
  static bool is_of(const Entry &entry, const Head &head, const std::byte *body,
                    std::uint64_t size) {
    if (head.hash != entry.hash || head.parts != entry.element_bytes.size() ||
        head.words != (entry.values_bytes + 7) / 8)
      return false;
    bool is_right = true;
    (void)read_parts(body, size, head, [&](std::uint32_t i, const Part &part, std::uint64_t) {
      is_right &= part.size_bytes % entry.element_bytes[i] == 0;
    });
    return is_right;
  }

  Arrival &open(Entry &entry, ph_task_message *message, const Head &head, std::uint32_t from) {
    std::uint32_t place = 0;
    Arrival &arrival = all_.open(place);
    arrival.name = all_.name(place);
    arrival.was_posted = false;
    arrival.status = PH_OK;
    arrival.from = from;
    arrival.missing = head.parts + 1U;
    arrival.message = message;
    arrival.entry = &entry;
    arrival.arguments.assign(head.parts, {});
    auto *body = static_cast<std::byte *>(ph_task_body(message));
    arrival.sample = part_of(body, head, 0).sample;
    (void)read_parts(body, ph_task_size(message), head,
                     [&](std::uint32_t i, const Part &part, std::uint64_t at) {
                       Argument &argument = arrival.arguments[i];
                       argument.size_bytes = part.size_bytes;
                       argument.is_offered = part.way == Way::offered;
                       if (!argument.is_offered) {
                         argument.packed = body + at;
                         return;
                       }
                       const auto offered = read<Offered>(body, at);
                       argument.source = offered.source;
                       argument.offer = offered.offer;
                     });
    return arrival;
  }
  /** All of them before any is moved. */
  static void check_room(Arrival &arrival) {
    for (const Argument &argument : arrival.arguments) {
      if (argument.state == Argument::State::refused) arrival.status = PH_ERR_NO_BUFFER;
      if (argument.state == Argument::State::named && argument.room_bytes < argument.size_bytes)
        arrival.status = PH_ERR_RANGE;
    }
  }
  void begin(Arrival &arrival, Argument &argument) {
    using State = Argument::State;
    const bool is_open = argument.state == State::come || argument.state == State::named;
    if (is_open && arrival.status == PH_OK)
      move(arrival, argument);
    else if (is_open || argument.state == State::refused)
      end(arrival, argument, arrival.status);
    else if (argument.state == State::later && arrival.status != PH_OK)
      end(arrival, argument, arrival.status);
  }
  /** The elements go to where it was said, or to memory of the runtime. */
  void move(Arrival &arrival, Argument &argument) {
    if (!argument.is_offered) {
      if (argument.data == nullptr)
        argument.data = argument.packed;
      else if (argument.size_bytes != 0)
        std::memcpy(argument.data, argument.packed, argument.size_bytes);
      end(arrival, argument, PH_OK);
      return;
    }
    ph_status status = PH_OK;
    if (argument.data == nullptr) {
      status = ph_task_alloc(core_.pe, argument.size_bytes, &argument.held);
      if (status == PH_OK) argument.data = static_cast<std::byte *>(ph_task_body(argument.held));
    }
    if (status == PH_OK) status = get(arrival, argument);
    if (status != PH_OK) end(arrival, argument, status);
  }
  ph_status get(Arrival &arrival, Argument &argument) {
    const auto index = static_cast<std::uint64_t>(&argument - arrival.arguments.data());
    ph_task_buffer_args args{};
    args.size = sizeof args;
    args.address = argument.data;
    args.size_bytes = argument.size_bytes;
    args.registration = PH_TASK_UNREG;
    args.deregistration = PH_TASK_DEREG;
    args.source_done = kNoHandler;
    args.destination_done = core_.own.destination_done;
    args.user = reinterpret_cast<void *>(static_cast<std::uintptr_t>(arrival.name | index << 48));
    const ph_status made = ph_task_buffer_make(core_.pe, &args, &argument.buffer);
    if (made != PH_OK) return made;
    const ph_status status = ph_task_get(core_.pe, argument.buffer, &argument.source);
    if (status == PH_OK) {
      argument.state = Argument::State::landing;
      argument.was_begun = true;
      return PH_OK;
    }
    (void)ph_task_buffer_free(core_.pe, argument.buffer);
    argument.buffer = 0;
    return status;
  }
  /** A failure ends those that wait for their post, too. */
  static void end(Arrival &arrival, Argument &argument, ph_status status) {
    argument.state = status == PH_OK ? Argument::State::landed : Argument::State::failed;
    --arrival.missing;
    if (status == PH_OK) return;
    arrival.status = status;
    for (Argument &other : arrival.arguments)
      if (other.state == Argument::State::later) {
        other.state = Argument::State::failed;
        --arrival.missing;
      }
  }

  Argument *find(std::uint64_t name, std::uint32_t index) {
    Arrival *arrival = all_.find(name);
    if (arrival == nullptr || index >= arrival->arguments.size()) return nullptr;
    Argument &argument = arrival->arguments[index];
    return argument.state == Argument::State::later ? &argument : nullptr;
  }
  ph_status no_ticket(const char *call) const {
    return core_.tell(PH_ERR_NOT_FOUND, call,
                      "no argument waits for this ticket: it was posted or dropped, its send has "
                      "failed, or it is another PE's");
  }
  /** Not PH_OK: it is dropped. No handler runs in this call. */
  ph_status bring(Arrival &arrival, Argument &argument, ph_status status) {
    ph_task_message *ready = core_.make_of(core_.own.ready, arrival.name);
    if (ready == nullptr) return core_.tell(PH_ERR_MEMORY, "post", "no memory: nothing was moved");
    arrival.was_posted = true;
    if (status == PH_OK)
      move(arrival, argument);
    else
      end(arrival, argument, status);
    if (arrival.missing == 0)
      core_.send(core_.place.pe, ready);
    else
      (void)ph_task_free(core_.pe, ready);
    return PH_OK;
  }

  /** All arguments are over. */
  void finish(Arrival &arrival) {
    ph_task_message *message = arrival.message;
    Entry &entry = *arrival.entry;
    const std::uint64_t name = arrival.name;
    if (arrival.status == PH_OK) {
      if (arrival.sample != 0 && !arrival.was_posted) answer(arrival);
      const auto *body = static_cast<const std::byte *>(ph_task_body(message));
      entry.run(body + sizeof(Head), arrival.arguments, {arrival.from});
    }
    for (const Argument &argument : arrival.arguments)
      if (argument.held != nullptr) (void)ph_task_free(core_.pe, argument.held);
    if (arrival.status == PH_OK)
      (void)ph_task_free(core_.pe, message);
    else
      refuse(message, entry.number, arrival.from, arrival.status, arrival.arguments);
    all_.close(all_.place_of_name(name));
  }
  void answer(const Arrival &arrival) const {
    ph_task_message *message = core_.make_of(core_.own.answer, arrival.sample);
    if (message != nullptr) core_.send(arrival.from, message);
  }

  /** The message is over. Of `begun` ones the sender hears by their dones. */
  void refuse(ph_task_message *message, std::uint32_t handler, std::uint32_t from, ph_status status,
              std::span<const Argument> begun = {}) {
    const auto *body = static_cast<const std::byte *>(ph_task_body(message));
    const auto head = read<Head>(body, 0);
    std::vector<std::uint64_t> offers;
    (void)read_parts(body, ph_task_size(message), head,
                     [&](std::uint32_t i, const Part &part, std::uint64_t at) {
                       const bool is_over = i < begun.size() && begun[i].was_begun;
                       if (part.way == Way::offered && !is_over)
                         offers.push_back(read<Offered>(body, at).offer);
                     });
    (void)ph_task_free(core_.pe, message);
    const Refusal refusal{handler, status, offers.size()};
    ph_task_message *told =
        core_.make(core_.own.refused, sizeof refusal + offers.size() * sizeof(std::uint64_t));
    if (told != nullptr) {
      auto *to = static_cast<std::byte *>(ph_task_body(told));
      std::memcpy(to, &refusal, sizeof refusal);
      if (!offers.empty())
        std::memcpy(to + sizeof refusal, offers.data(), offers.size() * sizeof(std::uint64_t));
      core_.send(from, told);
    }
    core_.fail({status, from, handler, false});
  }

  Core &core_;
  Table<Arrival> all_;
};

}  // namespace photon::tasks::detail

#endif
