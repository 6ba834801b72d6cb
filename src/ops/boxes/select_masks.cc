// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "kernels/strided_copy.h"
#include "op/type_of.h"

namespace stoker::ops::boxes {

struct SelectMasks {
  bool reindex_masks = false;

  static constexpr auto schema = describe(
      "segmentation.select_masks",
      "Picks some of the masks of a picture that are lists of polygons.\n\n"
      "Polygons come in the order of the mask_ids, and those of one mask in their own order. Their "
      "vertices become those of the output, without gaps. It is an error if a mask_id comes twice "
      "or has no polygon, or if a polygon has vertices that are not there.",
      ports({.name = "mask_ids", .help = "The wanted masks, of shape (M).", .dtypes = "int32"},
            {.name = "polygons",
             .help = "A row for each polygon: the mask that it belongs to, the number of its first "
                     "vertex, and the number behind its last one.",
             .dtypes = "int32"},
            {.name = "vertices", .help = "A row of coordinates for each vertex."}),
      ports({.name = "selected_polygons", .help = "The rows of the wanted polygons, int32."},
            {.name = "selected_vertices", .help = "The rows of their vertices."}),
      arg(&SelectMasks::reindex_masks, "reindex_masks",
          "Whether masks get new ids: their places in mask_ids."));

  void check(Checker& c) const {
    const auto require_rank = [&](size_t i, int rank, const char* words) {
      const Shape& s = c.in(i).shape;
      require(s.rank < 0 || s.rank == rank, schema.inputs[i].name, " have the shape ", s,
              ", expected ", words);
    };
    require_rank(0, 1, "(M)");
    require_rank(1, 2, "(P, 3)");
    require_rank(2, 2, "(V, N)");
    const Shape &p = c.in(1).shape, &v = c.in(2).shape;
    require(p.rank < 0 || p[1] < 0 || p[1] == 3, "polygons have the shape ", p,
            ", expected (P, 3)");
    c.out({DType::kInt32, {}, {-1, 3}});
    c.out({c.in(2).dtype, {}, {-1, v.rank < 0 ? -1 : v[1]}});
  }

  void run_cpu(Run& r) const {
    const View &ids = r.inputs[0], &polygons = r.inputs[1], &vertices = r.inputs[2];
    require(ids.full.rank == 1, "mask_ids have the shape ", ids.full, ", expected (M)");
    require(polygons.full.rank == 2 && polygons.full[1] == 3, "polygons have the shape ",
            polygons.full, ", expected (P, 3)");
    require(vertices.full.rank == 2, "vertices have the shape ", vertices.full,
            ", expected (V, N)");
    const std::vector<int32_t> wanted = numbers(ids), rows = numbers(polygons);
    std::unordered_map<int32_t, std::vector<size_t>> polygons_of;
    for (size_t p = 0; p < rows.size(); p += 3) polygons_of[rows[p]].push_back(p);
    std::unordered_set<int32_t> seen;
    std::vector<int32_t> selected;
    std::vector<std::array<int64_t, 2>> parts;  // of the vertices
    int64_t count = 0;
    for (size_t m = 0; m < wanted.size(); ++m) {
      const int32_t id = wanted[m];
      require(seen.insert(id).second, "mask_ids have ", id, " more than once");
      const auto own = polygons_of.find(id);
      require(own != polygons_of.end(), "mask_ids have ", id, ", which no polygon belongs to");
      for (size_t p : own->second) {
        const int64_t begin = rows[p + 1], end = rows[p + 2];
        require(0 <= begin && begin <= end && end <= vertices.full[0], "a polygon of mask ", id,
                " has the vertices from ", begin, " to ", end, ", and there are ",
                vertices.full[0]);
        parts.push_back({begin, end});
        for (int64_t v :
             {int64_t{reindex_masks ? static_cast<int32_t>(m) : id}, count, count + end - begin})
          selected.push_back(static_cast<int32_t>(v));
        count += end - begin;
        require(count <= INT32_MAX, "the polygons have ", count,
                " vertices, more than int32 counts");
      }
    }
    const auto n = static_cast<int64_t>(parts.size());
    std::copy(selected.begin(), selected.end(),
              r.make(0, {DType::kInt32, {}, {n, 3}}).as<int32_t>());
    const View& out = r.make(1, {vertices.dtype, {}, {count, vertices.full[1]}});
    auto* to = out.as<std::byte>();
    for (const auto& [begin, end] : parts) {
      const std::byte* from = vertices.as<std::byte>() + begin * vertices.strides[0];
      copy_to_dense(from, {end - begin, vertices.full[1]}, vertices.strides,
                    size_of(vertices.dtype), to);
      to += (end - begin) * out.strides[0];
    }
  }

  static std::vector<Case> cases() {
    return {
        {"",
         {"int32 [1]", "int32 [[0, 0, 1], [1, 1, 3]]", "float32 [[0, 1], [2, 3], [4, 5]]"},
         {"int32 [[1, 0, 2]]", "float32 [[2, 3], [4, 5]]"}},
        {"reindex_masks=True",
         {"int32 [7, 2]", "int32 [[2, 0, 1], [7, 1, 2], [2, 2, 3]]", "int16 [[0], [1], [2]]"},
         {"int32 [[0, 0, 1], [1, 1, 2], [1, 2, 3]]", "int16 [[1], [0], [2]]"}},
    };
  }

 private:
  static std::vector<int32_t> numbers(const View& v) {
    std::vector<int32_t> all(static_cast<size_t>(v.full.volume()));
    copy_to_dense(v, all.data());
    return all;
  }
};

}  // namespace stoker::ops::boxes

STOKER_OPERATOR(stoker::ops::boxes::SelectMasks)
