// The life of one rank of a program:
//
//   set up: register, exchange --> steps --> drain: until nothing is expected of anybody
//     --> flush --> all have flushed --> barrier --> nothing more comes --> finalize --> memory
//
// A rank whose steps end with `leave` finalizes after them; one with a step `die` dies, in them or
// while it waits for that. Then there are no collectives any more: the others meet here, outside
// the library.
// A rank that waits for others outside the library probes meanwhile, so it can hold up nobody.
// Its fiber is in one lane at a time, where all its calls go: the lane of the step, if it has that
// open, else the context. Each lane is opened and closed by a step, or opened before its rank waits
// for others, who may need it, and closed at the end.
// All returns at once after the first finding.
// Owner: run_program(). Threads: one.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <string_view>
#include <vector>

#include "simtest/am_model.hpp"
#include "simtest/am_quiets.hpp"
#include "simtest/burst.hpp"
#include "simtest/echo_model.hpp"
#include "simtest/joint_runner.hpp"
#include "simtest/lending.hpp"
#include "simtest/mail_gets.hpp"
#include "simtest/mail_model.hpp"
#include "simtest/map_model.hpp"
#include "simtest/poster.hpp"
#include "simtest/runner.hpp"
#include "simtest/world.hpp"

namespace photon::simtest {

inline constexpr std::uint64_t kLongestQuietNs = 20'000;  // between two looks for news
inline constexpr std::uint64_t kMuchLonger = 20;  // than the longest delay: everything has come

inline bool is_same(const ph_error& one, const ph_error& other) noexcept {
  return one.status == other.status && one.rank == other.rank &&
         std::string_view(one.text) == other.text;
}

class Runner {
 public:
  Runner(const Program& program, const World::Settings& settings, bool keep_history)
      : program_(program),
        history_(keep_history),
        oracle_(program, history_, [this] { return world_.now_ns(); }),
        lending_(oracle_, program),
        echoes_(oracle_, program),
        ams_(oracle_, program),
        quiets_(oracle_, ams_, program),
        mail_(oracle_, program),
        mail_gets_(oracle_, program, mail_),
        joints_(oracle_, program, [this](ph_rank rank) { return world_.context(rank); }),
        maps_(oracle_, program,
              [this](ph_rank mapper, ph_rank owner, std::uint64_t size_bytes) {
                return world_.stores_reach(mapper, owner, size_bytes);
              }),
        seats_(program.ranks,
               Seat{Poster(program.ranks), std::vector<LaneSeat>(program.lanes_count())}),
        loses_links_(loses_links(program)),
        network_delay_ns_(kMuchLonger * settings.network.max_delay_ns),
        world_(settings) {
    for (ph_rank rank = 0; rank < program.ranks; ++rank) {
      if (stays(program, rank)) stayers_.push_back(rank);
      if (leaves_early(program, rank)) has_leavers_ = true;
      seats_[rank].lanes[0].state = LaneSeat::State::open;
    }
    const auto profile = settings.network.profile;
    shares_memory_ = profile == base::SimProfile::mapped;
    oracle_.reach_alone(profile != base::SimProfile::stream);
    oracle_.share_memory(shares_memory_);
    if (profile == base::SimProfile::rc || profile == base::SimProfile::srd)
      oracle_.count_fragments();
    world_.on_death([this](ph_rank rank) { died(rank); });
    world_.on_loss([this](const transport::sim::Loss& loss) { link_lost(loss); });
  }

  Result run();

 private:
  //   unused -- opened --> open -- ph_lane_close(), ph_finalize() --> closed
  struct LaneSeat {
    enum class State : std::uint8_t { unused, open, closed };
    State state = State::unused;
    ph_context* handle = nullptr;      // null for a context
    std::vector<Operation*> requests;  // that were not taken
    ph_error handlers_error{};         // the last that a call in a handler of it left
  };
  // What a rank needs beside its small stack, and what outlives a fiber that never ends.
  struct Seat {
    Poster poster;
    std::vector<LaneSeat> lanes;  // by index; 0: the context
    std::uint32_t lane = 0;       // where it is
    const Step* step = nullptr;   // under way
    bool ended = false;
    bool gives_back = false;        // whatever it has taken, or others announce
    ph_region slab{};               // of its own memory
    std::vector<ph_rank> met = {};  // contacted without an id, by the context
    const char* phase = "set-up";
    std::vector<std::byte> id_room = std::vector<std::byte>((kMostFound + 1) * PH_MAX_ID_BYTES);
    std::array<ph_completion, kMostFound + 1> found{};
    std::uint64_t flush_begun_at = 0;  // the last one, on the oracle's count of events
    int posting = 0;                   // calls that post are under way, which run no handler
    // Handlers of the echo service and of active messages run inside other calls:
    int inside_handlers = 0;
    bool waits_for_answer = false;             // the surrounding call does
    std::vector<std::function<void()>> later;  // what the oracle is told when they are over
    std::size_t later_before = 0;              // as many of them as before the last probe
    std::uint64_t taken_by_handlers = 0;       // completions
    std::uint64_t heard_ns = 0;                // how long handlers ran
    std::uint64_t heard_count = 0;
  };
  // A handler of ph_echo_listen() or ph_am_register(); or the completion handler of a message.
  struct Hearing {
    Runner& runner;
    Endpoint at;
    std::uint64_t number;
    AmMessage* message = nullptr;
  };
  // As long as it lives.
  class Posting {
   public:
    explicit Posting(Seat& seat) : seat_(seat) { ++seat.posting; }
    ~Posting() { --seat_.posting; }
    Posting(const Posting&) = delete;
    Posting& operator=(const Posting&) = delete;

