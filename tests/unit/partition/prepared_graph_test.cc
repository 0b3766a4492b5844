// Prepared graphs on disk: made once, used by all, never used when damaged.
#include "partition/prepared_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/sha256.h"
#include "partition/sample_dataset.h"

namespace atl {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PreparedOnDisk : public testing::Test {
 protected:
  PreparedGraph make(PartitionOptions options = {"metis", 3}, GraphTransforms transforms = {}) const {
    return PreparedGraph::make(dataset, options, transforms, marks);
  }
  std::string message_of(const std::function<void()>& action) const {
    try {
      action();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }

  TemporaryFolder folder;
  Dataset dataset = sample_dataset(folder.path() / "sample", {200, 900, 1, true});
  std::vector<std::uint8_t> marks = training_marks(dataset);
};

/// One bit near the end of a file turned over.
void flip_byte(const fs::path& path, std::streamoff from_end = 5) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(std::streamoff(fs::file_size(path)) - from_end);
  const char byte = char(file.peek() ^ 1);
  file.seekp(std::streamoff(fs::file_size(path)) - from_end);
  file.put(byte);
}

TEST_F(PreparedOnDisk, reads_back_what_was_prepared) {
  const PreparedGraph graph = make({"metis", 3}, {true, GraphTransforms::SelfLoops::kAdd, true});
  const Prepared expected = prepare(dataset.graph(), dataset.meta().symmetric, {"metis", 3},
                                    {true, GraphTransforms::SelfLoops::kAdd, true}, marks);
  EXPECT_EQ(graph.parts(), 3);
  EXPECT_TRUE(std::ranges::equal(graph.ids(), expected.ids));
  EXPECT_TRUE(std::ranges::equal(graph.part_offsets(), expected.part_offsets));
  const CsrView csr = graph.graph(), induced = graph.induced_graph();
  EXPECT_TRUE(
      std::equal(expected.whole.graph.columns.begin(), expected.whole.graph.columns.end(), csr.columns));
  EXPECT_TRUE(
      std::equal(expected.whole.graph.weights.begin(), expected.whole.graph.weights.end(), csr.weights));
  EXPECT_TRUE(std::equal(expected.induced.graph.columns.begin(), expected.induced.graph.columns.end(),
                         induced.columns));
  EXPECT_EQ(induced.arcs(), expected.induced.graph.arcs());
  EXPECT_EQ(graph.quality().volume, expected.quality.volume);
  EXPECT_EQ(graph.quality().balance_arcs, expected.quality.balance_arcs);
}

TEST_F(PreparedOnDisk, rows_by_id_are_there_where_asked_for) {
  const GraphTransforms transforms{true, GraphTransforms::SelfLoops::kAdd, true, true};
  const PreparedGraph graph = make({"metis", 3}, transforms);
  const Prepared expected =
      prepare(dataset.graph(), dataset.meta().symmetric, {"metis", 3}, transforms, marks);
  const auto expect_equal = [](const GraphById& found, const CsrView& plain, const RowsById& rows) {
    EXPECT_EQ(found.rows.offsets, plain.offsets);
    EXPECT_TRUE(std::equal(rows.columns.begin(), rows.columns.end(), found.rows.columns));
    EXPECT_TRUE(std::equal(rows.weights.begin(), rows.weights.end(), found.rows.weights));
    EXPECT_TRUE(std::ranges::equal(rows.degrees, found.degrees));
  };
  expect_equal(graph.graph_by_id(), graph.graph(), *expected.whole.by_id);
  expect_equal(graph.induced_graph_by_id(), graph.induced_graph(), *expected.induced.by_id);
  EXPECT_FALSE(fs::exists(make().folder() / "columns_by_id.npy"));
  for (const char* name :
       {"columns_by_id.npy", "weights_by_id.npy", "degrees.npy", "induced_columns_by_id.npy"}) {
    flip_byte(graph.folder() / name);
    EXPECT_THAT(message_of([&] {
                  make({"metis", 3}, transforms);
                }),
                HasSubstr(std::string(name) + ": is damaged"));
    flip_byte(graph.folder() / name);
  }
}

TEST_F(PreparedOnDisk, is_made_once_and_used_again) {
  const PreparedGraph first = make();
  const auto made = fs::last_write_time(first.folder() / "columns.npy");
  const PreparedGraph second = make();
  EXPECT_EQ(fs::last_write_time(second.folder() / "columns.npy"), made);
  EXPECT_EQ(first.checksum(), second.checksum());
  const PreparedGraph opened = PreparedGraph::open(dataset, {"metis", 3}, {}, marks);
  EXPECT_EQ(opened.checksum(), first.checksum());
}

TEST_F(PreparedOnDisk, whatever_it_depends_on_gives_another_folder) {
  std::set<fs::path> folders{make().folder()};
  EXPECT_TRUE(folders.insert(make({"hash", 3}).folder()).second);
  EXPECT_TRUE(folders.insert(make({"metis", 2}).folder()).second);
  EXPECT_TRUE(folders.insert(make({"metis", 3, 2}).folder()).second);
  EXPECT_TRUE(folders.insert(make({"metis", 3, 1, "cut"}).folder()).second);
  EXPECT_TRUE(folders.insert(make({.kind = "metis", .parts = 4, .groups = 2}).folder()).second);
  EXPECT_TRUE(folders.insert(make({.kind = "metis", .parts = 3, .slices = 2}).folder()).second);
  EXPECT_TRUE(folders.insert(make({"metis", 3}, {true}).folder()).second);
  EXPECT_TRUE(folders.insert(make({"metis", 3}, {false, GraphTransforms::SelfLoops::kAdd}).folder()).second);
  EXPECT_TRUE(folders.insert(make({"metis", 3}, {.by_id = true}).folder()).second);
  marks[1] = 1;
  EXPECT_TRUE(folders.insert(make().folder()).second);
  dataset = sample_dataset(folder.path() / "sample", {200, 900, 2, true});
  EXPECT_TRUE(folders.insert(make().folder()).second);
}

TEST_F(PreparedOnDisk, open_says_how_to_make_it) {
  const auto message = message_of([&] { PreparedGraph::open(dataset, {"metis", 3}, {}, marks); });
  EXPECT_THAT(message,
              HasSubstr("atoll partition " + dataset.folder().string() + " --parts 3 --method metis"));
  EXPECT_THAT(message_of([&] {
                PreparedGraph::open(dataset, {.kind = "metis", .parts = 3, .slices = 4}, {}, marks);
              }),
              HasSubstr("atoll prepare -f"));
}

TEST_F(PreparedOnDisk, a_damaged_file_is_found_and_named) {
  for (const char* name : {"columns.npy", "weights.npy", "halo.npy", "ids.npy", "offsets.npy"}) {
    const fs::path path = make().folder() / name;
    flip_byte(path);
    EXPECT_THAT(message_of([&] { make(); }),
                HasSubstr(path.string() + ": is damaged: it doesn't match its checksum"))
        << name;
    flip_byte(path);
  }
  make();
}

TEST_F(PreparedOnDisk, readers_find_between_them_what_was_changed_after_it_was_prepared) {
  constexpr int kReaders = 3;
  const PreparedGraph prepared = make({"metis", 3}, {.by_id = true, .rows = true});
  const std::string checksum = prepared.checksum();
  const auto complaints = [&] {
    const auto opened = PreparedGraph::open(dataset, {"metis", 3}, {.by_id = true, .rows = true}, marks);
    std::vector<std::string> all;
    for (int reader = 0; reader < kReaders; ++reader) {
      const std::string said = message_of([&] { opened.verify_share(checksum, reader, kReaders); });
      if (said != "no error") all.push_back(said);
    }
    return all;
  };
  EXPECT_THAT(complaints(), testing::IsEmpty());
  int files = 0;
  for (const auto& entry : fs::directory_iterator(prepared.folder())) {
    if (entry.path().extension() != ".npy") continue;
    ++files;
    constexpr std::streamoff kBeforeTheLast = 12;  // whose last number opening it would miss
    flip_byte(entry.path(), kBeforeTheLast);
    EXPECT_THAT(complaints(), testing::ElementsAre(HasSubstr(entry.path().string() + ": is damaged")));
    flip_byte(entry.path(), kBeforeTheLast);
  }
  EXPECT_GE(files, 8);
  EXPECT_THAT(complaints(), testing::IsEmpty());
}

TEST_F(PreparedOnDisk, another_graph_with_checksums_of_its_own_is_not_the_one_that_was_prepared) {
  const PreparedGraph prepared = make();
  const std::string checksum = prepared.checksum();
  const fs::path meta = prepared.folder() / "meta.json";
  flip_byte(prepared.folder() / "columns.npy");
  std::ifstream before(meta);
  std::string text{std::istreambuf_iterator<char>(before), {}};
  const auto at = text.find(R"("columns.npy":)") + std::string(R"("columns.npy":)").size();
  const auto begin = text.find('"', at) + 1;
  text.replace(begin, 64, sha256_of_file(prepared.folder() / "columns.npy"));
  std::ofstream(meta) << text;
  make();  // which finds nothing: a checksum that lies beside the files is whoever's can write there
  const auto opened = PreparedGraph::open(dataset, {"metis", 3}, {}, marks);
  for (int reader = 0; reader < 2; ++reader)
    EXPECT_THAT(message_of([&] { opened.verify_share(checksum, reader, 2); }),
                testing::AllOf(HasSubstr(meta.string() + ": isn't the graph that was prepared for this job"),
                               HasSubstr("not " + checksum), HasSubstr("start the job anew")));
}

TEST_F(PreparedOnDisk, a_torn_file_is_found_when_opened) {
  const fs::path path = make().folder() / "columns.npy";
  fs::resize_file(path, fs::file_size(path) / 2);
  EXPECT_THAT(message_of([&] {
                PreparedGraph::open(dataset, {"metis", 3}, {}, marks);
              }),
              HasSubstr(path.string()));
  const fs::path meta = path.parent_path() / "meta.json";
  fs::resize_file(meta, fs::file_size(meta) / 2);
  EXPECT_THAT(message_of([&] { make(); }), HasSubstr(meta.string() + ": is damaged"));
}

TEST_F(PreparedOnDisk, several_makers_at_once_make_it_once) {
  std::vector<std::thread> makers;
  std::vector<std::string> checksums(6), failures(6);
  for (std::size_t i = 0; i < checksums.size(); ++i)
    makers.emplace_back([&, i] {
      try {
        checksums[i] = make().checksum();
      } catch (const std::exception& e) {
        failures[i] = e.what();
      }
    });
  for (auto& maker : makers) maker.join();
  for (const auto& failure : failures) EXPECT_EQ(failure, "");
  for (const auto& checksum : checksums) EXPECT_EQ(checksum, checksums[0]);
}

TEST_F(PreparedOnDisk, a_failed_maker_leaves_nothing_behind) {
  EXPECT_THAT(message_of([&] { make({"metis", 201}); }), HasSubstr("201 parts for 200 vertices"));
  for (const auto& entry : fs::directory_iterator(dataset.folder() / "prepared"))
    EXPECT_EQ(entry.path().extension(), ".lock") << entry.path();
}

/// As on a read-only file system, where not even the lock can be opened.
TEST_F(PreparedOnDisk, what_is_there_is_used_where_nothing_can_be_written) {
  const fs::path graph = make().folder(), lock = graph.string() + ".lock";
  fs::remove(lock);
  fs::create_directory(lock);
  EXPECT_EQ(make().folder(), graph);
  fs::remove_all(graph);
  EXPECT_THAT(message_of([&] { make(); }),
              testing::AllOf(HasSubstr(lock.string() + ": cannot be written: Is a directory"),
                             HasSubstr("--prepared or ATOLL_PREPARED (on a cluster: dataset.prepared)")));
}

TEST_F(PreparedOnDisk, says_why_the_folder_cannot_be_made) {
  std::ofstream(dataset.folder() / "prepared") << "a file";
  EXPECT_THAT(message_of([&] { make(); }),
              testing::ContainsRegex("/prepared: cannot be written: (Not a directory|File exists)"));
}

class PreparedElsewhere : public PreparedOnDisk {
 protected:
  PreparedElsewhere() { dataset = Dataset::open(dataset.folder(), elsewhere); }

