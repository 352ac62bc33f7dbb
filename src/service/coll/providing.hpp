// Operations that a provider does (photon/coll_provider.h): when it is asked, called and told.
//
//   begun -- collect() --> [run(): begin(), advance()] -- ran(): not over --> begun
//                                                        over --> Runner::provided()
//                                                        PH_ERR_ARGUMENT --> held -- words of a
//                                                        mismatch, or a while --> provided()
//   failing -- collect() --> [run(): cancel()] ...
//
// Invariant: between collect() and ran() the thread inside run() alone touches `shown_`, and
// what its pointers name; all else is under the lane's lock. An operation stays as it is meanwhile:
// it is over when its provider says so.
// Owner: Collectives.
#pragma once

#include <photon/coll_provider.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "service/coll/runner.hpp"

namespace photon::service::coll {

class Providing {
 public:
  Providing(Port& port, Runner& runner) noexcept : port_(port), runner_(runner) {}
  ~Providing();
  Providing(const Providing&) = delete;
  Providing& operator=(const Providing&) = delete;

  // ---- which. Null: done. Else the mistake, in words.
  const char* add(ph_context* context, const ph_coll_provider& provider);
  // By the setting, once: from then on none can be added. PH_ERR_ARGUMENT: words() tell.
  ph_status choose();
  bool is_closed() const noexcept { return is_chosen_; }
  const std::string& words() const noexcept { return words_; }

  // ---- operations
  // Whether the provider does it, which the plan says then.
  void ask(Plan& plan, const Team& team) const;
  // It has begun. Room for it was made by reserve().
  void reserve();  // throws bad_alloc
  void begin(Operation& op) noexcept;
  void freed(Team& team) noexcept;
  // The lane is being closed: what is under way is called off.
  void close() noexcept;

  // ---- as in Service
  void turn() noexcept;
  std::int64_t next_turn_ns() const noexcept { return next_turn_ns_; }
  void collect();
  void run() noexcept;
  void ran() noexcept;

 private:
  // Of a team: what is shown, and what the provider keeps.
  struct Seat {
    ph_coll_team shown{};
    std::vector<ph_rank> ranks;
    void* state = nullptr;
    bool is_joined = false;
    bool is_freed = false;
    const Team* team = nullptr;
  };
  // Of an operation.
  struct Doing {
    Operation* op = nullptr;
    Seat* seat = nullptr;
    ph_coll_call call{};
    void* handle = nullptr;
    bool has_begun = false;
    bool is_called_off = false;
    bool has_thrown = false;  // the user's function
    bool is_held = false;     // it is over, with PH_ERR_ARGUMENT
    std::int64_t held_until_ns = 0;
    ph_status status = PH_AGAIN;
  };

  bool takes(const Plan& plan, const Team& team) const;
  Seat& seat_of(Team& team);
  static void show(const Plan& plan, const Team& team, ph_coll_call& call) noexcept;
  static void show_own(const Operation& op, ph_coll_call& call) noexcept;
  bool waits_for_words(Doing& doing) noexcept;
  bool is_idling() const noexcept;
  void step(Doing& doing) const noexcept;
  ph_status join(Seat& seat) const noexcept;
  void leave(Seat& seat) const noexcept;
  static void fold(void* user, const void* left, const void* right, void* out,
                   std::uint64_t count) noexcept;

  static constexpr std::int64_t kEagerNs = 200'000;
  static constexpr std::int64_t kPauseNs = 50'000;
  static constexpr std::int64_t kIdlePauseNs = 1'000'000;  // nothing is under way
  static constexpr std::int64_t kWordsNs = 200'000'000;

  Port& port_;
  Runner& runner_;
  struct Known {
    std::string name;
    ph_coll_provider table{};
  };
  std::vector<Known> known_;
  ph_context* context_ = nullptr;
  const Known* chosen_ = nullptr;
  bool is_chosen_ = false;
  std::string words_;

  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<std::unique_ptr<Doing>> doing_;
  std::vector<std::unique_ptr<Doing>> spare_;
  std::vector<Doing*> shown_;        // of the thread inside run()
  std::vector<Seat*> leaving_;       // of it, too
  bool moves_idly_ = false;          // run() calls the provider's progress()
  bool is_running_ = false;          // from collect() to ran()
  std::int64_t eager_until_ns_ = 0;  // looks follow one another
  std::int64_t next_turn_ns_ = INT64_MAX;
};

}  // namespace photon::service::coll
