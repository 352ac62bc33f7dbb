// Cells of a matrix, each with a result in a file of its own in one folder.
//
// A cell's file is named by a hash of its complete settings and of the model's version, and is
// there whole or not at all. A file that is no whole result of exactly these settings is none: the
// cell is run again. So what was killed and is started again runs what is missing.
#pragma once

#include <string>
#include <vector>

#include "netsim/clock/result.hpp"
#include "netsim/run/settings.hpp"

namespace photon::netsim::command {

struct Cell {
  Settings settings;
  std::string what;  // what tells it from the others, for sentences
  std::string path;  // of its result
};

// What names the settings' result among all others; fails if motif.file cannot be read.
Result<std::string> cell_name(const Settings& settings);
std::string path_in(const std::string& folder, const std::string& cell_name);

// A folder that one process works in at a time. Owner: whoever runs cells there.
class CellFolder {
 public:
  // Makes it where it is missing, and removes what killed processes left half written.
  static Result<CellFolder> open(const std::string& path);
  CellFolder(CellFolder&& other) noexcept;
  CellFolder& operator=(CellFolder&&) = delete;
  ~CellFolder();

 private:
  explicit CellFolder(int file) : file_(file) {}
  int file_;  // locked
};

struct CellsDone {
  std::size_t run_now = 0;
  std::size_t failed = 0;
};

// Runs what is missing, in the cells' order, and says on the error output what fails. The folder is
// open.
CellsDone run_cells(const std::vector<Cell>& cells, std::uint32_t jobs);

}  // namespace photon::netsim::command
