// Unmodified network programs over streams: rank 0 listens for their connections, rank 1 connects
// to their server, and between the two ranks the bytes travel in streams, whatever the transport.
//
//   photonrun -n 2 stream_bridge --to 8080 [--listen 9090] [--connections 4]
//
// A client then talks to 127.0.0.1:9090 as if it were the server at 127.0.0.1:8080. Without
// --listen the system chooses the port, which is printed. After so many connections the job ends.
// Each rank is one thread in an event loop: it does what it can without waiting, arms Photon's
// descriptor, and polls it together with its sockets.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <photon/photon.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <string_view>
#include <vector>

namespace {

constexpr std::uint32_t kStreamPort = 1;
constexpr std::size_t kBufferBytes = 64 * 1024;

struct Arguments {
  in_port_t listen = 0;
  in_port_t to = 0;
  unsigned connections = 0;  // 0: no end
};

[[noreturn]] void give_up(const char* what, const char* why) {
  std::fprintf(stderr, "stream_bridge: %s: %s\n", what, why);
  std::exit(1);
}

Arguments parse(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = words[i];
    const unsigned long value = std::strtoul(words[i + 1], nullptr, 10);
    if (name == "--listen")
      arguments.listen = static_cast<in_port_t>(value);
    else if (name == "--to")
      arguments.to = static_cast<in_port_t>(value);
    else if (name == "--connections")
      arguments.connections = static_cast<unsigned>(value);
    else
      give_up(words[i], "is unknown; there are --to, --listen and --connections");
  }
  if (arguments.to == 0) give_up("--to", "the port of the server is missing");
  return arguments;
}

sockaddr_in loopback(in_port_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

int listening_socket(in_port_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in at = loopback(port);
  socklen_t size = sizeof at;
  if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
      ::listen(fd, SOMAXCONN) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0)
    give_up("cannot listen", std::strerror(errno));
  std::printf("listening at %u\n", unsigned{ntohs(at.sin_port)});
  std::fflush(stdout);
  return fd;
}

int connected_socket(in_port_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in at = loopback(port);
  if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 &&
      ::fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
    return fd;
  std::fprintf(stderr, "stream_bridge: no connection to the server: %s\n", std::strerror(errno));
  if (fd >= 0) ::close(fd);
  return -1;
}

// Bytes that were read and are not written yet.
struct Buffer {
  std::array<std::byte, kBufferBytes> bytes;
  std::size_t begin = 0, end = 0;
  bool has_ended = false;  // nothing more is read into it
  bool is_told = false;    // the other side knows
  bool is_empty() const { return begin == end; }
  bool wants_more() const { return is_empty() && !has_ended; }
};

// A socket and a stream, and what is between them.
//   open -- both ways have ended, or one side is broken --> over
class Relay {
 public:
  Relay(int fd, ph_stream* stream) : fd_(fd), stream_(stream) {}
  ~Relay() {
    ::close(fd_);
    ph_stream_close(stream_);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // Does what can be done now: true, something was.
  bool turn() {
    bool moved = false;
    for (bool again = true; again && !is_broken_;) {
      again = from_socket() || to_stream() || from_stream() || to_socket();
      moved = moved || again;
    }
    return moved;
  }
  bool is_over() const { return is_broken_ || (out_.is_told && in_.is_told); }
  pollfd interest() const {
    const int events = (out_.wants_more() ? POLLIN : 0) | (in_.is_empty() ? 0 : POLLOUT);
    return {fd_, static_cast<short>(events), 0};
  }

 private:
  bool from_socket() {
    if (!out_.wants_more()) return false;
    const ssize_t count = ::recv(fd_, out_.bytes.data(), out_.bytes.size(), 0);
    if (count < 0) return blocked();
    out_.begin = 0;
    out_.end = static_cast<std::size_t>(count);
    out_.has_ended = count == 0;
    return true;
  }
  bool to_socket() {
    if (in_.is_empty()) {
      if (!in_.has_ended || in_.is_told) return false;
      ::shutdown(fd_, SHUT_WR);
      return in_.is_told = true;
    }
    const ssize_t count =
        ::send(fd_, in_.bytes.data() + in_.begin, in_.end - in_.begin, MSG_NOSIGNAL);
    if (count < 0) return blocked();
    in_.begin += static_cast<std::size_t>(count);
    return true;
  }
  bool blocked() {
    if (errno == EINTR) return true;
    is_broken_ = errno != EAGAIN && errno != EWOULDBLOCK;
    return false;
  }

  bool from_stream() {
    if (!in_.wants_more()) return false;
    std::size_t count = 0;
    const ph_status status = ph_stream_read(stream_, in_.bytes.data(), in_.bytes.size(), &count);
    if (status != PH_OK) return refused(status);
    in_.begin = 0;
    in_.end = count;
    in_.has_ended = count == 0;
    return true;
  }
  bool to_stream() {
    if (out_.is_empty()) {
      if (!out_.has_ended || out_.is_told) return false;
      const ph_status status = ph_stream_shutdown(stream_);
      if (status != PH_OK) return refused(status);
      return out_.is_told = true;
    }
    std::size_t count = 0;
    const ph_status status =
        ph_stream_write(stream_, out_.bytes.data() + out_.begin, out_.end - out_.begin, &count);
    if (status != PH_OK) return refused(status);
    out_.begin += count;
    return true;
  }
  bool refused(ph_status status) {
    is_broken_ = status < PH_OK;
    return false;
  }

  const int fd_;
  ph_stream* const stream_;
  Buffer out_;  // from the socket to the stream
  Buffer in_;   // from the stream to the socket
  bool is_broken_ = false;
};

class Bridge {
 public:
  Bridge(ph_context* context, const Arguments& arguments)
      : context_(context), arguments_(arguments) {
    if (ph_streams_open(context, nullptr, &streams_) != PH_OK) give_up("no streams", "");
    if (ph_event_fd(context, &event_fd_) != PH_OK)
      give_up("no descriptor of news", "this transport has none");
    if (ph_rank_of(context) == 1 && ph_stream_listen(streams_, kStreamPort, &listener_) != PH_OK)
      give_up("no port", "");
    if (ph_barrier(context) != PH_OK) give_up("barrier", "the other rank has not come");
    if (ph_rank_of(context) == 0) socket_ = listening_socket(arguments.listen);
  }

