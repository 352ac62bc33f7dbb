// Drawing a program. One draw a statement: the order of evaluation must not matter.
//
//   program.cpp: settings, shape, operations      program_between.cpp: what stands between them
//   program_ends.cpp: deaths, cuts, lost links    program_lending.cpp: rendezvous
//   program_echo.cpp: the echo service
//   program_am.cpp: active messages; from draws of their own
//   program_landings.cpp: payloads of theirs that land, and prepared ones; so are these
//   program_vectored.cpp: puts and gets that become vectored; these from draws of their own
//   program_lanes.cpp: what goes by lanes, and their opening and closing; so are these
//   program_peers.cpp: first contact without an id; so is this
//   program_maps.cpp: memory of peers that is mapped; so is this
//   program_mailboxes.cpp: mailboxes; so are these
//   program_offers.cpp: their large messages; program_gets.cpp: gets from them; so are these
//   program_joints.cpp: teams and collective operations; so are these
//   program_agreements.cpp: what their members agree on; so is this
//   program_differences.cpp: members that call something else than others; so is this
//
// Owner: generate(). Threads: one.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "simtest/joint_values.hpp"
#include "simtest/program.hpp"
#include "transport/sim/sim_random.hpp"

namespace photon::simtest {

// What a program is like, drawn once.
struct Shape {
  std::uint64_t probe_percent = 0;  // how often probes follow an operation
  std::uint64_t fault_percent = 0;
  std::uint64_t overlap_percent = 0;
  std::uint64_t reads_percent = 0;  // gets from memory that changes
  std::uint64_t lent_percent = 0;   // of `extra` and `arena`
  std::uint64_t big_percent = 0;
  std::uint64_t flags_percent = 0;
  std::uint64_t request_percent = 0;
  std::uint64_t atomic_percent = 0;
  std::uint64_t vector_percent = 0;  // of puts and gets
  std::uint64_t order_percent = 0;   // fences and flushes
  std::uint64_t focus_percent = 0;   // operations that go to the focus
  ph_rank focus = 0;
  ph_rank slow = PH_ANY_RANK;  // a rank that pauses long
  std::vector<bool> leavers;   // by rank, or empty
  std::vector<bool> dying;     // the same
  bool loses_links = false;
};

class Generator {
 public:
  Generator(std::uint64_t seed, std::uint32_t ranks)
      : random_(seed),
        ends_(transport::sim::Random(seed).stream(0x656e6473)),
        rows_(transport::sim::Random(seed).stream(0x726f7773)),
        lending_(transport::sim::Random(seed).stream(0x6c656e64)),
        lanes_(transport::sim::Random(seed).stream(0x6c616e65)),
        losses_(transport::sim::Random(seed).stream(0x6c6f7373)),
        peers_(transport::sim::Random(seed).stream(0x70656572)),
        echoes_(transport::sim::Random(seed).stream(0x6563686f)),
        maps_(transport::sim::Random(seed).stream(0x6d617073)),
        mails_(transport::sim::Random(seed).stream(0x6d61696c)),
        offers_(transport::sim::Random(seed).stream(0x6f666672)),
        gets_(transport::sim::Random(seed).stream(0x67657473)),
        joints_(transport::sim::Random(seed).stream(0x6a6f696e)),
        agreements_(transport::sim::Random(seed).stream(0x61677265)),
        differences_(transport::sim::Random(seed).stream(0x64696666)),
        ams_(transport::sim::Random(seed).stream(0x616d7367)),
        landings_(transport::sim::Random(seed).stream(0x6c616e6467)) {
    program_.ranks = ranks;
    program_.steps.resize(ranks);
    next_free_.assign(ranks, kContendedBytes);
    draw_cache(transport::sim::Random(seed).stream(0x63616368));
  }

  Program run(std::uint32_t operations, const Choice& choice) {
    has_wakes_ = choice.wakes == Wakes::drawn;
    // A long program with mailboxes has more loans and large messages at a time than there would
    // be registrations.
    draw_options(operations >= 1000 && choice.mailboxes != Mailboxes::none);
    draw_shape();
    draw_leavers();
    draw_dying();
    draw_losses(choice);
    constexpr std::array<std::uint64_t, 3> kVectored = {0, 15, 60};
    shape_.vector_percent = kVectored[rows_.up_to(kVectored.size() - 1)];
    for (ph_rank rank = 0; rank < program_.ranks; ++rank)
      add_all(rank, std::max(1u, operations / program_.ranks));
    if (!shape_.loses_links) add_lending();
    add_echoes(choice.echoes);
    add_ends();
    add_losses();
    if (!shape_.loses_links) add_lanes(choice.lanes);
    add_peers(choice.peers);
    add_maps(choice.maps);
    add_mailboxes(choice.mailboxes);
    add_joints(choice.collectives);
    add_ams(choice.ams);
    program_.window_bytes = *std::max_element(next_free_.begin(), next_free_.end()) + kTailBytes;
    return std::move(program_);
  }

 private:
  template <std::size_t N>
  std::uint64_t one_of(const std::array<std::uint64_t, N>& values) {
    return values[random_.up_to(N - 1)];
  }
  bool chance(std::uint64_t percent) { return random_.up_to(99) < percent; }
  ph_rank any_rank() { return static_cast<ph_rank>(random_.up_to(program_.ranks - 1)); }
  void add(ph_rank rank, const Step& step) { program_.steps[rank].push_back(step); }

