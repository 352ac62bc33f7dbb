// Groups: lists of PEs with a name, which is the PE that established it and its number there.
//
//   unknown -- CmiEstablishGroup(), or its definition has come --> known, until the end
//   unknown -- multicast --> awaited: messages wait -- the definition has come --> known, they go
//
// Invariant: a group that is known does not change; one that is awaited has messages that wait.
// Owner: each PE has all of them. Threads: that of the PE.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "converse/base/pe.hpp"

namespace photon::converse {

struct Group {
  bool is_known = false;
  bool is_list = false;     // a PE stands twice, so libphoton_task has no group for it
  bool has_number = false;  // of libphoton_task, from the first multicast of this PE on
  std::uint32_t number = 0;
  std::vector<std::uint32_t> pes;
  std::vector<ph_task_message*> waiting;
};

struct Groups {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Group> all;  // by PE and number there
  std::uint32_t established = 0;                                 // here
  std::uint32_t on_definition = 0;
};

void start_groups(Pe& pe);

}  // namespace photon::converse
