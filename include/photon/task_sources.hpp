/**
 * The sending side of typed sends. Include <photon/task.hpp>.
 *
 *   span: packed --> its bytes are in the message -- a message to the own PE --> released
 *         offered -- the target has read it: the buffer's done ---------------> released
 *                 -- the target refuses the send -----------------------------> released
 *                 -- the target's process is lost -- a message to the own PE -> released
 *
 * Whichever comes first ends the offer; its name is stale then, so it is released once.
 */
#ifndef PHOTON_TASK_SOURCES_HPP
#define PHOTON_TASK_SOURCES_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

#include "task_core.hpp"

namespace photon::tasks::detail {

/** A zero-copy argument of a send. */
struct Given {
  const std::byte *data = nullptr;
  std::uint64_t size_bytes = 0;
  std::function<void()> *released = nullptr;
  Way way = Way::packed;
  std::uint64_t name = 0;             /**< Of its Source, if it has one. */
  ph_task_descriptor descriptor{};    /**< If it is offered. */
  ph_task_message *is_free = nullptr; /**< Says that it is released, if it is packed. */
  bool has_source = false;
};

/** A send as its caller describes it. */
struct Request {
  std::uint32_t to;
  std::uint32_t handler;
  std::uint32_t hash;
  std::span<const std::byte> values;
};

/** A span that is not released. */
struct Source {
  std::uint32_t generation = 0;
  bool is_open = false;
  std::uint32_t to = 0;
  std::uint32_t handler = kNoHandler;
  ph_task_buffer buffer = 0; /**< 0: it was packed. */
  std::function<void()> released;
};

class Sources {
 public:
  explicit Sources(Core &core) : core_(core) {}
  Sources(const Sources &) = delete;
  Sources &operator=(const Sources &) = delete;
  ~Sources() {
    if (timer_ != 0) (void)ph_task_cancel(core_.pe, timer_);
  }

  /** Not PH_OK: nothing was sent, and the spans are the caller's. */
  ph_status send(const Request &request, std::span<Given> given) {
    const ph_status checked = check(request, given);
    if (checked != PH_OK) return checked;
    const std::uint32_t process = core_.process_of(request.to);
    bool is_measured = false;
    for (Given &one : given) {
      const Choice::Chosen chosen = core_.ways.choose(process, one.size_bytes, given.size() == 1);
      one.way = chosen.way;
      is_measured = chosen.is_measured;
    }
    const Ways::Clock::time_point began =
        is_measured ? Ways::Clock::now() : Ways::Clock::time_point{};
    for (Given &one : given)
      if (one.way == Way::offered && !offer(request, one)) one.way = Way::packed;
    ph_task_message *message = make(request, given);
    ph_status status = message == nullptr ? PH_ERR_MEMORY : PH_OK;
    for (Given &one : given)
      if (status == PH_OK && one.way == Way::packed && *one.released)
        status = note_packed(request, one);
    if (status == PH_OK) {
      if (is_measured) measure(request, given[0], began, message);
      status = ph_task_send(core_.pe, request.to, message);
      if (status == PH_ERR_PEER || status == PH_ERR_DEPARTED || status == PH_ERR_PROTOCOL)
        message = nullptr;  // it is gone
    }
    if (status == PH_OK)
      settle(request, given);
    else
      take_back(given, message);
    return status;
  }

  /** A buffer of ours was read, or will not be. */
  void take_done(ph_task_message *message) {
    ph_task_done done{};
    const std::uint32_t from = ph_task_source(message);
    const bool is_one = ph_task_size(message) == sizeof done;
    if (is_one) std::memcpy(&done, ph_task_body(message), sizeof done);
    (void)ph_task_free(core_.pe, message);
    if (!is_one) return;  // a peer has made it up
    const auto name = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(done.user));
    Source *source = all_.find(name);
    if (source == nullptr || source->buffer == 0 || source->buffer != done.buffer ||
        source->to != from)
      return;                   // the same, or it was released before
    end(name, *source, PH_OK);  // the target tells of a failure, unless it is lost
  }
  /** Packed elements are released: said by this PE to itself. */
  void take_released(ph_task_message *message) {
    std::uint64_t name = 0;
    const bool is_one =
        ph_task_size(message) == sizeof name && ph_task_source(message) == core_.place.pe;
    if (is_one) std::memcpy(&name, ph_task_body(message), sizeof name);
    (void)ph_task_free(core_.pe, message);
    Source *source = is_one ? all_.find(name) : nullptr;
    if (source != nullptr && source->buffer == 0) end(name, *source, PH_OK);
  }
  /** The target has not run a send. */
  void take_refused(ph_task_message *message) {
    const auto *body = static_cast<const std::byte *>(ph_task_body(message));
    const std::uint64_t size = ph_task_size(message);
    const std::uint32_t from = ph_task_source(message);
    Refusal refusal{};
    if (size >= sizeof refusal) refusal = read<Refusal>(body, 0);
    const bool is_one = size >= sizeof refusal && refusal.status < PH_OK &&
                        refusal.status >= PH_ERR_NO_BUFFER &&
                        refusal.count == (size - sizeof refusal) / sizeof(std::uint64_t) &&
                        size % sizeof(std::uint64_t) == 0;
    if (is_one) {
      for (std::uint64_t i = 0; i < refusal.count; ++i) {
        const auto name = read<std::uint64_t>(body, sizeof refusal + i * sizeof(std::uint64_t));
        Source *source = all_.find(name);
        if (source != nullptr && source->buffer != 0 && source->to == from)
          end(name, *source, PH_OK);  // of the failure is told below
      }
      core_.fail({static_cast<ph_status>(refusal.status), from, refusal.handler, true});
    }
    (void)ph_task_free(core_.pe, message);
  }

