// The choices of algorithms that the settings make, and what was taken: counted by kind and
// algorithm.
//
// Members of a team have to choose alike. Each tells the next of the team the hash of its choices
// and of what it knows of the team's hosts, once, when it first uses the team: in a ring any two
// that differ have two neighbours between them that do.
// Owner: Collectives, under the lane's lock.
#pragma once

#include <photon/coll.h>

#include <array>
#include <cstdint>

#include "base/config.hpp"
#include "base/result.hpp"
#include "schedule/choice.hpp"
#include "service/coll/operation.hpp"
#include "service/coll/post.hpp"

namespace photon::service::coll {

// PH_ERR_CONFIG: the setting, and what is wrong with it.
base::Result<schedule::Choices> choices_of(const base::Config& config);

class Tally {
 public:
  struct Row {
    std::uint64_t operations = 0;
    std::uint64_t bytes = 0;
  };
  void count(schedule::NamedKind kind, schedule::Algorithm algorithm,
             std::uint64_t bytes) noexcept {
    Row& row = rows_[kind][static_cast<std::size_t>(algorithm)];
    ++row.operations;
    row.bytes += bytes;
  }
  // `use(kind, algorithm, row)` of each that is not 0.
  template <class Use>
  void each(Use use) const {
    for (schedule::NamedKind kind = 0; kind < schedule::kNamedKinds; ++kind)
      for (std::uint32_t i = 0; i < schedule::kAlgorithms; ++i)
        if (rows_[kind][i].operations != 0)
          use(kind, static_cast<schedule::Algorithm>(i), rows_[kind][i]);
  }

 private:
  std::array<std::array<Row, schedule::kAlgorithms>, schedule::kNamedKinds> rows_{};
};

class Choosing {
 public:
  explicit Choosing(Port& port);

  const schedule::Choices& choices() const noexcept { return choices_; }
  bool checks() const noexcept { return checks_; }
  const Tally& tally() const noexcept { return tally_; }
  // What is known of the hosts of a team that is new. `names`, if there are any: of each member's
  // host, as it has told. Throws bad_alloc.
  static void lay_out(const Port& port, Team& team, std::vector<Rank> names = {});

  // An operation has begun: it is counted, and the log says, once for each kind, that it is not
  // done as was wanted.
  void begun(const Plan& plan) noexcept;
  // To the log, where all counters go.
  void print() const noexcept;

  // The message to the next of the team, and what is made of that of another.
  ph_status tell(Post& post, const Team& team) const;
  // False: malformed. `why`: it chooses otherwise, if its status is not PH_OK.
  bool hear(const Message& message, const Team& team, std::uint32_t member, Blame& why) const;

 private:
  void say_instead(const Plan& plan) const noexcept;
  // Of all that the choices of a team's members follow from.
  std::uint64_t hash_for(const Team& team) const noexcept;

  const base::Log log_;
  const bool checks_;
  const schedule::Choices choices_;
  Tally tally_;
  std::array<bool, schedule::kNamedKinds> was_said_{};
};

}  // namespace photon::service::coll
