#include "output.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>

#include "rank_process.hpp"

namespace photonrun {

void Output::add(unsigned rank, Fd output, Fd error) {
  for (const Fd* const pipe : {&output, &error}) {
    ::fcntl(pipe->get(), F_SETFL, O_NONBLOCK);  // our end only: a pipe's ends have own flags
  }
  streams_.push_back({.rank = rank, .sink = 0, .pipe = std::move(output)});
  streams_.push_back({.rank = rank, .sink = 1, .pipe = std::move(error)});
}

void Output::want(std::vector<pollfd>& entries) {
  first_entry_ = entries.size();
  for (const Sink& sink : sinks_) {
    entries.push_back({.fd = sink.fd(), .events = POLLOUT, .revents = 0});
  }
  for (const Stream& stream : streams_) {
    entries.push_back(
        {.fd = has_room(stream.sink) ? stream.pipe.get() : -1, .events = POLLIN, .revents = 0});
  }
}

void Output::handle(const std::vector<pollfd>& entries) {
  const pollfd* entry = entries.data() + first_entry_;
  for (Sink& sink : sinks_) {
    if ((entry++)->revents != 0) flush(sink);
  }
  for (Stream& stream : streams_) {
    if ((entry++)->revents != 0) read_from(stream);
  }
  std::erase_if(streams_, [](const Stream& stream) { return !stream.pipe; });
}

bool Output::finished() const {
  if (!streams_.empty()) return false;
  return std::ranges::all_of(sinks_, [](const Sink& sink) { return sink.is_empty(); });
}

int Output::loss_status() const {
  int status = 0;
  for (const Sink& sink : sinks_) {
    if (sink.is_dead() && !sink.is_hung_up()) return kLauncherStatus;
    if (sink.is_dead()) status = 128 + SIGPIPE;
  }
  return status;
}

std::string Output::unwritten() const {
  constexpr std::array kNames{"standard output", "standard error"};
  std::string text;
  for (std::size_t i = 0; i < sinks_.size(); ++i) {
    if (sinks_[i].is_empty()) continue;
    text += fmt::format("{}{} bytes of {}", text.empty() ? "" : " and ", sinks_[i].pending_bytes(),
                        kNames[i]);
  }
  return text.empty() ? "the end of what ranks write" : text;
}

void Output::put(std::size_t sink, std::string_view text) { sinks_[sink].put(text); }

void Output::say(std::string_view text) {
  if (!is_heard_) return;
  sinks_[1].put(fmt::format("photonrun: {}\n", text));
  flush(sinks_[1]);
}

void Output::write_rest(std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + time;
  for (;;) {
    for (Sink& sink : sinks_) flush(sink);
    if (std::ranges::all_of(sinks_, [](const Sink& sink) { return sink.is_empty(); })) return;
    pollfd entries[2] = {{.fd = sinks_[0].fd(), .events = POLLOUT, .revents = 0},
                         {.fd = sinks_[1].fd(), .events = POLLOUT, .revents = 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0 || ::poll(entries, 2, static_cast<int>(left)) == 0) return;
  }
}

void Output::read_from(Stream& stream) {
  std::array<char, 1 << 16> text;
  const ssize_t size = ::read(stream.pipe.get(), text.data(), text.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size > 0) {
    take(stream, text.data(), static_cast<std::size_t>(size));
  } else {
    if (!stream.line.empty()) finish_line(stream);
    stream.pipe.reset();
  }
  if (sinks_[stream.sink].is_dead()) stream.pipe.reset();
}

void Output::take(Stream& stream, const char* text, std::size_t size_bytes) {
  std::string_view rest(text, size_bytes);
  while (!rest.empty()) {
    const std::size_t newline = rest.find('\n');
    stream.line += rest.substr(0, newline);
    const bool complete = newline != std::string_view::npos;
    if (complete || stream.line.size() >= kMaxLineBytes) finish_line(stream);
    if (!complete) return;
    rest.remove_prefix(newline + 1);
  }
}

void Output::finish_line(Stream& stream) {
  sinks_[stream.sink].put(fmt::format("[{}] {}\n", stream.rank, stream.line));
  stream.line.clear();
}

void Output::flush(Sink& sink) {
  const bool was_dead = sink.is_dead();
  sink.flush();
  if (was_dead || !sink.is_dead()) return;
  for (Stream& stream : streams_) {
    if (&sinks_[stream.sink] == &sink) stream.pipe.reset();
  }
  const bool can_tell = &sink == &sinks_[0] && !sinks_[1].is_dead();
  if (!can_tell || sink.is_hung_up()) return;  // who left knows it
  say(fmt::format("cannot write standard output: {}; output is lost",
                  sink.error() == EBADF ? "it is closed" : std::strerror(sink.error())));
}

}  // namespace photonrun