  /** Nobody will read an offer: said by this PE to itself. */
  void take_lost(ph_task_message *message) {
    Lost lost{};
    const bool is_one =
        ph_task_size(message) == sizeof lost && ph_task_source(message) == core_.place.pe;
    if (is_one) std::memcpy(&lost, ph_task_body(message), sizeof lost);
    (void)ph_task_free(core_.pe, message);
    Source *source = is_one ? all_.find(lost.name) : nullptr;
    if (source != nullptr && source->buffer != 0)
      end(lost.name, *source, static_cast<ph_status>(lost.status));
  }

  /** Spans that are not released, by both ways. */
  [[nodiscard]] std::uint64_t open() const noexcept { return open_; }

 private:
  static constexpr std::uint64_t kWatchUs = 10'000;

  ph_status check(const Request &request, std::span<const Given> given) const {
    if (const ph_status status = core_.check_thread("send"); status != PH_OK) return status;
    if (request.handler == kNoHandler)
      return core_.tell(PH_ERR_ARGUMENT, "send", "the handler is of nothing: call on() before");
    if (request.to >= core_.place.pes)
      return core_.tell(PH_ERR_RANK, "send",
                        "there is no such PE: Tasks::place() has their number");
    for (const Given &one : given)
      if (one.data == nullptr && one.size_bytes != 0)
        return core_.tell(PH_ERR_ARGUMENT, "send", "a zero-copy argument has elements at null");
    return PH_OK;
  }

  Source &open(const Request &request, Given &one) {
    std::uint32_t place = 0;
    Source &source = all_.open(place);
    source.to = request.to;
    source.handler = request.handler;
    source.buffer = 0;
    one.name = all_.name(place);
    one.has_source = true;
    return source;
  }

  /** False: there is no registration left for it, so it is packed. */
  bool offer(const Request &request, Given &one) {
    Source &source = open(request, one);
    ph_task_buffer_args args{};
    args.size = sizeof args;
    args.address = const_cast<std::byte *>(one.data);  // it is read alone
    args.size_bytes = one.size_bytes;
    args.registration = core_.is_near(request.to) ? PH_TASK_UNREG : PH_TASK_REG;
    args.deregistration = PH_TASK_DEREG;
    args.source_done = core_.own.source_done;
    args.destination_done = kNoHandler;
    args.user = reinterpret_cast<void *>(static_cast<std::uintptr_t>(one.name));
    if (ph_task_buffer_make(core_.pe, &args, &source.buffer) == PH_OK) {
      if (ph_task_buffer_describe(core_.pe, source.buffer, &one.descriptor) == PH_OK) return true;
      (void)ph_task_buffer_free(core_.pe, source.buffer);
    }
    close(one);
    return false;
  }
  ph_status note_packed(const Request &request, Given &one) {
    open(request, one);
    one.is_free = core_.make_of(core_.own.released, one.name);
    return one.is_free == nullptr ? PH_ERR_MEMORY : PH_OK;
  }
  void close(Given &one) {
    all_.close(all_.place_of_name(one.name));
    one.has_source = false;
  }

