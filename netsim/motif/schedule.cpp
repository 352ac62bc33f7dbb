#include "netsim/motif/schedule.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <tuple>
#include <unordered_map>

namespace photon::netsim {
namespace {

using Kind = Schedule::Kind;

constexpr std::size_t kMostLabelBytes = 64;
constexpr std::uint64_t kMostComputeNs = 1'000'000'000;

bool is_blank(char one) { return one == ' ' || one == '\t' || one == '\r'; }

bool is_label(std::string_view word) {
  if (word.empty() || word.size() > kMostLabelBytes) return false;
  return std::all_of(word.begin(), word.end(), [](char one) {
    return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9') ||
           one == '_' || one == '.' || one == '-';
  });
}

// Reads a text line by line. Once something is wrong, `wrong_` says what, and nothing more is read.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Schedule> read() {
    while (!text_.empty() && wrong_.empty()) {
      ++line_;
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      std::string_view line = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      line = line.substr(0, line.find('#'));
      if (line.size() > kMostLineBytes) {
        say("the line", "up to " + std::to_string(kMostLineBytes) + " bytes");
        break;
      }
      rest_ = line;
      read_line();
    }
    if (wrong_.empty() && schedule_.ranks == 0) {
      ++line_;
      say("the end", "'ranks N' first");
    }
    if (wrong_.empty()) match();
    if (!wrong_.empty()) return Error{wrong_};
    return std::move(schedule_);
  }

