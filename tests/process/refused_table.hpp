// The table of docs/containers.md, and how it is compared with what a machine does: only where the
// machine itself refuses nothing that a row or a column needs.
// Owner: none (values and pure functions).
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace photon::test {

struct RefusedRow {
  std::string call, used_for, by_auto, by_tcp;
};
using RefusedTable = std::vector<RefusedRow>;

struct Machine {
  std::set<std::string> refused;  // calls, to everybody
  bool goes_by_shm = true;        // a job to which nothing more is refused: by auto
  bool goes_by_tcp = true;        // and where tcp is asked for
};

inline std::set<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

inline std::string markdown_of(const RefusedTable& table) {
  std::string text =
      "| refused | used for | by `auto` | by `PHOTON_TRANSPORT=tcp` |\n|---|---|---|---|\n";
  for (const RefusedRow& row : table)
    text += "| `" + row.call + "` | " + row.used_for + " | " + row.by_auto + " | " + row.by_tcp +
            " |\n";
  return text;
}

// Of a text as above.
inline RefusedTable table_in(const std::string& text) {
  std::istringstream stream(text);
  RefusedTable table;
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("| `")) continue;
    RefusedRow row;
    std::size_t at = 2;
    for (std::string* cell : {&row.call, &row.used_for, &row.by_auto, &row.by_tcp}) {
      const std::size_t end = std::min(line.find(" | ", at), line.rfind(" |"));
      *cell = line.substr(at, end - at);
      at = end + 3;
    }
    row.call = row.call.substr(1, row.call.size() - 2);
    table.push_back(row);
  }
  return table;
}

struct Comparison {
  std::string differences;  // a line each
  std::string left_out;     // in words; empty: nothing
};

inline Comparison compare(const RefusedTable& page, const RefusedTable& here,
                          const Machine& machine) {
  Comparison result;
  const auto look = [&](const RefusedRow& row, const char* column, const std::string& said,
                        const std::string& found) {
    if (said != found)
      result.differences +=
          row.call + ", by " + column + ": " + said + " on the page, " + found + " here\n";
  };
  const auto leave_out = [&](const std::string& what, const char* before) {
    const char* opening = "this machine refuses calls or transports itself; not compared: ";
    result.left_out += (result.left_out.empty() ? opening : before) + what;
  };
  if (page.size() != here.size()) result.differences += "the page has other calls\n";
  for (std::size_t i = 0; i < std::min(page.size(), here.size()); ++i) {
    const RefusedRow &said = page[i], &found = here[i];
    if (said.call != found.call || said.used_for != found.used_for)
      result.differences +=
          found.call + ": the page has " + said.call + ", " + said.used_for + "\n";
    if (machine.refused.contains(found.call)) {
      leave_out(found.call, ", ");
      continue;
    }
    if (machine.goes_by_shm) look(found, "auto", said.by_auto, found.by_auto);
    if (machine.goes_by_tcp) look(found, "tcp", said.by_tcp, found.by_tcp);
  }
  if (!machine.goes_by_shm) leave_out("by auto: all of them", "; ");
  if (!machine.goes_by_tcp) leave_out("by tcp: all of them", "; ");
  if (!result.left_out.empty()) result.left_out += "\n";
  return result;
}

}  // namespace photon::test
