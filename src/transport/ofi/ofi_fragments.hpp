// Our fragments to one peer, and the leases of its memory that they go by (docs/ofi.md, Fragments).
//
//   fragment:  free -- add() --> waits -- taken() --> under way -- over() --> free
//                                  ^ ------ failed(), recall() ------ |
//                                waits -- refused --> free
//              recall(): our own RMA endpoint has ended under it
//              one with an imm that waits again is in doubt until its peer has said, after the end
//              of its RMA endpoint there, whether it was told of it: then it is over, or goes again
//
//   lease:  none -- a fragment waits: ask --> asked -- told() yes --> held
//                                             asked -- told() no ---> refused --> none
//           held -- the last fragment is over, and the key is new: given --> none
//           held -- called_back() --> called -- no fragment is under way: given --> none
//           held -- a fragment by that RMA endpoint failed: ask --> asked
//           held, called -- rma_endpoint_ended() --> none, or asked if a fragment is under way
//   tainted: a fragment of it was recalled, or failed. Nothing goes by it, nor is it given back,
//            until its RMA endpoint has ended: the peer is told to, or does it as nothing is given
//            back.
//
// A key that is asked for a second time is kept until it is called back: memory that is used once,
// as in a rendezvous, is given back before its owner wants it, and what is used frequently is asked
// for twice in all.
// Invariants: a fragment goes only while its lease is held, so that no `given` leaves while one is
// under way; at most one `ask` for a key is unanswered. Leases are at most what the peer granted
// and a fragment each. Of fragments with an imm that the peer has not said to have heard of, nor
// never to hear of, there are as many as slots at most; and kMostNumbers from the oldest in doubt
// on. Owner: OfiPeer, under the transport's lock.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/ring_queue.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/ofi_message.hpp"
#include "transport/ofi/ofi_told.hpp"
#include "transport/transport.hpp"

namespace photon::transport::ofi {

// Something to tell the peer about memory.
struct Word {
  MessageKind kind = MessageKind::ask;
  KeyBody body;
  std::uint64_t after_lines = 0;  // of a tell: all that was published before it has gone then
  bool is_refusal = false;        // of a tell: known, and after_lines is of that time
};
using Words = base::RingQueue<Word>;

class Fragments {
 public:
  struct Slot {
    enum class State : std::uint8_t { free, waits, under_way } state = State::free;
    PostedFragment fragment;
    Operation operation;
    std::uint64_t rma_endpoint = 0;  // it is under way by, or was the last time
    std::uint64_t failed = 0;        // it has failed by this RMA endpoint; 0: it has not
    // Of one with an imm, when it went the last time: which it was, and whether its peer was told.
    std::uint64_t number = 0;  // from 1 on; 0: it has never gone
    enum class Fate : std::uint8_t { in_doubt, told, lost } fate = Fate::in_doubt;
    unsigned failures = 0;

    bool has_imm() const noexcept { return fragment.imm.has_value(); }
    bool was_told() const noexcept { return number != 0 && fate == Fate::told; }
    bool is_lost() const noexcept { return number != 0 && fate == Fate::lost; }
    bool is_in_doubt() const noexcept {
      return state != State::free && number != 0 && fate == Fate::in_doubt;
    }
  };
  // What a fragment that waits has before it.
  struct Next {
    enum class Kind : std::uint8_t {
      wait,
      go,     // to `place`, by `rma_endpoint`
      over,   // `status`; PH_OK: it had landed when it failed
      fault,  // it has failed by an RMA endpoint that has not ended, or again and again
    } kind = Kind::wait;
    Place place;
    std::uint64_t rma_endpoint = 0;
    ph_status status = PH_OK;
  };

  // What there is to say is put into `words`, which outlive it.
  Fragments(std::uint32_t rank, std::size_t slots_count, Words& words);

  // Null: all slots are in use.
  Slot* add(const PostedFragment& fragment) noexcept;
  std::span<Slot> slots() noexcept { return slots_; }
  // Whose turn it is: who went last comes last, so that a full provider keeps none out.
  std::size_t first() const noexcept { return first_; }
  Slot& slot(std::uint32_t index) noexcept { return slots_[index]; }
  std::size_t under_way() const noexcept { return under_way_; }
  // Some fragment has not begun.
  bool is_waiting() const noexcept;

