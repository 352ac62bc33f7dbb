// Active messages of a program: sent, handled, replied to, waited for.
#include <algorithm>
#include <cstring>

#include "base/finally.hpp"
#include "simtest/pattern.hpp"
#include "simtest/program_am_text.hpp"
#include "simtest/runner_job.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint32_t kUnknownAmFlag = 0x40;
constexpr std::uint32_t kUnregistered = 4242;

}  // namespace

// ---- sending

// What ph_am_send() or ph_am_reply() gets of a message; the blocks are the caller's.
ph_am_args Runner::am_args(const AmMessage& one, std::vector<ph_const_block>& blocks,
                           const std::uint64_t& local) {
  const Step& step = *one.step;
  ph_am_args args{};
  args.size = sizeof args;
  args.id = one.id;
  args.flags = one.flags;
  args.header = one.header.data();
  args.header_bytes = one.header.size();
  args.immediate = one.immediate;
  args.payload = one.payload.data();
  args.payload_bytes = one.payload.size();
  if (one.has_id) args.local = {&local, sizeof local};
  if (one.way == AmMessage::Way::reply) return args;
  if (step.fault == Fault::id_too_long) args.id = PH_AM_MAX_ID + 1;
  if (step.fault == Fault::null_memory) args.payload = nullptr;
  if (step.fault == Fault::unknown_flag) args.flags |= kUnknownAmFlag;
  if (!step.fetches || step.fault != Fault::none) return args;
  const std::size_t first = one.payload.size() / 3;
  blocks = {{one.payload.data(), first},
            {nullptr, 0},
            {one.payload.data() + first, one.payload.size() - first}};
  args.payload = nullptr;
  args.payload_bytes = 0;
  args.blocks = blocks.data();
  args.blocks_count = blocks.size();
  return args;
}

// `cause`: of the handler that this is in.
ph_status Runner::send_am_once(ph_rank rank, const Step& step, AmMessage* cause) {
  const auto way = step.verb == Verb::am_small ? AmMessage::Way::small : AmMessage::Way::args;
  AmMessage& one =
      ams_.begin(here(rank), {way, step.peer, &step, cause, quiets_.of(here(rank)).begun});
  const std::uint64_t local = one.value();
  std::vector<ph_const_block> blocks;
  const Posting posting(seats_[rank]);
  ph_status status = PH_OK;
  if (way == AmMessage::Way::small) {
    status = ph_am_send_small(context(rank), step.peer, one.id,
                              {one.payload.data(), one.payload.size()});
  } else {
    const ph_am_args args = am_args(one, blocks, local);
    status = ph_am_send(context(rank), step.peer, &args);
  }
  check_named(rank, step.peer, status);
  if (status < PH_OK) note_error(rank);
  ams_.posted(one, status);
  return status;
}

void Runner::note_error(ph_rank rank) {
  ph_error error{};
  ph_last_error(context(rank), &error);
  oracle_.note(here(rank), std::string("the next call says: ") + error.text);
}

// A step may send many: as many as there is room for, unless it insists. Acts that touch ranges of
// their own are the first one's.
void Runner::send_am(ph_rank rank, const Step& step) {
  for (std::uint64_t i = 0; i < step.operand && !oracle_.failed(); ++i) {
    const Step* sent = &step;
    if (i != 0 && step.order != 0) {
      Step& other = am_steps_.emplace_back(step);
      other.order = 0;
      sent = &other;
    }
    const auto once = [&] { return send_am_once(rank, *sent, nullptr); };
    const ph_status status = step.requested ? insist(rank, "a message", once) : once();
    if (status != PH_OK) return;
  }
}

// ---- handlers

// Each registration is a handler of its own.
void Runner::enroll_am(ph_rank rank, std::uint32_t id) {
  const bool is_taken = ams_.handler_of(here(rank), id) != 0;
  Hearing& hearing = am_hearings_.emplace_back(
      Hearing{*this, here(rank), static_cast<std::uint64_t>(am_hearings_.size() + 1)});
  if (!is_taken) ams_.enroll(here(rank), id, hearing.number);
  expect(rank, "am_register", ph_am_register(context(rank), id, &Runner::on_am, &hearing),
         is_taken ? PH_ERR_STATE : PH_OK);
}

