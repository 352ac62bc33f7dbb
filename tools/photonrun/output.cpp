#include "output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <string_view>

namespace photonrun {
namespace {

constexpr std::size_t kMaxPendingBytes = 1 << 20;  // per sink, before the ranks have to wait
constexpr std::size_t kMaxLineBytes = 1 << 20;     // longer ones are broken

// A pipe is writable when a page of it is free (pipe(7)); files never make a writer wait for long.
std::size_t piece_bytes_of(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? 1 << 16 : PIPE_BUF;
}

}  // namespace

Output::Output()
    : sinks_{{{.fd = STDOUT_FILENO, .piece_bytes = piece_bytes_of(STDOUT_FILENO)},
              {.fd = STDERR_FILENO, .piece_bytes = piece_bytes_of(STDERR_FILENO)}}} {}

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
    const bool waits = !sink.dead && !sink.pending.empty();
    entries.push_back({.fd = waits ? sink.fd : -1, .events = POLLOUT, .revents = 0});
  }
  for (const Stream& stream : streams_) {
    entries.push_back(
        {.fd = has_room(stream.sink) ? stream.pipe.get() : -1, .events = POLLIN, .revents = 0});
  }
}

void Output::handle(const std::vector<pollfd>& entries) {
  const pollfd* entry = entries.data() + first_entry_;
  for (Sink& sink : sinks_) {
    if ((entry++)->revents != 0) write_to(sink);
  }
  for (Stream& stream : streams_) {
    if ((entry++)->revents != 0) read_from(stream);
  }
  std::erase_if(streams_, [](const Stream& stream) { return !stream.pipe; });
}

bool Output::finished() const {
  if (!streams_.empty()) return false;
  for (const Sink& sink : sinks_) {
    if (!sink.dead && !sink.pending.empty()) return false;
  }
  return true;
}

void Output::put(std::size_t sink, std::string_view text) {
  if (!sinks_[sink].dead) sinks_[sink].pending += text;
}

bool Output::has_room(std::size_t sink) const {
  return sinks_[sink].pending.size() < kMaxPendingBytes;
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
  if (sinks_[stream.sink].dead) stream.pipe.reset();
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
  Sink& sink = sinks_[stream.sink];
  if (!sink.dead) sink.pending += fmt::format("[{}] {}\n", stream.rank, stream.line);
  stream.line.clear();
}

void Output::write_to(Sink& sink) {
  const std::string_view rest = std::string_view(sink.pending).substr(sink.written_bytes);
  const ssize_t size = ::write(sink.fd, rest.data(), std::min(rest.size(), sink.piece_bytes));
  if (size < 0) {
    if (errno == EAGAIN || errno == EINTR) return;
    sink.dead = true;
    sink.pending.clear();
    for (Stream& stream : streams_) {
      if (&sinks_[stream.sink] == &sink) stream.pipe.reset();
    }
    return;
  }
  sink.written_bytes += static_cast<std::size_t>(size);
  if (sink.written_bytes == sink.pending.size()) {
    sink.pending.clear();
    sink.written_bytes = 0;
  }
}

}  // namespace photonrun