 private:
  // The next word of the line, or an empty one.
  std::string_view word() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    std::size_t end = 0;
    while (end < rest_.size() && !is_blank(rest_[end])) ++end;
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return found;
  }

  // Notes the first thing that is wrong. A word is shown as far as it can be printed.
  void say(std::string_view shown, const std::string& allowed) {
    if (!wrong_.empty()) return;
    std::string text;
    for (const char one : shown.substr(0, 40)) text += one >= ' ' && one <= '~' ? one : '?';
    if (text.empty()) text = "the end of the line";
    wrong_ = "line " + std::to_string(line_) + ": " + text + ": allowed is " + allowed;
  }

  std::uint64_t number(const char* what, std::uint64_t least, std::uint64_t most) {
    const std::string_view found = word();
    std::uint64_t value = 0;
    const auto [rest, error] = std::from_chars(found.data(), found.data() + found.size(), value);
    if (error != std::errc{} || rest != found.data() + found.size() || value < least ||
        value > most) {
      say(found,
          std::string(what) + " from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
  }

  void read_line() {
    const std::string_view first = word();
    if (first.empty()) return;
    if (schedule_.ranks == 0) {
      if (first != "ranks") return say(first, "'ranks N' first");
      const std::uint64_t ranks = number("a number of ranks", 1, kMostScheduleRanks);
      if (wrong_.empty()) schedule_.ranks = static_cast<std::uint32_t>(ranks);
      return no_more();
    }
    std::uint32_t rank = 0;
    const auto [rest, error] = std::from_chars(first.data(), first.data() + first.size(), rank);
    if (error != std::errc{} || rest + 1 != first.data() + first.size() || *rest != ':' ||
        rank >= schedule_.ranks) {
      return say(first, "'RANK:' with a rank from 0 to " + std::to_string(schedule_.ranks - 1));
    }
    if (schedule_.operations.size() == kMostOperations) {
      return say(first, "up to " + std::to_string(kMostOperations) + " operations");
    }
    read_operation(rank);
  }

  void read_operation(std::uint32_t rank) {
    const std::string_view label = word();
    if (!is_label(label)) {
      return say(label, "a label of up to 64 letters, digits and _ . -");
    }
    Schedule::Operation operation;
    operation.rank = rank;
    const std::string_view kind = word();
    if (kind == "compute") {
      operation.duration = number("nanoseconds", 0, kMostComputeNs) * kPicosecondsPerNs;
    } else if (kind == "send" || kind == "receive") {
      operation.kind = kind == "send" ? Kind::send : Kind::receive;
      read_message(operation);
    } else {
      return say(kind, "compute, send or receive");
    }
    if (wrong_.empty()) read_after(operation);
    if (!wrong_.empty()) return;
    const auto index = static_cast<std::uint32_t>(schedule_.operations.size());
    if (!labels_.emplace(key_of(rank, label), index).second) {
      return say(label, "a label that the rank has not used above");
    }
    schedule_.operations.push_back(operation);
  }

  void read_message(Schedule::Operation& operation) {
    operation.peer = static_cast<std::uint32_t>(number("a rank", 0, schedule_.ranks - 1));
    if (operation.peer == operation.rank) say(std::to_string(operation.peer), "another rank");
    operation.bytes = static_cast<std::uint32_t>(number("bytes", 1, 0xffffffff));
    operation.tag = static_cast<std::uint16_t>(number("a tag", 0, 0xffff));
  }

  void read_after(Schedule::Operation& operation) {
    std::string_view next = word();
    if (next.empty()) return;
    if (next != "after") return say(next, "'after LABEL...' or the end of the line");
    const auto index = static_cast<std::uint32_t>(schedule_.operations.size());
    for (next = word(); wrong_.empty() && (!next.empty() || operation.waits == 0); next = word()) {
      const auto found = labels_.find(key_of(operation.rank, next));
      if (found == labels_.end()) return say(next, "a label that the rank has used above");
      if (schedule_.edges.size() == kMostEdges) {
        return say(next, "up to " + std::to_string(kMostEdges) + " dependencies");
      }
      schedule_.edges.push_back({found->second, index});
      ++operation.waits;
    }
  }

  void no_more() {
    const std::string_view more = word();
    if (!more.empty()) say(more, "the end of the line");
  }

  static std::string key_of(std::uint32_t rank, std::string_view label) {
    return std::to_string(rank) + ':' + std::string(label);
  }

  // Every send needs its receive: all messages with one source, destination and tag are of one
  // size, because they may overtake each other, and there are as many receives as sends.
  void match();

  std::string_view text_;
  std::string_view rest_;  // of the line
  std::size_t line_ = 0;
  std::string wrong_;
  Schedule schedule_;
  std::unordered_map<std::string, std::uint32_t> labels_;  // rank:label -> operation
};

void Reader::match() {
  using Row = std::tuple<std::uint32_t, std::uint32_t, std::uint16_t, std::uint32_t, bool>;
  std::vector<Row> rows;  // source, destination, tag, bytes, is a send
  for (const auto& one : schedule_.operations) {
    if (one.kind == Kind::send) rows.emplace_back(one.rank, one.peer, one.tag, one.bytes, true);
    if (one.kind == Kind::receive) rows.emplace_back(one.peer, one.rank, one.tag, one.bytes, false);
  }
  std::sort(rows.begin(), rows.end());
  for (std::size_t i = 0; i < rows.size();) {
    const auto [source, destination, tag, bytes, _] = rows[i];
    std::int64_t balance = 0;
    bool is_of_one_size = true;
    for (; i < rows.size() && std::get<0>(rows[i]) == source &&
           std::get<1>(rows[i]) == destination && std::get<2>(rows[i]) == tag;
         ++i) {
      balance += std::get<4>(rows[i]) ? 1 : -1;
      is_of_one_size = is_of_one_size && std::get<3>(rows[i]) == bytes;
    }
    if (balance == 0 && is_of_one_size) continue;
    wrong_ = "messages from rank " + std::to_string(source) + " to " + std::to_string(destination) +
             " with tag " + std::to_string(tag) +
             ": allowed is a receive for each send, all of one size";
    return;
  }
}

}  // namespace

Result<Schedule> read_schedule(std::string_view text) { return Reader(text).read(); }

}  // namespace photon::netsim
