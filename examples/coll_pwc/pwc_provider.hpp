// A provider (photon/coll_provider.h) that does collective operations by plain puts with
// completion: barrier, bcast, allreduce and scan, in the way of the paper on LibPhotonNBC, and
// beside them gatherv and alltoallv. It needs Photon's installed headers alone. The classic API is
// built with it, for PHOTON_COLL_IFACE_PWC.
//
//   a ring of slots for each pair: asked for --> told (its address and key, in four ids) --> used
//   a slot: free -- a put, whose id says how full it is --> filled
//           filled -- copied out, and credit goes back --> free
//
// Each rank keeps a ring of slots for each other rank. Each slot has a head that names the step it
// belongs to: team, channel, sequence, step. A message that comes early waits in a stash. The
// source of a put is a slot at the sender. It is used again when credit for the slot at the
// receiver has come back, for then the put has read it.
//
// Owner: the program; the provider must outlive the context. Threads: the library calls it by one
// thread at a time (coll_provider.h).
#pragma once

#include <photon/photon.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

class PwcProvider {
 public:
  PwcProvider();
  PwcProvider(const PwcProvider&) = delete;
  PwcProvider& operator=(const PwcProvider&) = delete;

  // For ph_coll_provider_register(): "pwc".
  const ph_coll_provider& table() const noexcept { return table_; }

 private:
  static constexpr std::uint32_t kSlots = 16;
  static constexpr std::size_t kSlotBytes = 4096;

  // Stands at the beginning of a slot.
  struct Head {
    std::uint32_t team;
    std::uint32_t channel;
    std::uint32_t sequence;
    std::uint32_t step;
    std::uint32_t digest;
    std::uint32_t bytes;  // how many bytes follow
    std::uint64_t offset;
    std::uint64_t all;  // bytes of the message, which may take several slots
  };
  static constexpr std::size_t kMostBytes = kSlotBytes - sizeof(Head);

  // Names a message: sender, team, channel, sequence, step.
  using Key = std::tuple<ph_rank, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  struct Chunk {
    Head head;
    std::vector<std::byte> bytes;
  };

  struct Peer {
    std::unique_ptr<std::byte[]> in;  // its ring here
    ph_region in_region{};
    std::unique_ptr<std::byte[]> out;  // the sources of puts into our ring there
    ph_target there{};                 // our ring there
    std::uint32_t told = 0;            // how many of the four ids that tell `there` have come
    bool has_asked = false;            // we have asked it for a ring
    bool is_asked = false;             // it has asked us for one
    std::uint32_t free_slots = 0;
    std::uint32_t next_slot = 0;
    std::deque<std::uint64_t> words;  // ids to be sent, for which there was no room yet
  };

  enum class Action : std::uint8_t { send, receive, fold };
  // `buffer` of a fold has the left operands; the right ones are the member's own elements.
  struct Step {
    Action action;
    std::uint32_t member;
    std::uint32_t number;
    std::byte* buffer;
    std::uint64_t bytes;
  };
  // The bytes that go to one member, or come from one.
  struct Part {
    std::byte* at = nullptr;
    std::uint64_t bytes = 0;
  };
  struct Operation {
    const ph_coll_call* call;
    std::vector<Step> steps;
    std::vector<std::byte> temp;
    std::size_t at = 0;        // the step that is under way
    std::uint64_t offset = 0;  // how many of its bytes are done
    std::uint64_t size_bytes = 0;
  };
  struct Team {
    const ph_coll_team* team;
  };

  // The table's functions.
  static int takes(void* self, const ph_coll_call* call);
  static ph_status join(void* self, const ph_coll_team* team, void** state);
  static void leave(void* self, void* state);
  static ph_status begin(void* self, void* state, const ph_coll_call* call, void** op);
  static ph_status advance(void* self, void* state, void* op);
  static ph_status cancel(void* self, void* state, void* op);
  static void progress(void* self);

  static void plan(const ph_coll_team& team, Operation& op);
  static void plan_barrier(const ph_coll_team& team, Operation& op);
  static void plan_bcast(const ph_coll_team& team, std::uint32_t root, Operation& op);
  static void plan_chain(const ph_coll_team& team, Operation& op);
  static void plan_gatherv(const ph_coll_team& team, Operation& op);
  static void plan_alltoallv(const ph_coll_team& team, Operation& op);
  static Part part_of(const ph_coll_call& call, bool goes, std::uint32_t member);
  static void add(Operation& op, Action action, std::uint32_t member, Part part);

  ph_status go_on(const ph_coll_team& team, Operation& op);
  ph_status send(const ph_coll_team& team, Operation& op, const Step& step);
  ph_status receive(const ph_coll_team& team, Operation& op, const Step& step);
  ph_status look_for(ph_rank rank);
  void forget(const ph_coll_team& team, const Operation& op);

  ph_status pump();
  ph_status take(ph_rank from, std::uint64_t word);
  ph_status open_ring(ph_rank from);
  void take_data(ph_rank from, std::uint64_t word);
  void say(ph_rank to, std::uint64_t word);
  void push_words(ph_rank to);
  Peer& peer_of(ph_rank rank) { return peers_[rank]; }

  ph_coll_provider table_{};
  ph_context* lane_ = nullptr;
  std::map<ph_rank, Peer> peers_;
  std::map<Key, std::deque<Chunk>> stash_;
  std::unique_ptr<std::byte[]> id_room_;
};
