// A random program: what each rank of a job does, step by step, as plain data.
//
//   generate(seed, ranks, operations) --> Program --> run_program() (runner.hpp)
//
// Invariant: every choice is resolved in the data, and no step relies on another one being carried
// out, by its own rank or by another. So any step may be deleted and the rest keeps its meaning:
// that is how a failing program is made small.
// Owner: whoever holds the value. Threads: plain data.
#pragma once

#include <photon/photon.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simtest/joint.hpp"

namespace photon::simtest {

enum class Verb : std::uint8_t {
  put,
  put_u64,
  notify,
  get,
  get_u64,
  put_vector,
  put_strided,
  get_vector,
  get_strided,
  atomic,
  fence,
  flush,
  probe,
  probe_each,  // its handler does `verb_in_handler` once, if anything was found
  wait,        // then a probe, which must find what the wait has promised
  test,        // one of the requests under way, and so:
  await,       // one, any or some of them
  cancel,
  pause,
  wake,    // then a wait for what need not come, which returns all the same
  enroll,  // register `extra` (up to kMostHolds times at once), or allocate `arena`
  retire,  // take that back once; refused if there is nothing to take back
  find_region,
  leave,     // ph_finalize() at once, whatever is under way; nothing comes after it
  die,       // the rank will never run again, in the middle of whatever it does `time_ns` from now
  announce,  // a buffer of kind `kinds`, tag `operand`
  take,      // one of those of `query_peer`, with tag `operand` and size `compare`, and so:
  transfer,  // into or out of one of those taken
  finish,
  recall,       // one of those announced
  ask,          // ph_echo() `operand` times, or with a body of `size_bytes`; `requested`: insisting
  tell,         // the same of ph_echo_tell(); the first one's handler does `order` of Program::acts
  answer,       // takes up to `capacity` answers, or waits for one
  listen,       // by another handler, or by none where `kinds` is 0
  hush,         // for `time_ns` takes answers alone, so that ids stay where they are
  cut,          // nothing passes between `group` and the other ranks for `time_ns`
  lose_link,    // that of `query_peer` to `peer`, for good, `time_ns` from now
  contact,      // `peer`, without an id
  revoke,       // as `retire` of `extra`, waiting for nobody where nothing is under way
  map,          // `arena` of `peer`, or a part of it
  store,        // by one of the pointers that this rank has; `order` says which, and so:
  load,         // what is there must be what was put there last
  unmap,        // `requested`: and once more, which is refused when it was the last one
  mail_put,     // `order` times to mailbox `operand` of `peer`, `fetches`: insisting; and so:
  mail_append,  // epoch and incarnation by `compare` and `kinds`: as they stand there, or others
  mail_put_u64,
  mail_get,      // of one buffer of mailbox `operand` of `peer`; epoch and incarnation as above
  mail_open,     // mailbox `operand`; refused if it is open
  mail_post,     // buffer `order`; refused if the mailbox has it or retains it
  mail_take,     // up to `capacity` events, or waits for one; of that mailbox, or of any
  mail_advance,  // ph_mailbox_inc_epoch()
  mail_release,  // one of those retained; or one that is not, which is refused; and so:
  mail_rewind,
  mail_list,  // those retained
  mail_close,
  am_small,    // ph_am_send_small() `operand` times to `peer`; `requested`: insisting; and so:
  am_send,     // with a header of `row_bytes`; its handler does `kinds`, and act `order`
  am_prepare,  // a span, filled `time_ns` later, behind act `order`, and committed or cancelled
  am_poll,
  am_register,    // id `offset` of kAmIds; refused if it has a handler
  am_unregister,  // refused if it has none
  am_quiesce,     // for `time_ns` at most
  am_begin,       // ph_am_quiesce_begin()
  lane_open,  // `lane`; refused if this rank has used it, be it that it waited for others meanwhile
  lane_close,   // if it is open
  lane_misuse,  // one of the calls that must be refused: `order` says which
  coll_begin,   // joint `order` of line `operand`, and those that come before it, and so:
  coll_run,     // ph_coll_run() of it, if nothing that comes before it is still to be begun
  coll_await,   // until it is over here
};

// Which memory of the target an operation touches.
enum class Area : std::uint8_t {
  window,     // a range of the write-only region that no other operation of the program touches
  contended,  // the first bytes of the same region, where operations overlap
  extra,      // a region that its owner takes back and registers again
  arena,      // the same with memory of ph_alloc()
  library,    // a read-only region
  words,      // changed by atomics alone
};

// What is wrong with a call on purpose. The first four are refused by the call itself, the others
// there or by the target.
enum class Fault : std::uint8_t {
  none,
  no_such_rank,
  id_too_long,
  null_memory,
  unknown_flag,
  wrong_key,
  stale_key,
  out_of_range,
  no_access,
};

// Where the handler of an active message lets its payload land.
struct AmPlace {
  enum class Kind : std::uint8_t {
    in_place,  // nothing is named: that is wrong where the payload is not there
    buffer,
    blocks,
    drop,
    cycle,    // of `places` chunks
    small,    // a byte too short
    doubled,  // a buffer, and dropped as well: that is wrong
  };
  Kind kind = Kind::in_place;
  bool is_told = false;           // it names a completion handler, and so:
  bool replies = false;           // that replies, with the last part
  std::uint32_t fails_at = 0;     // to which part it says an error, from 1; 0: to none
  std::uint64_t chunk_bytes = 0;  // of a part
  std::uint64_t places = 0;
};

struct Step {
  Verb verb = Verb::pause;
  Verb verb_in_handler = Verb::notify;
  Area area = Area::window;
  Fault fault = Fault::none;
  bool requested = false;  // its local completion goes to a request
  std::uint32_t lane =
      0;             // of Program::lanes, from 1; where it is not open here, and 0: the context
  ph_rank peer = 0;  // of the operation posted; flush: maybe PH_ANY_RANK
  ph_rank query_peer = 0;  // probes and waits
  std::uint32_t kinds = PH_EITHER;
  std::uint32_t capacity = 1;  // probes
  std::uint32_t flags = 0;
  std::uint32_t local_id_bytes = 8;
  std::uint32_t remote_id_bytes = 8;
  std::uint64_t offset = 0;  // into the area's region; which of the requests
  std::uint64_t size_bytes = 0;
  std::uint64_t row_bytes = 0;  // vectored (rows.hpp), and so:
  std::uint64_t own_gap_bytes = 0;
  std::uint64_t far_gap_bytes = 0;
  std::uint64_t order = 0;  // of its segments or dimensions: a seed
  ph_op op = PH_OP_ADD;     // of an atomic, and so:
  bool fetches = false;
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;
  std::uint64_t time_ns = 0;     // pause; limit of waits and flushes
  std::uint64_t notice_ns = 0;   // die, lose_link: until all have heard of it, at most
  std::uint64_t restart_ns = 0;  // die: until another one comes under the number; 0: none does
  std::uint64_t group = 0;       // cut: a bit for each rank
  bool is_cut_off = false;       // lose_link: `peer` ends the pair over a malformed record; and so:
  bool is_one_way = false;       // what goes the other way comes until it is known there
  AmPlace place;                 // am_send