void Runner::enroll_ams(ph_rank rank) {
  for (std::uint32_t i = 0; i < kAmNeverId; ++i) enroll_am(rank, kAmIds[i]);
}

void Runner::dismiss_am(ph_rank rank, std::uint32_t id) {
  const bool is_taken = ams_.handler_of(here(rank), id) != 0;
  if (is_taken) ams_.enroll(here(rank), id, 0);
  expect(rank, "am_unregister", ph_am_unregister(context(rank), id),
         is_taken ? PH_OK : PH_ERR_NOT_FOUND);
}

ph_status Runner::on_am(void* user, const ph_am_message* message, ph_am_landing* landing) {
  const Hearing& hearing = *static_cast<const Hearing*>(user);
  return hearing.runner.hear_am(hearing, *message, *landing);
}

// What a handler does, of which the surrounding call knows nothing.
ph_status Runner::in_am_handler(const Hearing& hearing, const std::function<ph_status()>& act) {
  const ph_rank rank = hearing.at.rank;
  Seat& seat = seats_[rank];
  const std::uint64_t began_ns = world_.now_ns(), away_before_ns = away_ns(rank);
  ph_error before{}, after{};
  ph_last_error(context(rank), &before);
  ++seat.inside_handlers;
  ++seat.heard_count;
  const ph_status status = act();
  --seat.inside_handlers;
  ph_last_error(context(rank), &after);
  if (!is_same(before, after)) lane_seat(rank).handlers_error = after;
  seat.heard_ns += world_.now_ns() - began_ns - (away_ns(rank) - away_before_ns);
  return status;
}

// A handler runs inside any call of its rank that makes progress, and in none that posts.
ph_status Runner::hear_am(const Hearing& hearing, const ph_am_message& message,
                          ph_am_landing& landing) {
  const ph_rank rank = hearing.at.rank;
  AmMessage* const one = ams_.begun(hearing.at, hearing.number, message);
  if (one == nullptr) return PH_OK;
  const Visit visit(seats_[rank], hearing.at.lane);
  if (seats_[rank].posting != 0 || message.context != context(rank) ||
      landing.size != sizeof landing) {
    oracle_.report("handler", one->text() + " is handled in a call that posts, or with a wrong " +
                                  "context or landing");
    return PH_OK;
  }
  const ph_status status = in_am_handler(hearing, [&] {
    const ph_status did = do_am(rank, *one, message);
    ams_.check_bytes(*one, message);
    name_landing(hearing, *one, landing);
    return did;
  });
  ams_.handled(hearing.at, *one, status);
  return status;
}

// What its step wants its handler to do. Others run, and write, while it takes its time.
ph_status Runner::do_am(ph_rank rank, AmMessage& one, const ph_am_message& message) {
  if (one.way == AmMessage::Way::reply) return PH_OK;
  const Step& step = *one.step;
  const auto doing = static_cast<AmDoing>(step.kinds);
  if (step.time_ns != 0) world_.pause(step.time_ns);
  const bool is_wanted = one.has(PH_AM_REPLY);
  ph_status replied = PH_OK;
  if (is_wanted && doing != AmDoing::keeps_silent) replied = reply_am(rank, one, message);
  if (doing == AmDoing::replies_twice) {
    ph_am_args again{};
    again.size = sizeof again;
    again.flags = PH_NO_LCE;
    // One that was refused is no reply: the next one fails for the same reason.
    expect(rank, "a reply too many", ph_am_reply(&message, &again),
           replied == PH_OK ? PH_ERR_STATE : replied);
  }
  if (doing == AmDoing::waits) wait_in_am(rank);
  if (doing == AmDoing::lingers) linger_in_am(rank);
  if (step.order != 0 && !one.may_drop && !oracle_.failed()) {
    const Step& act = program_.acts[step.order - 1];
    if (is_am(act.verb))
      static_cast<void>(send_am_once(rank, act, &one));
    else
      act_on_heard(rank, act);
  }
  if (doing == AmDoing::fails) return kAmFailure;
  return doing == AmDoing::says_more ? PH_AGAIN : PH_OK;
}

