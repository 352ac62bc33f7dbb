#include "netsim/command/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace photon::netsim::command {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

Error because_of_errno(const std::string& path, const char* what) {
  return {path + ": it " + what + ": " + std::strerror(errno)};
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool is_plain_or_missing(const std::string& path) {
  struct stat its {};
  return ::stat(path.c_str(), &its) != 0 || S_ISREG(its.st_mode);
}

// Devices and pipes, as /dev/null, are written in place: they cannot be replaced.
Result<Nothing> write_in_place(const std::string& path, std::string_view text) {
  const int file = path == "-" ? ::dup(1) : ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return because_of_errno(path, "cannot be written");
  const bool is_written = write_all(file, text);
  const Error error = because_of_errno(path, "cannot be written");
  ::close(file);
  return is_written ? Result<Nothing>(Nothing{}) : Result<Nothing>(error);
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return because_of_errno(path, "cannot be read");
  std::string text;
  char block[65536];
  ssize_t count = 0;
  while ((count = ::read(file, block, sizeof block)) > 0 || (count < 0 && errno == EINTR)) {
    if (count > 0) text.append(block, static_cast<std::size_t>(count));
    if (text.size() > kMostBytes) break;
  }
  const Error error = because_of_errno(path, "cannot be read");
  ::close(file);
  if (text.size() > kMostBytes) return Error{path + ": it is larger than 1 GiB, which is allowed"};
  if (count < 0) return error;
  return text;
}

Result<Nothing> write_file(const std::string& path, std::string_view text) {
  if (path == "-" || !is_plain_or_missing(path)) return write_in_place(path, text);
  const std::string part = path + "." + std::to_string(::getpid()) + ".part";
  const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return because_of_errno(path, "cannot be written");
  const bool is_written = write_all(file, text) && ::fsync(file) == 0;
  const int why = errno;
  const bool is_closed = ::close(file) == 0;
  if (!is_written) errno = why;
  if (!is_written || !is_closed || std::rename(part.c_str(), path.c_str()) != 0) {
    const Error error = because_of_errno(path, "cannot be written");
    ::unlink(part.c_str());
    return error;
  }
  // The name is durable with its folder.
  const int folder = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
  return Nothing{};
}

Result<Nothing> check_writable(const std::string& path) {
  if (path == "-") return Nothing{};
  struct stat its {};
  const bool is_there = ::stat(path.c_str(), &its) == 0;
  if (is_there && S_ISDIR(its.st_mode)) return Error{path + ": it is a folder, not a file"};
  const bool is_in_place = is_there && !S_ISREG(its.st_mode);
  const std::string asked = is_in_place ? path : folder_of(path);
  if (::access(asked.c_str(), is_in_place ? W_OK : W_OK | X_OK) != 0) {
    return because_of_errno(path, "cannot be written");
  }
  return Nothing{};
}

}  // namespace photon::netsim::command