  // A put of which one segment must be refused, and others may land first.
  bool is_partial() const noexcept {
    return verb == Verb::put_vector && fault >= Fault::wrong_key && area == Area::window;
  }
};

inline constexpr std::uint64_t kContendedBytes = 1024;
inline constexpr std::uint64_t kTailBytes = 64;    // of a window; accesses that leave it begin here
inline constexpr std::uint64_t kLentBytes = 4096;  // of `extra`, of `arena`
inline constexpr std::uint32_t kMostHolds = 2;
// A registration of its own inside the contended range, write-only.
inline constexpr std::uint64_t kInnerOffset = 256;
inline constexpr std::uint64_t kInnerBytes = 512;
inline constexpr std::uint64_t kLibraryBytes = 24 << 10;
inline constexpr std::uint32_t kMostFound = 8;   // the largest capacity of a probe
inline constexpr std::uint32_t kNumberedId = 4;  // from this length an id names its operation

struct Program {
  std::uint32_t ranks = 0;
  std::uint64_t window_bytes = 0;  // contended part, ranges of their own, tail
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<std::uint32_t> lanes;      // their numbers
  std::vector<std::vector<Step>> steps;  // by rank
  bool echoes = false;                   // its ranks listen from the beginning on
  bool mailboxes = false;                // its ranks use mailboxes
  std::uint64_t mail_bytes = 0;          // of each of their buffers, at most
  bool ams = false;                      // its ranks have handlers of active messages
  std::vector<Step> acts;                // of handlers that hear something; named from 1
  std::vector<JointTeam> joint_teams;    // without any there are no collectives
  std::vector<JointLine> joint_lines;