   private:
    Seat& seat_;
  };
  // In one lane for a while.
  class Visit {
   public:
    Visit(Seat& seat, std::uint32_t lane) : seat_(seat), before_(seat.lane) { seat.lane = lane; }
    ~Visit() { seat_.lane = before_; }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    Seat& seat_;
    const std::uint32_t before_;
  };
  // What the handler of a probe_each works on.
  struct Handling {
    Runner& runner;
    ph_rank rank;
    const Step& step;
    ph_query query;
    bool acted = false;
  };

  void body(ph_rank rank);
  bool set_up(ph_rank rank);
  void carry_out(ph_rank rank, const Step& step);
  void drain(ph_rank rank);
  void report_pending();
  void leave(ph_rank rank);
  void die(ph_rank rank, const Step& step);
  // runner_peers.cpp
  void contact(ph_rank rank, ph_rank peer);
  void check_contacts(ph_rank rank);
  bool expect_state(ph_rank rank, ph_rank peer, bool is_right, ph_contact_state state);
  void await_death(ph_rank rank);
  void died(ph_rank rank);
  bool meet(ph_rank rank);
  void finish(ph_rank rank);
  void audit(ph_rank rank);
  void exchange_bursts(ph_rank rank);
  void send_burst(ph_rank rank, ph_rank peer, const Burst& burst);
  std::uint64_t take_burst(ph_rank rank, ph_rank peer, const Burst& burst);
  void end_burst(ph_rank rank, ph_rank peer, std::uint64_t came, std::uint64_t missing);
  std::uint64_t take_ids(ph_rank rank, ph_rank peer, std::uint64_t first);
  bool stand_still(std::uint32_t stage);
  std::uint64_t overflow_room() const;
  void lose_link(const Step& step);
  void link_lost(const transport::sim::Loss& loss);
  void await_lost(ph_rank rank);
  void finalize(ph_rank rank);
  void check_absent();
  void take_all(ph_rank rank);
  void report_stuck();

  void show_slab_anew(ph_rank rank);
  void post(ph_rank rank, const Step& step);
  ph_status attempt(Operation& op);
  // runner_lanes.cpp
  void open_lane(ph_rank rank, std::uint32_t lane);
  void open_unused(ph_rank rank);
  void close_lane(ph_rank rank, std::uint32_t lane);
  void close_rest(ph_rank rank, bool is_finalized);
  void misuse(ph_rank rank, const Step& step);
  std::uint32_t lane_for(ph_rank rank, const Step& step) const;
  bool is_open(ph_rank rank, std::uint32_t lane) const noexcept {
    return seats_[rank].lanes[lane].state == LaneSeat::State::open;
  }
  template <class Do>
  void for_each_open(ph_rank rank, Do act) {
    for (std::uint32_t lane = 0; lane < program_.lanes_count() && !oracle_.failed(); ++lane) {
      if (!is_open(rank, lane)) continue;
      const Visit visit(seats_[rank], lane);
      act();
    }
  }
  std::size_t look(ph_rank rank);
  void take_everywhere(ph_rank rank);
  bool flush_last(ph_rank rank);
  // runner_requests.cpp
  void keep(Operation& op);
  void took(Operation& op, ph_status status);
  std::size_t harvest(ph_rank rank);
  void test(ph_rank rank, const Step& step);
  void await(ph_rank rank, const Step& step);
  ph_status await_list(ph_rank rank, bool all, std::int64_t limit_us, std::size_t& count);
  void cancel(ph_rank rank, const Step& step);
  Operation* pick(ph_rank rank, const Step& step);
  void check_result(const Operation& op, const ph_result& result);

  // runner_lending.cpp
  void announce(ph_rank rank, const Step& step);
  void take_loan(ph_rank rank, const Step& step);
  void transfer(ph_rank rank, const Step& step);
  void finish_loan(ph_rank rank, Loan& loan);
  void finish_loan(ph_rank rank, const Step& step);
  void recall(ph_rank rank, const Step& step);
  std::size_t harvest_lending(ph_rank rank);
  void await_loans(const Endpoint& end);

