// The matrix as files for people and programs: tables of cells and ladders, and a page that sets
// them beside what the paper says. The cells have their results.
#pragma once

#include <string>
#include <vector>

#include "netsim/command/paper_matrix.hpp"

namespace photon::netsim::command {

// The fields of a row, and more of them.
std::vector<std::string> joined(std::vector<std::string> fields,
                                const std::vector<std::string>& more);
// A line a cell, with the names of its settings and of rvma's beside the speed-up.
std::string cells_csv(const PaperMatrix& matrix);
// A line a step of the ladders of each place.
std::string ladders_csv(const PaperMatrix& matrix);
// Markdown.
std::string page_of(const PaperMatrix& matrix);

}  // namespace photon::netsim::command