  // The contexts' own included.
  std::uint32_t lanes_count() const noexcept {
    return static_cast<std::uint32_t>(lanes.size()) + 1;
  }
};

// A rank, and which of its lanes: an index as in Step. 0, where something ends: all of them.
struct Endpoint {
  Endpoint(ph_rank of, std::uint32_t on = 0) noexcept : rank(of), lane(on) {}
  ph_rank rank;
  std::uint32_t lane;
};

// Which programs have lanes: one in three; or none; or all.
enum class Lanes : std::uint8_t { drawn, none, all };

// Links between ranks that live on are lost in no program; or in one of eight of those in which no
// rank leaves or dies; or in all of those. In these there are no lanes and no rendezvous; where all
// are to have lanes, none is drawn.
enum class Losses : std::uint8_t { none, drawn, all };

// Which programs contact peers without an id: one in four; or none.
enum class Peers : std::uint8_t { drawn, none };
// Which programs wake their own lanes: all, now and then; or none. The draws are among those of all
// other steps: without them a seed's program is what it was before there were wakes.
enum class Wakes : std::uint8_t { drawn, none };
// Which programs ask and tell by the echo service: one in three; or none; or all.
enum class Echoes : std::uint8_t { drawn, none, all };
// Which programs map memory of peers: one in three; or none; or all.
enum class Maps : std::uint8_t { drawn, none, all };

// Which programs use mailboxes: one in three; or none; or all; or all, with messages that their
// sender carries alone: those programs are what they were before there were larger ones.
enum class Mailboxes : std::uint8_t { drawn, none, all, carried };

// Which programs use teams and collective operations: one in three; or none; or all; or all, with
// what they were before members agreed on something; or all, and members of all call differently.
// Programs that lose links have none.
enum class Collectives : std::uint8_t { drawn, none, all, plain, differing };

// Which programs send active messages: one in three; or none; or all; or all, whatever is drawn by
// default, without payloads that land; or all, with such payloads.
enum class Ams : std::uint8_t { drawn, none, all, plain, landing };

struct Choice {
  Lanes lanes = Lanes::drawn;
  Losses losses = Losses::drawn;
  Peers peers = Peers::drawn;
  Echoes echoes = Echoes::drawn;
  Wakes wakes = Wakes::drawn;
  Maps maps = Maps::drawn;
  Mailboxes mailboxes = Mailboxes::drawn;
  Collectives collectives = Collectives::drawn;
  Ams ams = Ams::drawn;
};

// About `operations` posting steps in all, and others between them.
Program generate(std::uint64_t seed, std::uint32_t ranks, std::uint32_t operations,
                 const Choice& choice = {});

// What a step does beside taking completions: the verb itself, or the one of its handler.
constexpr Verb acting_verb(const Step& step) noexcept {
  return step.verb == Verb::probe_each ? step.verb_in_handler : step.verb;
}
constexpr bool posts(Verb verb) noexcept { return verb <= Verb::atomic; }
constexpr bool is_get(const Step& step) noexcept {
  const Verb verb = acting_verb(step);
  return verb == Verb::get || verb == Verb::get_u64 || verb == Verb::get_vector ||
         verb == Verb::get_strided;
}
constexpr bool is_atomic(const Step& step) noexcept { return acting_verb(step) == Verb::atomic; }
// Its bytes go to the target: a put, or a notification.
constexpr bool is_put(const Step& step) noexcept { return !is_get(step) && !is_atomic(step); }
constexpr bool is_lent(Area area) noexcept { return area == Area::extra || area == Area::arena; }

// The number of an option; 0 if the program does not set it.
std::uint64_t option_of(const Program& program, const std::string& name);

// Whether the rank goes before the others are done; the others do without collectives then.
bool leaves_early(const Program& program, ph_rank rank);
// Whether it does not die either.
bool stays(const Program& program, ph_rank rank);
bool loses_links(const Program& program);

std::string name_of(Area area);
std::string name_of_lane(std::uint32_t lane);  // an index
std::string text_of(const JointTeam& team);
std::string text_of(const Joint& joint);
std::string text_of(const Step& step);        // in one line
std::string text_of(const Program& program);  // a line per option and per step

}  // namespace photon::simtest