  Next next(const Slot& slot);
  // What it is to tell its peer, if it goes now.
  std::uint64_t data(const Slot& slot) const noexcept {
    return imm_data(*slot.fragment.imm, with_imm_ + 1);
  }
  void taken(Slot& slot, std::uint64_t rma_endpoint);
  // It has landed: its memory is not touched any more.
  void over(Slot& slot);
  // It waits, and is over all the same.
  void dismiss(Slot& slot) noexcept { slot.state = Slot::State::free; }
  // It was under way, or was to go, by `rma_endpoint`.
  void failed(Slot& slot, std::uint64_t rma_endpoint);
  // Our own RMA endpoint ended with it under way, which says nothing about the peer: it may still
  // read what we sent by the old one, and only the end of its RMA endpoint proves that it reads no
  // more.
  void recall(Slot& slot);

  // False: it was not asked, or says nonsense.
  bool told(const TellBody& answer);
  // The peer has heard of so many. False: it says nonsense.
  bool seen(std::uint64_t count);
  // What the peer has heard from fragments of ours, and by which RMA endpoints it hears no more:
  // what is in doubt is told or lost, and what it should have heard is said. False: it says
  // nonsense.
  bool learn(const ToldBody& heard);
  // How many more with an imm could go at once, if those that wait did.
  std::size_t imm_room() const noexcept;
  void called_back(std::uint64_t key);
  void rma_endpoint_ended(std::uint64_t rma_endpoint);
  // After all that wait were looked at: leases that nobody needs are given back.
  void tidy();
  // We end: all are given back by which nothing is under way.
  void give_all();

 private:
  // Of an answer.
  struct Grant {
    ph_status status = PH_OK;
    std::uint32_t access = 0;
    std::uint64_t address = 0;
    std::uint64_t size_bytes = 0;
    Place begin;  // of `address`
    std::uint64_t rma_endpoint = 0;

    ph_status check(const PostedFragment& fragment) const noexcept;
  };
  struct RkeyLease {
    enum class State : std::uint8_t { asked, held, called, refused } state = State::asked;
    bool is_kept = false;
    bool is_tainted = false;
    std::uint32_t under_way = 0;
    Grant granted;
  };
  static constexpr std::size_t kUsedKeys = 64;

  void leave(Slot& slot);
  std::size_t room_for_imm() const noexcept;
  void learn_of(Slot& slot, std::int32_t more, const ToldBody& heard) noexcept;
  void want_end_of(std::uint64_t rma_endpoint);
  bool is_wanted(std::uint64_t key) const noexcept;
  void say(MessageKind kind, std::uint64_t key) { words_.push({kind, {key, 0}, 0}); }
  void ask(RkeyLease& lease, std::uint64_t key);
  void remember(std::uint64_t key) noexcept;
  bool has_used(std::uint64_t key) const noexcept;

  Words& words_;
  std::vector<Slot> slots_;
  std::size_t under_way_ = 0;
  std::size_t first_ = 0;
  std::map<std::uint64_t, RkeyLease> leases_;  // by key
  std::uint64_t ending_ = 0;    // the latest RMA endpoint that we have told its owner to end
  std::uint64_t with_imm_ = 0;  // fragments that went with an imm, each time
  std::uint64_t seen_ = 0;      // of them the peer has said to have heard of
  std::uint64_t lost_ = 0;      // and these it never will
  std::array<std::uint32_t, kMostNumbers> told_{};  // it was told of, by their numbers,
  // and of these the latest that is over.
  struct Last {
    std::uint64_t number = 0;  // 0: none, or it is known to have heard
    std::uint64_t rma_endpoint = 0;
    std::uint32_t imm = 0;
  };
  std::array<Last, kMostNumbers> last_{};
  std::array<std::uint64_t, kUsedKeys> used_{};
  std::size_t used_count_ = 0;
};

}  // namespace photon::transport::ofi
