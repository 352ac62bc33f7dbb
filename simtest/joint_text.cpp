// Teams and collective operations of a program in words.
#include "simtest/program.hpp"

namespace photon::simtest {

namespace {

const char* name_of(ph_coll_kind kind) {
  constexpr const char* kNames[] = {"?",
                                    "barrier",
                                    "bcast",
                                    "reduce",
                                    "allreduce",
                                    "scan",
                                    "exscan",
                                    "gather",
                                    "gatherv",
                                    "scatter",
                                    "scatterv",
                                    "allgather",
                                    "allgatherv",
                                    "alltoall",
                                    "alltoallv",
                                    "reduce_scatter_block",
                                    "reduce_scatter"};
  return kNames[kind];
}

const char* name_of(Arithmetic arithmetic) {
  constexpr const char* kNames[] = {"int32 add",  "uint64 xor", "int8 min",
                                    "float max",  "double add", "double add in order",
                                    "double any", "own sum",    "own chain"};
  return kNames[static_cast<int>(arithmetic)];
}

}  // namespace

std::string text_of(const JointTeam& team) {
  if (team.is_shrunk) return "what is left of team " + std::to_string(team.parent);
  std::string text = team.parent == kNone ? "a team of a list, tag " + std::to_string(team.tag)
                                          : "a split of team " + std::to_string(team.parent);
  text += ", colours and keys";
  for (std::size_t rank = 0; rank < team.colours.size(); ++rank) {
    const std::int64_t colour = team.colours[rank];
    text += " " + (colour == PH_NO_COLOUR ? "none" : std::to_string(colour)) + "/" +
            std::to_string(team.keys[rank]);
  }
  if (team.after != kNone) text += ", after team " + std::to_string(team.after) + " was freed";
  return text;
}

std::string text_of(const Joint& joint) {
  switch (joint.act) {
    case Act::make: return "make team " + std::to_string(joint.team);
    case Act::free_team: return "free team " + std::to_string(joint.team);
    case Act::free_prepared: return "free";
    case Act::agree: return "agree, bits of " + std::to_string(joint.seed);
    default: break;
  }
  std::string text = joint.act == Act::prepare ? "prepare "
                     : joint.act == Act::start ? "start "
                                               : "";
  text += name_of(joint.kind);
  text += ", root " + std::to_string(joint.root) + ", " + std::to_string(joint.count) + " of " +
          name_of(joint.arithmetic);
  if (joint.is_in_place) text += ", in place";
  if (joint.counts_come) text += ", counts from senders";
  if (joint.has_gaps) text += ", gaps";
  if (joint.act == Act::prepare) text += ", started by line " + std::to_string(joint.line);
  return text;
}

}  // namespace photon::simtest
