// Topology files: their contents, and messages about those that can't be meant.
#include "simulate/topology.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "temporary_folder.h"
#include "where.h"

namespace atl {
namespace {

std::string refusal(const std::string& text) {
  try {
    parse_topology(text, "t.yaml");
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(Topology, IsRead) {
  const Topology t = parse_topology(
      "name: eight\nsource: a paper\nservers: 2\nranksPerServer: 4\ncores: 2\nbetween: {rate: 8gbit, latency: 50us}\n"
      "inside: {rate: 12GB/s, perMegabyte: 0.2ms}\nbridges: {pairs: [[0, 1], [2, 3]], rate: 50GB/s, latency: 2us}\n"
      "racks: {servers: 1, rate: 800mbit}\ncosts: {perMegabyte: 0.7ms, perMessage: 10us}\ncompute: {speed: 20}\n",
      "t.yaml");
  EXPECT_EQ(t.name, "eight");
  EXPECT_EQ(t.ranks(), 8);
  EXPECT_EQ(t.server_of_rank(), (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_DOUBLE_EQ(t.servers[1].rate, 1e9);
  EXPECT_DOUBLE_EQ(t.latency, 50e-6);
  EXPECT_DOUBLE_EQ(t.inside.rate, 12e9);
  EXPECT_DOUBLE_EQ(t.inside.byte_seconds, 0.2e-9);
  EXPECT_DOUBLE_EQ(t.rack_rate, 1e8);
  EXPECT_DOUBLE_EQ(t.byte_seconds, 0.7e-9);
  EXPECT_EQ(t.bridges.size(), 2U);
  EXPECT_TRUE(t.is_model);
}

TEST(Topology, ServersMayBeListed) {
  const Topology t = parse_topology(
      "servers: [{ranks: [0, 2]}, {name: slow, ranks: [1, 3], rate: 100mbit}]\nbetween: {rate: 1gbit}\ninside: {rate: 1GB/s}\n",
      "t.yaml");
  EXPECT_EQ(t.server_of_rank(), (std::vector<int>{0, 1, 0, 1}));
  EXPECT_DOUBLE_EQ(t.servers[1].rate, 0.125e8);
}

TEST(Topology, ProcessorsAreToldByAFactorOrByRates) {
  const Topology t = parse_topology(
      "servers: 1\ncompute: {rates: {products: 35Tflop/s, gathers: 800GB/s, streams: 4TB/s}}\n", "t.yaml");
  ASSERT_TRUE(t.rates && t.is_model);
  EXPECT_DOUBLE_EQ(t.rates->product_flops, 35e12);
  EXPECT_DOUBLE_EQ(t.rates->gather_bytes, 0.8e12);
  EXPECT_DOUBLE_EQ(t.rates->triad_bytes, 4e12);
  EXPECT_FALSE(parse_topology("servers: 1\n", "t.yaml").is_model);
}

TEST(Topology, WhatCannotBeMeantIsTold) {
  const std::vector<std::pair<std::string, std::string>> all{
      {"", "t.yaml: is empty (a topology has servers: and between:"},
      {"servers: 1\n---\nservers: 1\n", "has 2 topologies (use a file for each)"},
      {"servers: 0\n", "t.yaml:1: servers: '0' is not allowed (use a whole number, 1 … 4096)"},
      {"servers: 2000\nranksPerServer: 4\n",
       "2000 servers of 4 ranks are 8000 ranks (use at most 4096 in all)"},
      {"servers: [{ranks: [0]}]\nranksPerServer: 4\n",
       "ranksPerServer has no place beside a list of servers"},
      {"servers: [{name: a, ranks: [0]}, {name: a, ranks: [1]}]\nbetween: {rate: 1gbit}\n",
       "two servers are called a (give each a name of its own)"},
      {"servers: 2\n", "between.rate is missing"},
      {"servers: 1\ncompute: {rates: {products: 3Tflop/s}}\n",
       "t.yaml:2: rates: three rates are wanted: products, gathers and streams"},
      {"servers: 1\ncompute: {rates: {products: 3Tbit, gathers: 1GB/s, streams: 1GB/s}}\n",
       "products: '3Tbit' is not allowed (use operations: 120Gflop/s, 35Tflop/s)"},
      {"servers: 1\ncompute: {speed: 2, rates: {products: 3Tflop/s, gathers: 1GB/s, streams: 1GB/s}}\n",
       "speed and rates exclude each other (use one)"},
      {"servers: 2\nbetween: {rate: fast}\n",
       "t.yaml:2: rate: 'fast' is not allowed (use a rate above 0: 850mbit, 32gbit, 12GB/s)"},
      {"servers: 2\nbetween: {rate: 0gbit}\n",
       "t.yaml:2: rate: '0gbit' is not allowed (use a rate above 0: 850mbit, 32gbit, 12GB/s)"},
      {"servers: 2\nbetween: {rate: infgbit}\n", "'infgbit' is not allowed"},
      {"servers: 1\nranksPerServer: 2\n", "inside.rate is missing"},
      {"servrs: 2\n", "unknown field servrs (did you mean servers?"},
      {"servers: [{ranks: [0]}, {ranks: [2]}]\nbetween: {rate: 1gbit}\n", "rank 1 is on no server"},
      {"servers: [{ranks: [0]}, {ranks: [0]}]\nbetween: {rate: 1gbit}\n",
       "rank 0 is on server0 and on server1"},
      {"servers: [{name: a}]\n", "a has no ranks"},
      {"servers: [{ranks: [2000000000]}]\n", "'2000000000' is not allowed (use a whole number, 0 … 4095)"},
      {"servers: 1\nranksPerServer: 2\ninside: {rate: 1GB/s}\nbridges: {pairs: [[0, 0]]}\n",
       "two places on a server"},
      {"servers: 1\nranksPerServer: 2\ninside: {rate: 1GB/s}\nbridges: {pairs: [[1, 2]], rate: 1GB/s}\n",
       "t.yaml: bridges: a server has no place 2 (use places 0 … 1)"},
      {"servers: 1\nracks: {servers: 2}\n", "racks want servers and a rate"},
      {"servers: 1\ncores: -1\n", "use a number above 0"}};
  for (const auto& [text, words] : all) {
    const std::string told = refusal(text);
    EXPECT_NE(told.find(words), std::string::npos) << text << ": " << told;
  }
}

std::string refusal_of_file(const std::filesystem::path& file) {
  try {
    read_topology(file);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(Topology, FoldersAndEmptyAndEndlessFilesAreToldApart) {
  const TemporaryFolder folder;
  std::ofstream(folder / "empty.yaml");
  EXPECT_NE(refusal_of_file(folder / "empty.yaml").find("empty.yaml: is empty"), std::string::npos);
  EXPECT_NE(refusal_of_file(folder.path()).find("is a folder"), std::string::npos);
  EXPECT_NE(refusal_of_file("/dev/zero").find("'/dev/zero' is longer than a topology is, 1.00 MiB"),
            std::string::npos)
      << refusal_of_file("/dev/zero");
  EXPECT_NE(refusal_of_file(folder / "none.yaml").find("none.yaml' can't be read"), std::string::npos);
}

TEST(Topology, RanksMustFit) {
  const Topology t = parse_topology("servers: 2\nbetween: {rate: 1gbit}\n", "two.yaml");
  EXPECT_NO_THROW(check_ranks(t, 2));
  try {
    check_ranks(t, 4);
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_EQ(std::string(error.what()),
              "two: 2 servers have 2 ranks, and the job has 4 (use --ranks 2, or a topology with as many)");
  }
}

TEST(Topology, TheRepositorysOwnAreRead) {
  int read = 0;
  for (const auto& file : std::filesystem::directory_iterator(source_folder() / "manifests/topologies")) {
    const Topology t = read_topology(file.path());
    EXPECT_EQ(t.name, file.path().stem().string());
    EXPECT_FALSE(t.source.empty()) << file.path();
    ++read;
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace atl
