// A real sshd on a free port of 127.0.0.0/8, for jobs that photonrun starts by ssh: each address
// there is a host to it. Its keys, its configuration and its log lie in a folder of its own, which
// is also the home of those who log in: else their shells would run what the user of this machine
// has for his, which may take a second a login, or wait for the other logins.
// Invariant: runs as who runs the tests, and is gone with this object. Owner: one test.
#pragma once

#include <arpa/inet.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "launched.hpp"

namespace photon::test {

class SshServer {
 public:
  SshServer() : folder_(make_folder()) {
    if (folder_.empty()) {
      failure_ = "no temporary folder";
      return;
    }
    if (::access(program().c_str(), X_OK) != 0 || !run("command -v ssh ssh-keygen")) {
      why_ = "no sshd or no ssh here (scripts/install-deps test)";
      return;
    }
    // sshd of root insists on this folder, which the system's own makes when it starts.
    if (::geteuid() == 0) static_cast<void>(::mkdir("/run/sshd", 0755));
    for (const char* const key : {"host", "mine", "other"}) {
      if (!run("ssh-keygen -q -t ed25519 -N '' -f " + path(key))) failure_ = "ssh-keygen fails";
    }
    if (!failure_.empty()) return;
    std::filesystem::copy_file(path("mine.pub"), path("authorized"));
    for (int tries = 0; tries < 10 && pid_ == 0; ++tries) start(free_port());
    if (pid_ == 0) failure_ = "sshd does not start: " + said_;
  }
  ~SshServer() {
    stop();
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  SshServer(const SshServer&) = delete;
  SshServer& operator=(const SshServer&) = delete;

  // What this machine lacks; empty: nothing.
  const std::string& why_not() const { return why_; }
  // It is all here and does not run; empty: it does.
  const std::string& failure() const { return failure_; }
  // For --ssh; `key`: "mine" may come in, "other" may not.
  std::string command(const std::string& key = "mine") const {
    return "ssh -F none -p " + std::to_string(port_) + " -i " + path(key) +
           " -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o LogLevel=ERROR"
           " -o UserKnownHostsFile=" +
           path("known");
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  static std::string program() { return "/usr/sbin/sshd"; }
  static bool run(const std::string& command) {
    return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
  }
  static std::string make_folder() {
    std::string name = testing::TempDir() + "photon-ssh.XXXXXX";
    return ::mkdtemp(name.data()) ? name : "";
  }

  static int free_port() {
    const base::UniqueFd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{};
    at.sin_family = AF_INET;  // any address: sshd is to listen at several
    socklen_t bytes = sizeof at;
    static_cast<void>(::bind(probe.get(), reinterpret_cast<sockaddr*>(&at), sizeof at));
    static_cast<void>(::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&at), &bytes));
    return ntohs(at.sin_port);
  }

  void configure() const {
    std::ofstream file(path("config"));
    for (const char* const address : {"127.0.0.1", "127.0.0.2", "127.0.0.3"}) {
      file << "ListenAddress " << address << ":" << port_ << "\n";
    }
    file << "HostKey " << path("host") << "\nAuthorizedKeysFile " << path("authorized")
         << "\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
            "KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
            "MaxStartups 100\nSetEnv HOME="
         << folder_ << "\n";
  }

  // Another process may have taken the port: then it ends, and is started with the next one.
  void start(int port) {
    port_ = port;
    configure();
    std::ofstream(path("log")) << "";
    // Told of what is written there, and when its last writer has closed it.
    const base::UniqueFd news(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (::inotify_add_watch(news.get(), path("log").c_str(), IN_MODIFY | IN_CLOSE_WRITE) < 0)
      return;
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(99);
      ::dup2(::open(path("log").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC), STDERR_FILENO);
      ::dup2(::open("/dev/null", O_RDWR), STDIN_FILENO);
      ::dup2(STDIN_FILENO, STDOUT_FILENO);
      ::execl(program().c_str(), program().c_str(), "-D", "-e", "-f", path("config").c_str(),
              nullptr);
      ::_exit(99);
    }
    if (!await_listening(news.get())) stop();
  }

  // It says so of each of its addresses, or why not.
  bool await_listening(int news) {
    for (bool is_over = false;;) {
      std::stringstream text;
      text << std::ifstream(path("log")).rdbuf();
      said_ = text.str();
      std::size_t count = 0;
      for (std::size_t at = 0; (at = said_.find("Server listening", at)) != std::string::npos; ++at)
        ++count;
      if (count == 3) return true;
      if (said_.find("Cannot bind") != std::string::npos || is_over) return false;
      pollfd entry{.fd = news, .events = POLLIN, .revents = 0};
      alignas(inotify_event) char events[4096];
      if (::poll(&entry, 1, 20'000) != 1) return false;
      const ssize_t size = ::read(news, events, sizeof events);
      for (ssize_t at = 0; at < size;) {
        const auto* const event = reinterpret_cast<const inotify_event*>(events + at);
        is_over = is_over || (event->mask & IN_CLOSE_WRITE) != 0;
        at += static_cast<ssize_t>(sizeof *event + event->len);
      }
    }
  }

  void stop() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

  const std::string folder_;
  std::string why_;
  std::string failure_;
  std::string said_;
  int port_ = 0;
  pid_t pid_ = 0;
};

}  // namespace photon::test
