#include "attn/parallel/heartbeats.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "support/files.hpp"

using namespace attn;

namespace {

constexpr double kLimit = 0.2;

/// Longer than the part of the limit that one gap can use up, so a loaded machine does not change the result.
void pass_time() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

/// The rank that is found silent within 10 beats of `rank` while `others` live too, or -1.
template <class... Others>
Index silent_for(Heartbeats& rank, Others&... others) {
  for (int i = 0; i < 10; ++i) {
    pass_time();
    ((void)others.beat(), ...);
    if (const Index silent = rank.beat(); silent >= 0) return silent;
  }
  return -1;
}

struct Ring {
  TemporaryFolder folder;
  std::vector<std::string> names{"first", "second", "third"};
  Heartbeats a{folder.path(), 0, names, kLimit}, b{folder.path(), 1, names, kLimit}, c{folder.path(), 2, names, kLimit};
};

}  // namespace

TEST_CASE("heartbeats: a rank that no longer counts is silent and its predecessor notices") {
  Ring ring;
  CHECK(silent_for(ring.a, ring.b, ring.c) == -1);
  CHECK(silent_for(ring.b, ring.a) == 2);
  CHECK(silent_for(ring.a, ring.b) == -1);
}

TEST_CASE("heartbeats: a process that was stopped itself does not blame the others") {
  Ring ring;
  CHECK(silent_for(ring.a, ring.b, ring.c) == -1);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  CHECK(ring.a.beat() == -1);
}

TEST_CASE("heartbeats: a rank that has finished is skipped") {
  Ring ring;
  CHECK(silent_for(ring.b, ring.a, ring.c) == -1);
  ring.c.end();
  CHECK(silent_for(ring.b, ring.a) == -1);
  CHECK(silent_for(ring.b) == 0);
  ring.a.end();
  CHECK(silent_for(ring.b) == -1);
}

TEST_CASE("heartbeats: only the rank that all others wait for counts as hung") {
  constexpr double kShort = 0.1, kLong = 60;
  struct Case {
    const char* name;
    RankProgress a, b, c;
    Index hanging;  // as seen by a
  };
  for (const Case& one : {Case{"b has not begun the sum", {8, 20, kShort}, {7, 19, kShort}, {8, 20, kShort}, 1},
                          Case{"b and c have not", {8, 20, kShort}, {7, 19, kShort}, {7, 19, kShort}, 1},
                          Case{"b waits too, for c", {8, 20, kShort}, {7, 19, kShort}, {6, 18, kLong}, -1},
                          Case{"a has not begun it either", {7, 20, kShort}, {7, 19, kShort}, {7, 20, kShort}, -1},
                          Case{"b may take a long time", {8, 20, kShort}, {7, 19, kLong}, {8, 20, kShort}, -1},
                          Case{"b has no limit", {8, 20, kShort}, {7, 19, 0}, {8, 20, kShort}, -1}}) {
    CAPTURE(one.name);
    Ring ring;
    Index hanging = -1;
    for (int i = 0; i < 10 && hanging < 0; ++i) {
      pass_time();
      (void)ring.c.beat(one.c), (void)ring.b.beat(one.b);
      CHECK(ring.a.beat(one.a) == -1);  // all are alive
      hanging = ring.a.hanging();
    }
    CHECK(hanging == one.hanging);
    CHECK(ring.a.limit_of_next() == one.b.limit);
    for (Index marks = 30; marks < 40; ++marks) {
      pass_time();
      RankProgress moves = one.b;
      moves.marks = marks;
      (void)ring.c.beat(one.c), (void)ring.b.beat(moves), (void)ring.a.beat(one.a);
      CHECK(ring.a.hanging() == -1);
    }
  }
}

TEST_CASE("heartbeats: the file of a finished rank does not hide a hung rank") {
  Ring ring;
  ring.c.end();
  Index hanging = -1;
  for (int i = 0; i < 10 && hanging < 0; ++i) {
    pass_time();
    (void)ring.b.beat({7, 19, 0.1}), (void)ring.a.beat({8, 20, 0.1});
    hanging = ring.a.hanging();
  }
  CHECK(hanging == 1);
}

TEST_CASE("heartbeats: files of an earlier start do not count") {
  Ring ring;
  Heartbeats earlier(ring.folder.path(), 1, {"old", "older", "oldest"}, kLimit);
  CHECK(silent_for(ring.a, earlier) == 1);
}