  // runner_echo.cpp
  ph_status ask_once(ph_rank rank, ph_rank peer, std::uint64_t size_bytes);
  ph_status tell_once(ph_rank rank, ph_rank peer, const Step* act);
  void say_echo(ph_rank rank, const Step& step);
  std::size_t take_answers(ph_rank rank, std::size_t most);
  void answer(ph_rank rank, const Step& step);
  void hush(ph_rank rank, const Step& step);
  void listen(ph_rank rank, bool hears);
  static void on_heard(void* user, ph_rank from, std::uint64_t value);
  void hear(const Hearing& hearing, ph_rank from, std::uint64_t value);
  void act_on_heard(ph_rank rank, const Step& act);
  void tell_later(ph_rank rank);
  // runner_am.cpp
  static ph_am_args am_args(const AmMessage& one, std::vector<ph_const_block>& blocks,
                            const std::uint64_t& local);
  ph_status send_am_once(ph_rank rank, const Step& step, AmMessage* cause);
  void note_error(ph_rank rank);
  void send_am(ph_rank rank, const Step& step);
  void enroll_am(ph_rank rank, std::uint32_t id);
  void enroll_ams(ph_rank rank);
  void dismiss_am(ph_rank rank, std::uint32_t id);
  static ph_status on_am(void* user, const ph_am_message* message, ph_am_landing* landing);
  ph_status hear_am(const Hearing& hearing, const ph_am_message& message, ph_am_landing& landing);
  ph_status in_am_handler(const Hearing& hearing, const std::function<ph_status()>& act);
  // runner_landings.cpp
  void name_landing(const Hearing& hearing, AmMessage& one, ph_am_landing& landing);
  static ph_status on_am_part(void* argument, const ph_am_message* message, const ph_am_part* part);
  ph_status hear_am_part(const Hearing& hearing, const ph_am_message& message,
                         const ph_am_part& part);
  void prepare_am(ph_rank rank, const Step& step);
  bool misuse_slot(ph_rank rank, const Step& step, const ph_am_slot& slot);
  ph_status commit_once(ph_rank rank, const Step& step, const ph_am_slot& slot);
  ph_status do_am(ph_rank rank, AmMessage& one, const ph_am_message& message);
  ph_status reply_am(ph_rank rank, AmMessage& asked, const ph_am_message& message);
  void wait_in_am(ph_rank rank);
  void linger_in_am(ph_rank rank);
  void poll_am(ph_rank rank);
  void quiesce(ph_rank rank, std::uint64_t limit_ns);
  void end_quiesce(ph_rank rank, ph_status status);
  void begin_quiesce(ph_rank rank);
  bool has_ended_inside(ph_rank rank, ph_status status);
  void end_requested(ph_rank rank, ph_status status);
  std::size_t harvest_quiesces(ph_rank rank);
  std::size_t test_quiesce(ph_rank rank);
  void take_rest_of_ams(ph_rank rank);
  void active_message(ph_rank rank, const Step& step);

  // How long a rank was made to stand still so far, or was in handlers, inside its waits.
  std::uint64_t away_ns(ph_rank rank) const noexcept {
    return world_.stood_still_ns(rank) + seats_[rank].heard_ns;
  }

  // runner_mailboxes.cpp
  ph_status mail_once(ph_rank rank, const Step& step, std::uint64_t index);
  void say_mail(ph_rank rank, const Step& step);
  ph_status get_once(ph_rank rank, const Step& step);
  void get_from_mailbox(ph_rank rank, const Step& step);
  std::size_t harvest_gets(ph_rank rank);
  void sync(ph_rank rank, MailBox& box);
  void open_mailbox(ph_rank rank, const Step& step);
  void post_buffer(ph_rank rank, MailBox& box, const Step& step);
  static std::uint64_t retained_epoch(const MailBox& box, const Step& step);
  void call_mailbox(ph_rank rank, MailBox& box, const Step& step);
  void call_closed(ph_rank rank, const MailBox& box, const Step& step);
  void mailbox(ph_rank rank, const Step& step);
  std::size_t take_mail(ph_rank rank, std::size_t most);
  void check_none(ph_rank rank);
  void take_events(ph_rank rank, const Step& step);
  std::size_t harvest_mail(ph_rank rank);
  void close_mailboxes(ph_rank rank);
  void take_late_refusals(ph_rank rank);
  void take_before_leaving(ph_rank rank);

  // runner_joints.cpp
  void join_in(ph_rank rank, const Step& step);
  void run_joint(ph_rank rank, const Step& step);
  void await_joint(ph_rank rank, const Step& step);
  std::size_t pump_joints(ph_rank rank);

