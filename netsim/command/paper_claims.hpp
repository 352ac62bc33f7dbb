// What the text of the paper says of figures 7 and 8, and whether the cells of the matrix agree.
// Everything but the paper's own words and numbers is computed from the cells.
#pragma once

#include <string>
#include <vector>

#include "netsim/command/paper_matrix.hpp"

namespace photon::netsim::command {

struct Finding {  // of one form of the motif, with one card beside rvma
  std::string form;
  std::string side;
  double value = 0;
  bool holds = false;
};

struct Claim {
  std::string words;  // what the paper says
  std::string rule;   // what ours is, and when it agrees
  std::vector<Finding> findings;

  // "confirmed", "not confirmed", or "only with ..." and the settings.
  std::string verdict() const;
  double least() const;
  double most() const;
};

// How much faster rvma is at a place than the other side, which has a cell there: the other's time
// over rvma's.
double speed_up_at(const PaperMatrix& matrix, const PaperCell& place, std::string_view side);

// The cells have their results.
std::vector<Claim> claims_of(const PaperMatrix& matrix);

}  // namespace photon::netsim::command
