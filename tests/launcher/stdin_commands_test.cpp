#include "stdin_commands.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string_view>

#include "fd.hpp"

namespace photonrun {
namespace {

void say(const Pipe& pipe, std::string_view text) {
  ASSERT_EQ(::write(pipe.write.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

TEST(StdinCommands, are_a_key_and_begin_and_leave_the_rest_to_rank_0) {
  Pipe pipe = make_pipe();
  StdinCommands orders(pipe.read.get());
  say(pipe, "the key\nbegin\ninput");
  while (!orders.begun()) orders.handle();
  EXPECT_EQ(orders.fd(), -1);
  EXPECT_EQ(orders.take_key(), "the key");
  char rest[6] = "";
  EXPECT_EQ(::read(pipe.read.get(), rest, sizeof rest - 1), 5);
  EXPECT_STREQ(rest, "input");
}

TEST(StdinCommands, an_end_before_begin_means_that_who_gives_them_is_gone) {
  for (const std::string_view text : {"", "half a k", "the key\n", "the key\nbegi"}) {
    Pipe pipe = make_pipe();
    StdinCommands orders(pipe.read.get());
    say(pipe, text);
    pipe.write.reset();
    for (std::size_t i = 0; i < text.size(); ++i) orders.handle();
    EXPECT_THROW(orders.handle(), std::runtime_error) << text;
  }
}

TEST(StdinCommands, nonsense_is_refused) {
  Pipe pipe = make_pipe();
  StdinCommands orders(pipe.read.get());
  say(pipe, "the key\nstop\n");
  EXPECT_THROW(
      {
        for (int i = 0; i < 13; ++i) orders.handle();
      },
      std::runtime_error);
  StdinCommands endless(pipe.read.get());
  say(pipe, std::string(5000, 'x'));
  EXPECT_THROW(
      {
        for (int i = 0; i < 5000; ++i) endless.handle();
      },
      std::runtime_error);
}

}  // namespace
}  // namespace photonrun