  // runner_maps.cpp
  void map(ph_rank rank, const Step& step);
  void unmap(ph_rank rank, const Step& step);

  void fence(ph_rank rank, ph_rank peer);
  ph_status flush(ph_rank rank, ph_rank peer, std::int64_t limit_us);
  ph_status flush_once(ph_rank rank, ph_rank peer, std::int64_t limit_us);
  void flush_ended(ph_rank rank, ph_rank peer, ph_status status);
  void wake(ph_rank rank);
  ph_status wait_once(ph_rank rank, const ph_query& query, std::int64_t limit_us);
  std::size_t wait(ph_rank rank, const Step& step);
  void probe_each(ph_rank rank, const Step& step);
  static void handle(void* user, const ph_completion* one);
  void act(Handling& handling);
  void put_off(ph_rank rank, const ph_query& query, std::size_t count);
  void enroll(ph_rank rank, Area area);
  void retire(ph_rank rank, Area area, bool waits_for_nobody = false);
  void refuse_retire(ph_rank rank, Area area);
  void find_region(ph_rank rank, const Step& step);

  // A probe, and the same with the oracle told of what it gave.
  std::size_t probe(ph_rank rank, ph_query query, std::size_t capacity);
  void completed(ph_rank rank, const ph_query& query, const ph_completion& one);
  void tell(ph_rank rank, const ph_query& query, std::size_t count);
  std::size_t take(ph_rank rank, ph_query query, std::size_t capacity);
  void take_or_pause(ph_rank rank, std::uint64_t& quiet_ns);
  ph_status insist(ph_rank rank, const char* what, const std::function<ph_status()>& call);
  // Whether the status is the one that has to be.
  bool expect(ph_rank rank, const char* what, ph_status status, ph_status right = PH_OK);
  // The same for PH_OK, or `peer` is one that leaves or died.
  bool went_through(ph_rank rank, const char* what, ph_rank peer, ph_status status);

  bool all_stay() const noexcept { return stayers_.size() == program_.ranks; }
  // Collectives serve the context only, so ranks with lanes meet outside the library as well.
  bool has_collectives() const noexcept { return all_stay() && program_.lanes.empty(); }
  // PH_ERR_PEER of a call: whether ph_last_error() names who died.
  void check_named(ph_rank rank, ph_rank peer, ph_status status);
  // Or its lane, where it is.
  ph_context* context(ph_rank rank) noexcept {
    ph_context* const lane = lane_seat(rank).handle;
    return lane != nullptr ? lane : world_.context(rank);
  }
  static LaneSeat closed_lane() { return {LaneSeat::State::closed, nullptr, {}, {}}; }
  LaneSeat& lane_seat(ph_rank rank) noexcept { return seats_[rank].lanes[seats_[rank].lane]; }
  Endpoint here(ph_rank rank) const noexcept { return {rank, seats_[rank].lane}; }
  ph_query query_of(ph_rank rank, const Step& step) noexcept {
    return {step.query_peer, step.kinds, seats_[rank].id_room.data()};
  }
  ph_query anything(ph_rank rank) noexcept {
    return {PH_ANY_RANK, PH_EITHER, seats_[rank].id_room.data()};
  }

  const Program& program_;
  History history_;
  Oracle oracle_;
  Lending lending_;
  EchoModel echoes_;
  AmModel ams_;
  AmQuiets quiets_;
  MailModel mail_;
  MailGets mail_gets_;
  Joints joints_;
  MapModel maps_;
  std::deque<Hearing> hearings_;
  std::deque<Hearing> am_hearings_;
  std::deque<Step> am_steps_;  // of messages that are sent again without their act
  std::vector<Seat> seats_;
  std::uint32_t draining_ = 0;
  std::uint32_t flushed_ = 0;
  std::vector<ph_rank> stayers_;
  bool has_leavers_ = false;
  const bool loses_links_;
  std::uint32_t losses_ahead_ = 0;  // begun by a step, and still to happen
  bool shares_memory_ = false;
  std::uint32_t leaving_count_ = 0;    // ranks that leave, or close a lane, just now
  ph_rank closing_ = PH_ANY_RANK;      // who is in ph_lane_close()
  std::uint64_t succeeded_count_ = 0;  // calls of all ranks that said something else than PH_AGAIN
  std::uint32_t arrived_ = 0;          // at the meeting
  std::uint32_t meetings_ = 0;
  std::uint32_t at_bursts_ = 0;  // ranks that have come to the next stage of the bursts
  const std::uint64_t network_delay_ns_;
  engine::SourceCache::Counts sources_;  // at the end
  World world_;                          // its contexts go before the memory they were shown
};

}  // namespace photon::simtest