ph_status Runner::reply_am(ph_rank rank, AmMessage& asked, const ph_am_message& message) {
  AmMessage& one =
      ams_.begin(here(rank), {AmMessage::Way::reply, asked.from, asked.step, &asked, 0});
  asked.is_replied = true;
  const std::uint64_t local = one.value();
  std::vector<ph_const_block> blocks;
  const Posting posting(seats_[rank]);
  const ph_am_args args = am_args(one, blocks, local);
  const ph_status status = ph_am_reply(&message, &args);
  check_named(rank, one.to, status);
  if (status < PH_OK) note_error(rank);
  ams_.posted(one, status);
  return status;
}

// Whatever would wait for the handler itself is refused.
void Runner::wait_in_am(ph_rank rank) {
  ph_request request = PH_REQUEST_NONE;
  expect(rank, "wait in a handler", ph_wait(context(rank), anything(rank), 0), PH_ERR_STATE);
  expect(rank, "am_quiesce in a handler", ph_am_quiesce(context(rank), 0), PH_ERR_STATE);
  expect(rank, "am_quiesce_begin in a handler", ph_am_quiesce_begin(context(rank), &request),
         PH_ERR_STATE);
  expect(rank, "am_unregister in a handler", ph_am_unregister(context(rank), kUnregistered),
         PH_ERR_STATE);
  expect(rank, "am_poll in a handler", ph_am_poll(context(rank), 0), PH_AGAIN);
}

// What others write meanwhile comes to the rings, and not to what the handler has before it.
void Runner::linger_in_am(ph_rank rank) {
  constexpr int kLooks = 20;
  constexpr std::uint64_t kBetweenNs = 300;
  for (int i = 0; i < kLooks && !oracle_.failed(); ++i) {
    world_.pause(kBetweenNs);
    expect(rank, "am_poll in a handler", ph_am_poll(context(rank), 0), PH_AGAIN);
  }
}

// ---- polling, quiescence

void Runner::poll_am(ph_rank rank) {
  const std::uint64_t before = seats_[rank].heard_count;
  const ph_status status = ph_am_poll(context(rank), 0);
  if (status != PH_AGAIN && expect(rank, "am_poll", status) && seats_[rank].heard_count == before)
    oracle_.report("status", "rank " + std::to_string(rank) +
                                 ": am_poll said that a handler ran, and none did");
}

void Runner::quiesce(ph_rank rank, std::uint64_t limit_ns) {
  const Endpoint at = here(rank);
  AmQuiets::Quiet& quiet = quiets_.of(at);
  static_cast<void>(test_quiesce(rank));
  if (quiet.is_requested) {
    const ph_status status = ph_am_quiesce(context(rank), 0);
    if (status == PH_ERR_STATE || test_quiesce(rank) == 0)
      return static_cast<void>(
          expect(rank, "am_quiesce while a request is under way", status, PH_ERR_STATE));
    // It ended inside the call, which began another one, or found that a rank is lost.
    if (quiet.is_broken) return;
    quiets_.begin(at);
    if (status != PH_TIMEOUT) end_quiesce(rank, status);
    return;
  }
  if (!quiet.is_under_way) quiets_.begin(at);
  const auto limit_us = static_cast<std::int64_t>(limit_ns / 1000);
  Oracle::Wait wait{"a quiesce", world_.now_ns(), limit_us};
  const std::uint64_t away_before_ns = away_ns(rank);
  const ph_status status = ph_am_quiesce(context(rank), limit_us);
  wait.stood_still_ns = away_ns(rank) - away_before_ns;
  oracle_.waited(rank, wait, status);
  if (status != PH_TIMEOUT) end_quiesce(rank, status);
}

void Runner::end_quiesce(ph_rank rank, ph_status status) {
  ph_error error{};
  ph_last_error(context(rank), &error);
  quiets_.ended(here(rank), status, error);
}