  void option(const char* name, std::uint64_t value) {
    program_.options.emplace_back(name, std::to_string(value));
  }

  void draw_cache(transport::sim::Random random);
  void draw_options(bool has_many);
  void draw_shape();
  void draw_leavers();
  void draw_dying();
  void add_ends();
  void add_somewhere(ph_rank rank, const Step& step);
  Step death();
  Step cut();
  void draw_losses(const Choice& choice);
  void add_losses();
  Step loss();
  void add_lending();
  void add_lending_at(ph_rank rank, const Step& step);
  void add_lanes(Lanes choice);
  void add_peers(Peers choice);
  void let_some_go_alone();
  void insert_drawn(ph_rank rank, Step step);
  void send_by_lanes(ph_rank rank, std::uint64_t percent);
  void open_and_close(ph_rank rank, std::uint32_t lane, std::uint64_t close_percent);
  Step announcement(ph_rank rank);
  Step about_loan();
  std::uint64_t loan_size();
  void add_echoes(Echoes choice);
  Step echo_step();
  Step question();
  Step told();
  Step echo_act();
  std::uint64_t body_size();
  void add_ams(Ams choice);
  void draw_am_options();
  std::uint64_t am_size();
  Step am_step();
  Step am_message(std::uint32_t hops);
  void draw_am_args(Step& step);
  Step am_act(std::uint32_t hops);
  void add_landings();
  Step landing_step();
  Step landed_message(bool may_act);
  Step prepared_message();
  std::uint64_t landed_size();
  AmPlace am_place(std::uint64_t size_bytes, bool may_fail);
  void add_maps(Maps choice);
  Step mapping_step();
  Step map_call();
  void add_mailboxes(Mailboxes choice);
  void draw_mailbox_options();
  std::uint64_t mail_size();
  void place_mail(Step& step);
  Step mail();
  std::uint32_t lane_of_mailbox(ph_rank rank, std::uint64_t address);
  Step mailbox_open(std::uint64_t address);
  Step mailbox_post(std::uint64_t address);
  Step mailbox_call(std::uint64_t address);
  void measure_mailboxes();
  void add_gets();
  Step mailbox_get();
  void add_offers();
  void add_joints(Collectives choice);
  void draw_joint_options();
  std::uint64_t joint_bytes();
  Joint joint();
  JointTeam joint_team();
  void add_joint_team(const JointTeam& team);
  void draw_agreements();
  bool shrinks_next() { return agrees_ && agreements_.up_to(2) == 0; }
  JointTeam shrunk_team();
  void agree_now_and_then(std::uint32_t teams);
  void add_agreement(const Joint& one);
  void add_agreements();
  void differ(Joint& one);
  void end_joint_team(std::uint32_t number);
  void add_prepared(std::uint32_t team);
  void draw_joints(std::uint64_t most);
  void add_joint_steps(ph_rank rank);
  void enlarge(Step& step);
  void take_back_at_once(ph_rank rank);
  Step mailbox_open_again(std::uint64_t address, std::uint32_t lane);
  void add_all(ph_rank rank, std::uint32_t operations);
  Step operation();
  Step contended(ph_rank peer);
  Step atomic(ph_rank peer);
  void cut_up(Step& step);
  void draw_rows(Step& step, bool is_list);
  void draw_place(Step& step);
  void draw_ids(Step& step);
  void draw_flags(Step& step);
  void draw_fault(Step& step);
  void own_range(Step& step);
  void lent_range(Step& step);
  void changing_range(Step& step);
  std::uint64_t draw_size();
  std::uint32_t draw_id_size(std::uint32_t least);
  ph_rank draw_peer();
  void add_others(ph_rank rank);
  Step query(Verb verb);
  Step handling();
  Step about_request();
  std::uint64_t known_bytes(ph_rank rank, Area area) const;
  Step find_region(ph_rank rank);
  void add_order(ph_rank rank);
  Step pause(ph_rank rank);

  transport::sim::Random random_;
  transport::sim::Random ends_;         // deaths and cuts: a program without them is as it ever was
  transport::sim::Random rows_;         // of what is vectored: the same
  transport::sim::Random lending_;      // the same
  transport::sim::Random lanes_;        // the same
  transport::sim::Random losses_;       // the same
  transport::sim::Random peers_;        // the same
  transport::sim::Random echoes_;       // the same
  transport::sim::Random maps_;         // the same
  transport::sim::Random mails_;        // the same
  transport::sim::Random offers_;       // the same
  transport::sim::Random gets_;         // the same
  transport::sim::Random joints_;       // the same
  transport::sim::Random agreements_;   // the same
  transport::sim::Random differences_;  // the same
  transport::sim::Random ams_;          // the same
  transport::sim::Random landings_;     // the same
  Program program_;
  Shape shape_;
  bool has_wakes_ = true;
  bool differs_ = false;                   // some members call something else
  bool agrees_ = false;                    // members of its teams do
  std::vector<bool> agrees_apart_;         // by team: in a line of its own
  std::vector<std::uint32_t> shrunk_;      // teams that nobody makes yet
  std::vector<std::vector<Joint>> apart_;  // by team
  std::uint64_t packed_max_ = 0;
  std::uint64_t chunk_ = 0;
  std::uint32_t id_max_ = 8;
  std::vector<std::uint64_t> next_free_;  // in each rank's window
  std::vector<std::uint64_t> next_mail_;  // in the buffers of each rank's mailboxes
};

}  // namespace photon::simtest
