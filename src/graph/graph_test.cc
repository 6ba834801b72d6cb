// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <gtest/gtest.h>

#include "base/testing.h"

namespace stoker {
namespace {

// A constant image is cropped at a drawn position and cast. The outputs are the cast and the crop.
Graph example() {
  Graph g;
  const int image = g.add({.op = "constant",
                           .arguments = {{"idata", std::vector<int64_t>{1, 2, 3, 4}},
                                         {"shape", std::vector<int64_t>{2, 2, 1}},
                                         {"dtype", std::string("uint8")},
                                         {"layout", std::string("HWC")}},
                           .where = "train.py:3"});
  const int x = g.add({.op = "random.uniform",
                       .arguments = {{"range", std::vector<double>{0, 1}}, {"seed", int64_t{4}}}});
  const int crop = g.add({.op = "crop",
                          .name = "cut",
                          .arguments = {{"crop", std::vector<double>{1, 1}}},
                          .inputs = {Ref{image, 0}},
                          .links = {{"crop_pos_x", {x, 0}}},
                          .where = "train.py:5"});
  const int wide = g.add(
      {.op = "cast", .arguments = {{"dtype", std::string("float32")}}, .inputs = {Ref{crop, 0}}});
  g.outputs = {{wide, 0}, {crop, 0}};
  return g;
}

TEST(Graph, ASeedOfItsOwnIsTheOnlyOne) {
  const std::vector<CheckedNode> checked = check(example()).nodes;
  EXPECT_TRUE(checked[1].has_own_seed);
  EXPECT_EQ(checked[1].seed(5), checked[1].seed(6));
  Graph named = example();
  named.nodes[1].key = "name:random.uniform/seed:4";
  const std::vector<CheckedNode> other = check(named).nodes;
  EXPECT_FALSE(other[1].has_own_seed);
  EXPECT_EQ(other[1].seed(5), 5u);
}

TEST(Graph, CompletesNamesKeysAndDefaults) {
  const Graph g = example();
  EXPECT_EQ(g.nodes[0].name, "constant_0");
  EXPECT_EQ(g.nodes[0].key, "constant#0");
  EXPECT_EQ(g.nodes[1].key, "random.uniform/seed:4");
  EXPECT_EQ(g.nodes[2].key, "name:cut");
  EXPECT_EQ(to_string(g.nodes[2].arguments.at("crop_pos_y")), "0.5");
  EXPECT_EQ(g.nodes[2].arguments.at("out_of_bounds_policy"), Value(std::string("error")));
}

TEST(Graph, ChecksTypesOfEveryEdge) {
  const auto checked = check(example()).nodes;
  EXPECT_EQ(checked[2].outputs[0].str(), "uint8 HWC (1, 1, 1)");
  EXPECT_EQ(checked[3].outputs[0].str(), "float32 HWC (1, 1, 1)");
}

int add_uniform(Graph& g) { return g.add({.op = "random.uniform"}); }

TEST(Graph, NodesHaveTheGuardsOfWhatTheyRead) {
  Graph g;
  const Ref coin{g.add({.op = "random.coin_flip"}), 0};
  const Ref inner{g.add({.op = "random.coin_flip", .guards = {{coin, true}}, .scope = "if#0"}), 0};
  const Ref x{g.add({.op = "random.uniform", .guards = {{inner, false}}}), 0};
  const Ref y{g.add({.op = "random.uniform", .guards = {{inner, true}}, .scope = "if#0"}), 0};
  const Ref merged{g.add({.op = "merge", .inputs = {y, x, inner}}), 0};
  const Ref all{g.add({.op = "merge", .inputs = {merged, Ref{add_uniform(g), 0}, coin}}), 0};
  EXPECT_EQ(g.nodes[inner.node].key, "if#0/random.coin_flip#0");
  EXPECT_EQ(g.nodes[y.node].key, "if#0/random.uniform#0");
  EXPECT_EQ(g.nodes[x.node].key, "random.uniform#0");
  EXPECT_EQ(g.nodes[x.node].guards, (std::vector<Guard>{{coin, true}, {inner, false}}));
  EXPECT_EQ(g.nodes[merged.node].guards, (std::vector<Guard>{{coin, true}}));
  EXPECT_TRUE(g.nodes[all.node].guards.empty());
  EXPECT_EQ(guards_in_words(g, g.nodes[x.node]),
            "'random_coin_flip_0' is true and 'random_coin_flip_1' is false");
  const std::string both = message<GraphError>([&] { g.add({.op = "cat", .inputs = {x, y}}); });
  EXPECT_NE(both.find("both sides of the condition 'random_coin_flip_1'"), std::string::npos);
  g.outputs = {merged};
  EXPECT_NE(message<GraphError>([&] { check(g); }).find("made only where 'random_coin_flip_0'"),
            std::string::npos);
  g.outputs = {all};
  check(g);
  std::string settings;
  EXPECT_EQ(save_graph(load_graph(save_graph(g, "{}"), settings), "{}"), save_graph(g, "{}"));
}

TEST(Graph, ABranchMayBeOneThatNoSampleComesTo) {
  Graph g;
  const Ref coin{g.add({.op = "random.coin_flip"}), 0};
  const Ref x{g.add({.op = "random.uniform", .guards = {{coin, true}}}), 0};
  const std::vector<Guard> both = {{coin, false}, {coin, true}};
  const Ref inner{g.add({.op = "random.coin_flip", .guards = both}), 0};
  const Ref y{g.add({.op = "random.uniform", .guards = {{inner, true}}}), 0};
  EXPECT_EQ(g.nodes[inner.node].guards, both);
  EXPECT_EQ(g.nodes[y.node].guards,
            (std::vector<Guard>{{coin, false}, {coin, true}, {inner, true}}));
  g.add({.op = "cat", .inputs = {x, y}});
  const Ref of_true{g.add({.op = "merge", .inputs = {x, inner, coin}, .guards = {{coin, true}}}),
                    0};
  EXPECT_EQ(g.nodes[of_true.node].guards, (std::vector<Guard>{{coin, true}}));
  g.add({.op = "merge", .inputs = {y, Ref{add_uniform(g), 0}, coin}});
  std::string settings;
  EXPECT_EQ(save_graph(load_graph(save_graph(g, "{}"), settings), "{}"), save_graph(g, "{}"));
}

std::vector<std::string> ops_of(const Graph& g) {
  std::vector<std::string> ops;
  for (const Node& n : check(g).graph.nodes) ops.push_back(n.op);
  return ops;
}

TEST(Graph, SidesOfWhatNobodyReadsMayDiffer) {
  Graph g;
  const Ref coin{g.add({.op = "random.coin_flip"}), 0};
  const Ref x{add_uniform(g), 0};
  const Ref merged{g.add({.op = "merge", .inputs = {x, coin, coin}}), 0};
  g.add({.op = "copy", .inputs = {merged}});
  g.outputs = {x};
  EXPECT_EQ(ops_of(g),
            (std::vector<std::string>{"random.coin_flip", "random.uniform", "merge", "copy"}));
}

TEST(Graph, WhatReadsSidesThatDifferIsThereForEach) {
  Graph g;
  const Ref coin{g.add({.op = "random.coin_flip"}), 0};
  const Ref x{add_uniform(g), 0};
  const Ref merged{g.add({.op = "merge", .inputs = {x, coin, coin}}), 0};
  const Ref copy{g.add({.op = "copy", .inputs = {merged}}), 0};
  const Ref sum{g.add({.op = "copy", .inputs = {copy}}), 0};
  g.outputs = {x, sum};
  const CheckedGraph c = check(g);
  EXPECT_EQ(ops_of(g), (std::vector<std::string>{"random.coin_flip", "random.uniform", "copy",
                                                 "copy", "copy", "copy"}));
  ASSERT_EQ(c.variants.size(), 2u);
  EXPECT_EQ(c.variants[0].size(), 1u);
  ASSERT_EQ(c.variants[1].size(), 2u);
  EXPECT_EQ(c.graph.nodes[2].name, c.graph.nodes[3].name);
  for (const bool when : {true, false}) {
    const Variant& v = c.variants[1][when ? 0 : 1];
    EXPECT_EQ(c.graph.nodes[v.value.node].guards, (std::vector<Guard>{{coin, when}}));
    EXPECT_EQ(c.nodes[v.value.node].outputs[0].str(), when ? "float32 ()" : "int32 ()");
  }
  EXPECT_EQ(c.types[4][0].size(), 2u);
}

TEST(Graph, SidesThatComeToOneTypeAreOneValue) {
  Graph g;
  const Ref coin{g.add({.op = "random.coin_flip"}), 0};
  const Ref x{add_uniform(g), 0};
  const Ref merged{g.add({.op = "merge", .inputs = {x, coin, coin}}), 0};
  const Ref cast{
      g.add({.op = "cast", .arguments = {{"dtype", std::string("float32")}}, .inputs = {merged}}),
      0};
  g.outputs = {{g.add({.op = "copy", .inputs = {cast}}), 0}};
  EXPECT_EQ(ops_of(g), (std::vector<std::string>{"random.coin_flip", "random.uniform", "cast",
                                                 "cast", "merge", "copy"}));
  EXPECT_EQ(check(g).variants[0].size(), 1u);
}

TEST(Graph, AConditionOfSidesThatDifferIsTheirTruth) {
  Graph g;
  const Ref coin{g.add({.op = "random.coin_flip"}), 0};
  const Ref x{add_uniform(g), 0};
  const Ref merged{g.add({.op = "merge", .inputs = {x, coin, coin}}), 0};
  const Ref chosen{g.add({.op = "merge", .inputs = {x, x, merged}}), 0};
  g.outputs = {chosen};
  EXPECT_EQ(check(g).nodes.back().outputs[0].str(), "float32 ()");
  EXPECT_EQ(check(g).variants[0].size(), 1u);
}

TEST(Graph, AnOperatorSaysWhichSideItRefuses) {
  Graph g;
  const Ref coin{g.add({.op = "random.coin_flip"}), 0};
  const Ref x{add_uniform(g), 0};
  const Ref wide{g.add({.op = "reshape",
                        .arguments = {{"shape", std::vector<int64_t>{1, 1, 1}},
                                      {"layout", std::string("HWC")}},
                        .inputs = {x}}),
                 0};
  const Ref merged{g.add({.op = "merge", .inputs = {wide, x, coin}}), 0};
  g.outputs = {{g.add({.op = "flip", .inputs = {merged}, .where = "train.py:7"}), 0}};
  const std::string text = message<GraphError>([&] { check(g); });
  EXPECT_NE(text.find("flip 'flip_0' (train.py:7): input 'input' expects"), std::string::npos)
      << text;
  EXPECT_NE(text.find("where 'random_coin_flip_0' is false"), std::string::npos) << text;
}

TEST(Graph, ThereAreNotEndlesslyManyTypes) {
  Graph g;
  Ref sum{add_uniform(g), 0};
  for (int i = 0; i < 5; ++i) {
    const Ref coin{g.add({.op = "random.coin_flip"}), 0};
    const Ref x{g.add({.op = "stack", .inputs = {sum, sum}}), 0};
    const Ref merged{g.add({.op = "merge", .inputs = {x, sum, coin}}), 0};
    sum = {g.add({.op = "copy", .inputs = {merged}}), 0};
  }
  g.outputs = {sum};
  const std::string text = message<GraphError>([&] { check(g); });
  EXPECT_NE(text.find("more than 16 types"), std::string::npos) << text;
}

TEST(Graph, ThereAreNotEndlesslyManyCombinationsOfTypes) {
  Graph g;
  const Ref x{add_uniform(g), 0};
  Node sum{.op = "python_function",
           .arguments = {{"dtype", std::string("float32")}, {"ndim", int64_t{0}}}};
  for (int i = 0; i < 20; ++i) {
    const Ref coin{g.add({.op = "random.coin_flip"}), 0};
    sum.inputs.emplace_back(Ref{g.add({.op = "merge", .inputs = {x, coin, coin}}), 0});
  }
  g.outputs = {{g.add(sum), 0}};
  const std::string text = message<GraphError>([&] { check(g); });
  EXPECT_NE(text.find("more than 64 combinations of types"), std::string::npos) << text;
}

TEST(Graph, SaysWhatIsWrongAndWhere) {
  Graph g = example();
  EXPECT_NE(message<GraphError>([&] { g.add({.op = "crip"}); }).find("Did you mean 'crop'?"),
            std::string::npos);
  const std::string unknown = message<GraphError>([&] {
    g.add({.op = "flip",
           .arguments = {{"horizontl", int64_t{1}}},
           .inputs = {Ref{0, 0}},
           .where = "train.py:9"});
  });
  EXPECT_NE(unknown.find("'horizontl'"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("Did you mean 'horizontal'?"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("train.py:9"), std::string::npos) << unknown;
  EXPECT_NE(message<GraphError>([&] { g.add({.op = "flip"}); }).find("takes 1 input"),
            std::string::npos);
  EXPECT_NE(message<GraphError>([&] {
              g.add({.op = "cast", .inputs = {Ref{0, 0}}});
              g.outputs = {{4, 0}};
              check(g);
            }).find("'dtype' is required"),
            std::string::npos);
}

TEST(Graph, OnlyOptionalInputsMayBeLeftOut) {
  Graph g = example();
  const auto add = [&](const char* op, std::vector<std::optional<Ref>> inputs) {
    return message<GraphError>([&] { g.add({.op = op, .inputs = std::move(inputs)}); });
  };
  const Ref image{0, 0};
  EXPECT_NE(add("flip", {std::nullopt}).find("takes 1 input, got 0"), std::string::npos);
  EXPECT_NE(add("slice", {std::nullopt, image, image}).find("expects the output of an operator"),
            std::string::npos);
  EXPECT_NE(add("slice", {image, std::nullopt, image}).find("expects the output of an operator"),
            std::string::npos);
  EXPECT_EQ(add("slice", {image, std::nullopt, std::nullopt}), "nothing was thrown");
  EXPECT_EQ(g.nodes.back().inputs.size(), 1u);
}

TEST(Graph, RefusesOutputsThatAreNotThere) {
  Graph g = example();
  const auto refused = [&](const std::string& what, const Ref& wrong) {
    EXPECT_EQ(
        message<GraphError>([&] {
          g.add({.op = "flip", .name = "turn", .inputs = {wrong}, .where = "train.py:9"});
        }),
        "flip 'turn' (train.py:9): input 'input' expects an output of a node before it, got " +
            what);
  };
  refused("output 1 of node 0", {0, 1});
  refused("output -1 of node 0", {0, -1});
  refused("output 0 of node 4", {4, 0});
  refused("output 0 of node -1", {-1, 0});
  EXPECT_NE(message<GraphError>([&] {
              g.add({.op = "flip", .inputs = {Ref{0, 0}}, .links = {{"horizontal", {1, 1}}}});
            }).find("argument 'horizontal' expects an output of a node before it, got output 1"),
            std::string::npos);
  g.outputs.push_back({2, 1});
  EXPECT_EQ(message<GraphError>([&] { check(g); }),
            "output 2 of the pipeline is output 1 of node 2, which is not there");
  g.outputs.pop_back();
  g.nodes[3].inputs[0] = Ref{3, 0};
  EXPECT_NE(message<GraphError>([&] { check(g); }).find("of a node before it, got output 0 of"),
            std::string::npos);
}

TEST(Graph, RefusesValuesOfTheWrongTypeOrRange) {
  auto made = [](Value v) {
    Graph g = example();
    g.add({.op = "flip", .arguments = {{"horizontal", std::move(v)}}, .inputs = {Ref{0, 0}}});
    check(g);
  };
  EXPECT_EQ(message<GraphError>([&] { made(int64_t{1}); }), "nothing was thrown");
  EXPECT_NE(message<GraphError>([&] {
              made(std::string("yes"));
            }).find("'horizontal' expects int, got 'yes'"),
            std::string::npos);
  EXPECT_NE(message<GraphError>([&] { made(int64_t{7}); }).find("is 7, expected 0 to 1"),
            std::string::npos);
}

TEST(Graph, TakesBytesForAFileWherePixelsAreExpected) {
  Graph g;
  const int bytes = g.add({.op = "constant",
                           .arguments = {{"idata", std::vector<int64_t>{1, 2, 3, 4}},
                                         {"dtype", std::string("uint8")}}});
  g.add({.op = "resize", .inputs = {Ref{bytes, 0}}});
  EXPECT_TRUE(message<GraphError>([&] {
                check(g);
              }).ends_with("Are these the bytes of a file? A decoder makes them a picture"));
}

TEST(Graph, NamesTheSeed) {
  Graph g = example();
  EXPECT_EQ(message<GraphError>([&] {
              g.add({.op = "random.uniform",
                     .arguments = {{"seed", std::string("x")}},
                     .where = "train.py:8"});
            }),
            "random.uniform (train.py:8): argument 'seed' expects int, got 'x'");
}

TEST(Graph, NamesAreUnique) {
  Graph g = example();
  EXPECT_NE(message<GraphError>([&] {
              g.add({.op = "flip", .name = "cut", .inputs = {Ref{0, 0}}});
            }).find("two operators"),
            std::string::npos);
}

TEST(Graph, SavesAndLoadsWithoutLoss) {
  const Graph g = example();
  std::string options;
  const Graph back = load_graph(save_graph(g, R"({"batch_size": 3})"), options);
  EXPECT_EQ(save_graph(back, options), save_graph(g, R"({"batch_size": 3})"));
  EXPECT_EQ(options, R"({"batch_size":3})");
  EXPECT_EQ(back.nodes[1].key, g.nodes[1].key);
  EXPECT_EQ(back.nodes[2].where, "train.py:5");
}

TEST(Graph, SavesWhichOutputsAreCopiedToTheHost) {
  Graph g = example();
  g.outputs[1].to_host = true;
  std::string options, text = save_graph(g, "{}");
  const Graph back = load_graph(text, options);
  EXPECT_FALSE(back.outputs[0].to_host);
  EXPECT_TRUE(back.outputs[1].to_host);
  EXPECT_EQ(save_graph(back, "{}"), text);
  text.replace(text.rfind("\"cpu\""), 5, "\"tpu\"");
  EXPECT_NE(message<GraphError>([&] { (void)load_graph(text, options); }).find("expects \"cpu\""),
            std::string::npos);
}

TEST(Graph, SavesNamesThatAreNotUtf8) {
  const std::vector<std::string> names = {"caf\xe9%.jpg", "caf\xc3\xa9%41.jpg", "\xff"};
  Graph g;
  const int bytes = g.add({.op = "readers.file", .arguments = {{"files", names}}});
  g.outputs = {{bytes, 0}};
  std::string options;
  const std::string text = save_graph(g, "{}");
  EXPECT_TRUE(is_utf8(text));
  EXPECT_EQ(load_graph(text, options).nodes[0].arguments.at("files"), Value(names));
  const auto with = [&](const std::string& code) {
    return message<GraphError>(
        [&] { (void)load_graph(std::string(text).replace(text.find("%E9"), 3, code), options); });
  };
  EXPECT_EQ(with("%e9"), "nothing was thrown");
  for (const char* code : {"%G9", "%-1", "%"})
    EXPECT_NE(with(code).find("two hexadecimal digits behind each %"), std::string::npos) << code;
}

TEST(Graph, NamesOfOperatorsAreUtf8) {
  Graph g = example();
  const std::string text =
      message<GraphError>([&] { g.add({.op = "flip", .name = "caf\xe9", .inputs = {Ref{0, 0}}}); });
  EXPECT_NE(text.find("expect UTF-8, got 'caf\\xe9'"), std::string::npos) << text;
}

TEST(Graph, RefusesVersionsThatNeverWere) {
  const std::string good = save_graph(example(), "{}"), one = "version\": 1,";
  int places = 0;  // of the format, of the chance and of each operator
  for (size_t at = 0; (at = good.find(one, at)) != good.npos; ++at, ++places) {
    std::string bad = good, options;
    bad.replace(at, one.size(), "version\": 0,");
    EXPECT_NE(message<GraphError>([&] { (void)load_graph(bad, options); }).find("from 1 to"),
              good.npos);
  }
  EXPECT_EQ(places, 2 + static_cast<int>(example().nodes.size()));
}

TEST(Graph, RefusesDamagedFiles) {
  std::string options;
  const std::string good = save_graph(example(), "{}");
  auto changed = [&](const std::string& from, const std::string& to) {
    std::string s = good;
    const size_t at = s.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return message<GraphError>([&] { (void)load_graph(s.replace(at, from.size(), to), options); });
  };
  EXPECT_NE(changed("stoker graph", "other").find("not a saved"), std::string::npos);
  EXPECT_NE(changed("\"version\": 1", "\"version\": 99").find("reads up to"), std::string::npos);
  EXPECT_NE(changed("\"op\": \"crop\"", "\"op\": \"crap\"").find("Did you mean"),
            std::string::npos);
  EXPECT_NE(message<GraphError>([&] { (void)load_graph("{", options); }).find("damaged"),
            std::string::npos);
  EXPECT_NE(message<GraphError>([&] { (void)load_graph("[]", options); }).find("damaged"),
            std::string::npos);
}

}  // namespace
}  // namespace stoker