// One that was under way before a call that said so.
bool Runner::has_ended_inside(ph_rank rank, ph_status status) {
  if (quiets_.of(here(rank)).is_requested) return test_quiesce(rank) != 0;
  if (status >= 0) return false;
  end_quiesce(rank, status);
  return true;
}

void Runner::begin_quiesce(ph_rank rank) {
  const Endpoint at = here(rank);
  AmQuiets::Quiet& quiet = quiets_.of(at);
  ph_request request = PH_REQUEST_NONE;
  static_cast<void>(test_quiesce(rank));
  if (oracle_.failed()) return;
  const bool is_second = quiet.is_under_way;
  if (!is_second) quiets_.begin(at);
  const ph_status status = ph_am_quiesce_begin(context(rank), &request);
  if (is_second) {
    // The first may have ended inside the call, which began another one, or found a rank lost.
    if (status == PH_ERR_STATE || !has_ended_inside(rank, status))
      return static_cast<void>(
          expect(rank, "am_quiesce_begin of a second one", status, PH_ERR_STATE));
    if (quiet.is_broken) return;
    quiets_.begin(at);
  }
  if (status == PH_AGAIN) return quiets_.not_begun(at);
  if (status != PH_OK || request == PH_REQUEST_NONE) return end_quiesce(rank, status);
  oracle_.also_under_way(at, rank);
  quiet.is_requested = true;
  quiet.request = request;
}

// Goes on with what was begun, here or by others. Gives how many have ended.
std::size_t Runner::harvest_quiesces(ph_rank rank) {
  if (!program_.ams || oracle_.failed() || seats_[rank].inside_handlers != 0) return 0;
  AmQuiets::Quiet& quiet = quiets_.of(here(rank));
  if (quiet.is_requested) return test_quiesce(rank);
  if (!quiet.is_under_way && !(seats_[rank].gives_back && quiets_.is_wanted(here(rank)))) return 0;
  quiesce(rank, 0);
  return quiet.is_under_way ? 0 : 1;
}

// Gives whether one that has a request is over now.
std::size_t Runner::test_quiesce(ph_rank rank) {
  AmQuiets::Quiet& quiet = quiets_.of(here(rank));
  if (!quiet.is_requested) return 0;
  ph_result result{};
  const ph_status status = ph_test(context(rank), &quiet.request, &result);
  if (status == PH_AGAIN) return 0;
  if (expect(rank, "the result of a quiesce", result.status, status)) end_requested(rank, status);
  return 1;
}

// Its words were left when it ended, and others may have come since; later calls say them again.
void Runner::end_requested(ph_rank rank, ph_status status) {
  AmQuiets::Quiet& quiet = quiets_.of(here(rank));
  quiet.is_requested = false;
  if (status != PH_OK &&
      !expect(rank, "am_quiesce after one that failed", ph_am_quiesce(context(rank), 0), status))
    return;
  end_quiesce(rank, status);
}

// Of messages that may go together nobody knows how many errors there will be, and each waits until
// there is room for a completion.
void Runner::take_rest_of_ams(ph_rank rank) {
  constexpr unsigned kMostLooks = 1000;
  if (!program_.ams || has_leavers_) return;
  std::uint64_t quiet_ns = 100;
  for (unsigned looks = 0; looks < kMostLooks && !oracle_.failed(); ++looks) {
    if (world_.is_quiet() && world_.leftovers().empty()) return;
    take_or_pause(rank, quiet_ns);
  }
}

void Runner::active_message(ph_rank rank, const Step& step) {
  switch (step.verb) {
    case Verb::am_small:
    case Verb::am_send: return send_am(rank, step);
    case Verb::am_prepare: return prepare_am(rank, step);
    case Verb::am_poll: return poll_am(rank);
    case Verb::am_register: return enroll_am(rank, kAmIds[step.offset]);
    case Verb::am_unregister: return dismiss_am(rank, kAmIds[step.offset]);
    case Verb::am_quiesce: return quiesce(rank, step.time_ns);
    default: return begin_quiesce(rank);
  }
}

}  // namespace photon::simtest