  const fs::path elsewhere = folder.path() / "elsewhere";
};

TEST_F(PreparedElsewhere, is_made_and_found_there_alone) {
  const PreparedGraph graph = make();
  EXPECT_EQ(graph.folder().parent_path(), fs::canonical(elsewhere) / "sample");
  EXPECT_FALSE(fs::exists(dataset.folder() / "prepared"));
  EXPECT_EQ(PreparedGraph::open(dataset, {"metis", 3}, {}, marks).checksum(), graph.checksum());
  dataset = Dataset::open(dataset.folder());
  EXPECT_FALSE(PreparedGraph::exists(dataset, {"metis", 3}, {}, marks));
  EXPECT_EQ(make().checksum(), graph.checksum()) << "the same wherever it is kept";
}

TEST_F(PreparedElsewhere, data_sets_of_one_name_keep_apart) {
  const fs::path deep = folder.path() / "deep" / "sample";
  sample_dataset(deep, {200, 900, 2, true});
  const Dataset other = Dataset::open(deep, elsewhere);
  const PreparedGraph graph = make();
  const auto others = PreparedGraph::make(other, {"metis", 3}, {}, training_marks(other));
  EXPECT_EQ(others.folder().parent_path(), graph.folder().parent_path());
  EXPECT_NE(others.folder(), graph.folder());
}

/// As with --prepared DATA_ROOT.
TEST_F(PreparedElsewhere, a_data_set_that_lies_there_keeps_its_own_below_it) {
  EXPECT_EQ(Dataset::open(dataset.folder(), folder.path()).prepared_folder(), dataset.folder() / "prepared");
}

}  // namespace
}  // namespace atl
