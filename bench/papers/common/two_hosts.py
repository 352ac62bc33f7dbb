"""Two network namespaces and a cable between them: as far as the network is concerned two hosts, at
10.77.0.1 and 10.77.0.2. They take root, and ip(8) of iproute2."""
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
AT_HOST = os.path.join(HERE, "at_host")  # in the place of ssh
ADDRESSES = {"a": "10.77.0.1", "b": "10.77.0.2"}
LIMIT_S = 30


class NoHosts(Exception):
    """They cannot be made here; the text says why."""


def ip(*words):
    try:
        made = subprocess.run(["ip", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        raise NoHosts(f"ip {' '.join(words)} takes longer than {LIMIT_S} s") from None
    except OSError as why:
        raise NoHosts(f"ip(8): {why.strerror}") from None
    if made.returncode != 0:
        raise NoHosts(f"ip {' '.join(words)}: {' '.join(made.stdout.split())}")


class TwoHosts:
    """A context: they are there inside it, and gone behind it."""

    def __init__(self):
        self.names = {side: f"ph{os.getpid()}{side}" for side in ADDRESSES}
        self.made = []

    def __enter__(self):
        try:
            for name in self.names.values():
                self.made.append(name)  # before: a signal may come between
                ip("netns", "add", name)
            ip("-n", self.names["a"], "link", "add", "v0", "type", "veth", "peer", "name", "v0",
               "netns", self.names["b"])
            for side, name in self.names.items():
                ip("-n", name, "address", "add", ADDRESSES[side] + "/24", "dev", "v0")
                ip("-n", name, "link", "set", "v0", "up")
                ip("-n", name, "link", "set", "lo", "up")
            for name in self.names.values():  # the kernel tells later that both ends are up
                subprocess.run(["ip", "netns", "exec", name, "sh", "-c", "until [ $(cat "
                                "/sys/class/net/v0/operstate) = up ]; do :; done"],
                               timeout=LIMIT_S, check=True)
        except (NoHosts, subprocess.SubprocessError) as why:
            self.__exit__()
            raise NoHosts(str(why)) from None
        except BaseException:  # a signal
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        while self.made:
            subprocess.run(["ip", "netns", "delete", self.made.pop()], timeout=LIMIT_S,
                           check=False, stderr=subprocess.DEVNULL)  # it may be none

    def photonrun(self, path):
        """How a job with a rank at each host is started."""
        return ["ip", "netns", "exec", self.names["a"], "env",
                "TWO_HOSTS=" + ",".join(self.names.values()), path, "-H",
                ",".join(ADDRESSES.values()), "--ssh", AT_HOST]
