/**
 * This header has what both sides of typed sends of one PE have in common. Include
 * <photon/task.hpp>.
 */
#ifndef PHOTON_TASK_CORE_HPP
#define PHOTON_TASK_CORE_HPP

#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "task_layout.hpp"
#include "task_types.hpp"
#include "task_ways.hpp"

namespace photon::tasks::detail {

/** Numbers of the handlers that this layer has of its own. */
struct Own {
  std::uint32_t source_done = kNoHandler;
  std::uint32_t destination_done = kNoHandler;
  std::uint32_t released = kNoHandler; /**< Elements that were packed. */
  std::uint32_t refused = kNoHandler;  /**< The target has not run a send. */
  std::uint32_t ready = kNoHandler;    /**< A post has brought the last argument. */
  std::uint32_t answer = kNoHandler;   /**< To a measured send. */
  std::uint32_t lost = kNoHandler;     /**< The target of an offer is lost: said to the own PE. */
};

/** The body of a message that says that nobody will read an offer. */
struct Lost {
  std::uint64_t name;
  std::int32_t status;
  std::uint32_t zero;
};

/** The body of a message that says that a send was not run; the names of offers stand behind it. */
struct Refusal {
  std::uint32_t handler;
  std::int32_t status;
  std::uint64_t count;
};

inline ph_task_place place_of(const ph_task_pe *pe) noexcept {
  ph_task_place place{};
  place.size = sizeof place;
  (void)ph_task_shape(pe, &place);
  return place;
}

struct Core {
  explicit Core(ph_task_pe *one) : pe(one), place(place_of(one)), ways(place.processes) {}

  [[nodiscard]] std::uint32_t process_of(std::uint32_t number) const noexcept {
    return number / place.pes_per_process;
  }
  [[nodiscard]] bool is_near(std::uint32_t number) const noexcept {
    return process_of(number) == place.process;
  }
  /** Not PH_OK: another thread calls, and nothing here is its own. */
  [[nodiscard]] ph_status check_thread(const char *call) const {
    if (std::this_thread::get_id() == thread) return PH_OK;
    return tell(PH_ERR_STATE, call, "by another thread than the PE's");  // refused itself
  }
  ph_status tell(ph_status status, const char *call, const char *words) const {
    char text[PH_ERROR_TEXT_BYTES];
    std::snprintf(text, sizeof text, "%s: %s", call, words);
    return ph_task_tell(pe, status, text);
  }
  /** A message for a handler of this layer. Null: no memory. */
  [[nodiscard]] ph_task_message *make(std::uint32_t number, std::uint64_t size_bytes) const {
    ph_task_message *message = nullptr;
    if (ph_task_alloc(pe, size_bytes, &message) != PH_OK) return nullptr;
    ph_task_set_handler(message, number);
    return message;
  }
  template <class T>
  [[nodiscard]] ph_task_message *make_of(std::uint32_t number, const T &body) const {
    ph_task_message *message = make(number, sizeof body);
    if (message != nullptr) std::memcpy(ph_task_body(message), &body, sizeof body);
    return message;
  }
  /** It is gone, whatever comes of it. */
  void send(std::uint32_t to, ph_task_message *message) const {
    const ph_status status = ph_task_send(pe, to, message);
    const bool is_gone = status == PH_OK || status == PH_ERR_PEER || status == PH_ERR_DEPARTED ||
                         status == PH_ERR_PROTOCOL;
    if (!is_gone) (void)ph_task_free(pe, message);
  }
  void fail(const Failure &failure) const {
    if (const auto function = on_failure; function) {  // which may set another one
      function(failure);
      return;
    }
    std::fprintf(stderr, "photon: PE %u: a send %s PE %u was not run by handler %u: %s\n", place.pe,
                 failure.is_sender ? "to" : "of", failure.pe, failure.handler,
                 ph_status_text(failure.status));
  }

  ph_task_pe *pe;
  ph_task_place place;
  std::thread::id thread = std::this_thread::get_id();
  Own own;
  Ways ways;
  std::function<void(const Failure &)> on_failure;
};

/** Entries that stay where they are, named by place and generation: what a message names is looked
 * up, and what is over is found no more. `T` has `std::uint32_t generation` and `bool is_open`. */
template <class T>
class Table {
 public:
  static constexpr std::uint32_t kMostGeneration = 0xffffff;
  static constexpr std::uint32_t kMost = 0xffffff;

  T &open(std::uint32_t &place) {
    if (free_.empty()) {
      all_.emplace_back();
      free_.push_back(static_cast<std::uint32_t>(all_.size() - 1));
    }
    place = free_.back();
    free_.pop_back();
    T &entry = all_[place];
    entry.is_open = true;
    return entry;
  }
  void close(std::uint32_t place) {
    T &entry = all_[place];
    entry.is_open = false;
    if (entry.generation++ != kMostGeneration) free_.push_back(place);  // else used up
  }
  /** 24 bits each. */
  [[nodiscard]] std::uint64_t name(std::uint32_t place) const {
    return std::uint64_t{all_[place].generation} << 24 | place;
  }
  [[nodiscard]] T *find(std::uint64_t name) {
    const std::uint64_t place = name & kMost;
    if (place >= all_.size() || name >> 48 != 0) return nullptr;
    T &entry = all_[place];
    return entry.is_open && entry.generation == name >> 24 ? &entry : nullptr;
  }
  /** Names of all that are open. */
  [[nodiscard]] std::vector<std::uint64_t> names() const {
    std::vector<std::uint64_t> open;
    for (std::uint32_t i = 0; i < all_.size(); ++i)
      if (all_[i].is_open) open.push_back(name(i));
    return open;
  }

  /** Its place, of a name. */
  static std::uint32_t place_of_name(std::uint64_t name) noexcept {
    return static_cast<std::uint32_t>(name & kMost);
  }

 private:
  std::deque<T> all_;
  std::vector<std::uint32_t> free_;
};

}  // namespace photon::tasks::detail

#endif