  /** Null: no memory. */
  ph_task_message *make(const Request &request, std::span<const Given> given) const {
    const Head head{request.hash, static_cast<std::uint16_t>(given.size()),
                    static_cast<std::uint16_t>((request.values.size() + 7) / 8)};
    Cursor sizes(head);
    for (const Given &one : given) sizes.place(one.way, one.size_bytes);
    ph_task_message *message = core_.make(request.handler, sizes.end());
    if (message == nullptr) return nullptr;
    auto *body = static_cast<std::byte *>(ph_task_body(message));
    std::memcpy(body, &head, sizeof head);
    if (!request.values.empty())
      std::memcpy(body + sizeof head, request.values.data(), request.values.size());
    std::byte *part_at = body + sizeof head + std::size_t{8} * head.words;
    std::memset(body + sizeof head + request.values.size(), 0,
                std::size_t{8} * head.words - request.values.size());
    Cursor cursor(head);
    for (const Given &one : given) {
      const Part part{one.size_bytes, one.way, 0};
      std::memcpy(part_at, &part, sizeof part);
      part_at += sizeof part;
      std::byte *at = body + cursor.place(one.way, one.size_bytes);
      const Offered offered{one.descriptor, one.name};
      if (one.way == Way::offered)
        std::memcpy(at, &offered, sizeof offered);
      else if (one.size_bytes != 0)
        std::memcpy(at, one.data, one.size_bytes);
    }
    return message;
  }
  void measure(const Request &request, const Given &one, Ways::Clock::time_point began,
               ph_task_message *message) {
    auto *body = static_cast<std::byte *>(ph_task_body(message));
    const auto head = read<Head>(body, 0);
    Part part = part_of(body, head, 0);
    part.sample = core_.ways.begin(
        {0, request.to, core_.process_of(request.to), one.size_bytes, one.way, began});
    std::memcpy(body + sizeof head + std::size_t{8} * head.words, &part, sizeof part);
  }

  /** It was sent: what it has of sources is to be released one day. */
  void settle(const Request &request, std::span<Given> given) {
    for (Given &one : given) {
      if (!one.has_source) continue;
      all_.find(one.name)->released = std::move(*one.released);
      ++open_;
      if (one.way == Way::packed)
        core_.send(core_.place.pe, one.is_free);
      else if (!core_.is_near(request.to))
        watch(++far_);
    }
  }
  void take_back(std::span<Given> given, ph_task_message *message) {
    if (message != nullptr) (void)ph_task_free(core_.pe, message);
    for (Given &one : given) {
      if (!one.has_source) continue;
      Source &source = *all_.find(one.name);
      if (source.buffer != 0) (void)ph_task_buffer_free(core_.pe, source.buffer);
      if (one.is_free != nullptr) (void)ph_task_free(core_.pe, one.is_free);
      close(one);
    }
  }

  /** The span is the program's again. */
  void end(std::uint64_t name, Source &source, ph_status status) {
    const std::function<void()> released = std::exchange(source.released, {});
    const std::uint32_t to = source.to;
    const std::uint32_t handler = source.handler;
    if (source.buffer != 0) {
      (void)ph_task_buffer_free(core_.pe, source.buffer);
      if (!core_.is_near(to)) --far_;
    }
    all_.close(all_.place_of_name(name));
    --open_;
    if (status != PH_OK) core_.fail({status, to, handler, true});
    if (released) released();
  }

  /** While other processes have offers: what one that is lost will never read is released, as a
   * task. What there is no memory for is said at the next look. */
  void watch(std::uint64_t far) {
    if (far != 0 && timer_ == 0 &&
        ph_task_after(core_.pe, kWatchUs, &Sources::look, this, &timer_) != PH_OK)
      timer_ = 0;  // the next offer tries again
  }
  static void look(ph_task_pe * /*pe*/, void *user) {
    auto &own = *static_cast<Sources *>(user);
    own.timer_ = 0;
    for (const std::uint64_t name : own.all_.names()) {
      const Source *source = own.all_.find(name);
      if (source == nullptr || source->buffer == 0 || own.core_.is_near(source->to)) continue;
      ph_contact_state state = PH_PEER_UNKNOWN;
      (void)ph_task_process_state(own.core_.pe, own.core_.process_of(source->to), &state);
      if (state != PH_PEER_DEAD && state != PH_PEER_DEPARTED) continue;
      const Lost lost{name, state == PH_PEER_DEAD ? PH_ERR_PEER : PH_ERR_DEPARTED, 0};
      ph_task_message *message = own.core_.make_of(own.core_.own.lost, lost);
      if (message != nullptr) own.core_.send(own.core_.place.pe, message);
    }
    own.watch(own.far_);
  }

  Core &core_;
  Table<Source> all_;
  std::uint64_t open_ = 0;
  std::uint64_t far_ = 0; /**< Offers to other processes. */
  std::uint64_t timer_ = 0;
};

}  // namespace photon::tasks::detail

#endif