  void run() {
    while (arguments_.connections == 0 || begun_ < arguments_.connections || !relays_.empty()) {
      bool moved = ph_rank_of(context_) == 0 ? take_sockets() : take_streams();
      for (const auto& relay : relays_) moved = relay->turn() || moved;
      relays_.remove_if([](const auto& relay) { return relay->is_over(); });
      if (!moved && ph_event_arm(context_) == PH_OK) sleep();
    }
    ph_streams_close(streams_, PH_FOREVER);
    if (socket_ >= 0) ::close(socket_);
  }

 private:
  // Rank 0: programs that connect.
  bool take_sockets() {
    if (waiting_ < 0) waiting_ = ::accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (waiting_ < 0) return false;
    ph_stream* stream = nullptr;
    const ph_status status = ph_stream_connect(streams_, 1, kStreamPort, &stream);
    if (status == PH_AGAIN) return false;
    if (status == PH_OK)
      relays_.push_back(std::make_unique<Relay>(waiting_, stream));
    else
      ::close(waiting_);
    waiting_ = -1;
    ++begun_;
    return true;
  }
  // Rank 1: streams, each for a connection to the server.
  bool take_streams() {
    ph_stream* stream = nullptr;
    if (ph_stream_accept(listener_, &stream, 0) != PH_OK) return false;
    ++begun_;
    if (const int fd = connected_socket(arguments_.to); fd >= 0)
      relays_.push_back(std::make_unique<Relay>(fd, stream));
    else
      ph_stream_close(stream);
    return true;
  }
  void sleep() {
    std::vector<pollfd> all{{event_fd_, POLLIN, 0}};
    if (socket_ >= 0) all.push_back({socket_, POLLIN, 0});
    for (const auto& relay : relays_) all.push_back(relay->interest());
    ::poll(all.data(), all.size(), -1);
  }

  ph_context* const context_;
  const Arguments arguments_;
  ph_streams* streams_ = nullptr;
  ph_listener* listener_ = nullptr;
  int event_fd_ = -1;
  int socket_ = -1;
  int waiting_ = -1;  // a program that has connected, and has no stream yet
  unsigned begun_ = 0;
  std::list<std::unique_ptr<Relay>> relays_;
};

}  // namespace

int main(int count, char** words) {
  const Arguments arguments = parse(count, words);
  ph_context* context = nullptr;
  ph_error error{};
  if (ph_context_create(nullptr, &context, &error) != PH_OK) give_up("cannot join", error.text);
  if (ph_size_of(context) != 2) give_up("ranks", "there have to be two: photonrun -n 2");
  Bridge(context, arguments).run();
  const ph_status status = ph_finalize(context);
  if (status != PH_OK) {
    ph_last_error(context, &error);
    std::fprintf(stderr, "stream_bridge: finalize: %s\n", error.text);
  }
  ph_context_destroy(context);
  return status == PH_OK ? 0 : 1;
}
