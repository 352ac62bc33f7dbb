// Names of hosts that are looked up: by name servers that say nothing, and the name of this host,
// which it itself may call a loopback address.
#include <sys/stat.h>

#include "launched.hpp"

namespace photon::test {
namespace {

using Command = std::vector<std::string>;

// A host of its own called debby, at 10.77.9.1; itself and "both" are what /etc/hosts says. Its
// name server hears and says nothing: then "asked" stands on standard error.
class HostsNames : public testing::Test {
 protected:
  HostsNames() : folder_(testing::TempDir() + "photon-names.XXXXXX") {
    ::setenv("PHOTON_JOB_KEY", "a key of the tests, long enough", 1);
    if (!::mkdtemp(folder_.data())) return;
    file("hosts", "127.0.0.1 localhost\n127.0.1.1 debby\n10.77.9.1 both\n127.0.0.1 both\n");
    file("resolv.conf", "nameserver 127.0.0.1\noptions timeout:5 attempts:1\n");
    file("host",
         "mount --make-rprivate / && ip link set lo up && hostname debby && "
         "ip link add v0 type veth peer name v1 && ip address add 10.77.9.1/24 dev v0 && "
         "ip link set v0 up && ip link set v1 up && cd \"${0%/*}\" && "
         "mount --bind hosts /etc/hosts && mount --bind resolv.conf /etc/resolv.conf && "
         "exec python3 server \"$@\"");
    file("server",
         "import os, signal, socket, sys\n"
         "server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
         "server.bind(('127.0.0.1', 53))\n"
         "if os.fork() == 0:\n"
         "    server.recv(512)\n"
         "    os.write(2, b'asked\\n')\n"
         "    signal.pause()\n"
         "os.execvp(sys.argv[1], sys.argv[1:])\n");
    // Stands for ssh, which alone knows where that host is.
    file("ssh", "#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n");
    ::chmod((folder_ + "/ssh").c_str(), S_IRWXU);
  }
  ~HostsNames() override {
    ::unsetenv("PHOTON_JOB_KEY");
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  void SetUp() override {
    Launched probe({"-n", "1", "true"}, there());  // which takes the server along
    if (probe.wait() != 0) GTEST_SKIP() << "no host of its own here: that needs root, veth, ip(8)";
  }

  void file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  std::string ssh() const { return folder_ + "/ssh"; }
  Command there() const {
    return {"unshare", "--net", "--mount", "--uts", "sh", folder_ + "/host"};
  }

 private:
  std::string folder_;
};

TEST_F(HostsNames, that_name_servers_do_not_know_leave_signals_and_the_time_their_due) {
  Launched told({"-H", "nohost.example", "--ssh", ssh(), "true"}, there());
  told.await_error("asked");
  told.signal(SIGINT);
  EXPECT_EQ(told.wait(), 128 + SIGINT) << told.err;
  told.await_nothing_left();
  Launched leaf({"--join", "nohost.example:7000", "--here", "1", "--wait", "1", "true"}, there());
  EXPECT_EQ(leaf.wait(), 125);
  EXPECT_TRUE(says(leaf.err, "the name cannot be looked up now")) << leaf.err;
}

// Only ssh knows where it is, and the own name would be a loopback address to whoever hears it.
TEST_F(HostsNames, that_only_ssh_knows_are_told_an_address_of_a_network) {
  Launched job({"-H", "nohost.example", "--ssh", ssh(), "sh", "-c",
                "tr '\\0' ' ' < /proc/$PPID/cmdline; echo"},
               there());
  EXPECT_EQ(job.wait(), 0) << job.err;
  EXPECT_TRUE(says(job.out, "--join 10.77.9.1:")) << job.out;
  EXPECT_TRUE(says(job.err, "waits for name servers")) << job.err;
  EXPECT_TRUE(says(job.err, "told to join at 10.77.9.1")) << job.err;
  job.await_nothing_left();
}

TEST_F(HostsNames, of_a_root_are_listened_at_with_all_their_addresses) {
  Launched root({"--root", "both:0", "--wait", "0.2", "-n", "2", "--here", "1", "true"}, there());
  EXPECT_EQ(root.wait(), 125);
  for (const char* const place : {"127.0.0.1:", "10.77.9.1:"})
    EXPECT_TRUE(says(root.err, place)) << root.err;
  Launched local({"--root", "debby:0", "--wait", "0.2", "-n", "2", "--here", "1", "true"}, there());
  EXPECT_EQ(local.wait(), 125);
  EXPECT_TRUE(says(local.err, "debby is 127.0.1.1 here, where no other host can join"))
      << local.err;
}

}  // namespace
}  // namespace photon::test
