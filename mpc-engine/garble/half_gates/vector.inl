// SPDX-License-Identifier: Apache-2.0
// Half-gates in vector registers; reference.cc has the formulas. Included by each kernel that has
// registers with AES instructions, in its unnamed namespace, with two kinds of types:
//
// A register R has the type V, of R::kBlocks labels, and what is done with them.
//
// A shape says which labels stand in one register: `kGates` gates' of one instance or one gate's of
// each instance. The labels that a register holds of either wire are a unit; units are independent,
// and kGarbledAtOnce or kEvaluatedAtOnce of them keep the AES pipeline full. It has
//   V key(round), delta(), tweak(first)     of all labels in a register
//   V operand<kComplements>(gates, which)   their labels of an operand, complemented for a garbler
//   void put(gates, V)                      results into their slots
//   void put_tables(g, V, V), V get_tables  tables of gates g, g + 1, ...
// `Part` says how many gates a unit really has; all of kGates where that is known when compiled.

// Hashes without the last ⊕ σ(x): π of N registers.
template <class Shape, std::size_t N>
inline void permute_all(const Shape& shape, typename Shape::V (&x)[N]) {
  using R = typename Shape::R;
  for (std::size_t k = 0; k < N; ++k) x[k] = R::add(x[k], shape.key(0));
#pragma GCC unroll 16
  for (std::size_t round = 1; round < RoundKeys::kRounds; ++round) {
    const typename Shape::V key = shape.key(round);
#pragma GCC unroll 16
    for (std::size_t k = 0; k < N; ++k) x[k] = R::round(x[k], key);
  }
#pragma GCC unroll 16
  for (std::size_t k = 0; k < N; ++k) x[k] = R::last_round(x[k], shape.key(RoundKeys::kRounds));
}

template <class Shape, std::size_t kUnits>
inline void garble_units(Shape& shape, const ScheduledGate* gates, std::size_t g,
                         std::uint64_t first_tweak, std::size_t part) {
  using R = typename Shape::R;
  using V = typename Shape::V;
  const V delta = shape.delta(), sigma_delta = R::sigma(delta);
  V a[kUnits], b[kUnits], x[4 * kUnits];
#pragma GCC unroll 8
  for (std::size_t u = 0; u < kUnits; ++u) {
    const ScheduledGate* at = gates + g + u * Shape::kGates;
    a[u] = shape.template operand<true>(at, &ScheduledGate::a, part);
    b[u] = shape.template operand<true>(at, &ScheduledGate::b, part);
    const V j = shape.tweak(first_tweak + kTweaksPerAnd * (g + u * Shape::kGates));
    const V a0 = R::add(R::sigma(a[u]), j), b0 = R::add(R::sigma(b[u]), j, R::one());
    x[4 * u] = a0;
    x[4 * u + 1] = R::add(a0, sigma_delta);
    x[4 * u + 2] = b0;
    x[4 * u + 3] = R::add(b0, sigma_delta);
  }
  permute_all<Shape, 4 * kUnits>(shape, x);
#pragma GCC unroll 8
  for (std::size_t u = 0; u < kUnits; ++u) {
    // H(A, j) ⊕ H(A ⊕ Δ, j) = π(...) ⊕ π(...) ⊕ σ(Δ), likewise of B.
    const V both_a = R::add(x[4 * u], x[4 * u + 1], sigma_delta);
    const V both_b = R::add(x[4 * u + 2], x[4 * u + 3], sigma_delta);
    const V table_g = R::add_where(both_a, b[u], delta), table_e = R::add(both_b, a[u]);
    const V hashes = R::add(R::add(x[4 * u], x[4 * u + 2]), R::sigma(R::add(a[u], b[u])));
    shape.put(gates + g + u * Shape::kGates,
              R::add_where(R::add_where(hashes, a[u], table_g), b[u], both_b), part);
    shape.put_tables(g + u * Shape::kGates, table_g, table_e, part);
  }
}

template <class Shape, std::size_t kUnits>
inline void evaluate_units(Shape& shape, const ScheduledGate* gates, std::size_t g,
                           std::uint64_t first_tweak, std::size_t part) {
  using R = typename Shape::R;
  using V = typename Shape::V;
  V a[kUnits], b[kUnits], x[2 * kUnits];
#pragma GCC unroll 8
  for (std::size_t u = 0; u < kUnits; ++u) {
    const ScheduledGate* at = gates + g + u * Shape::kGates;
    a[u] = shape.template operand<false>(at, &ScheduledGate::a, part);
    b[u] = shape.template operand<false>(at, &ScheduledGate::b, part);
    const V j = shape.tweak(first_tweak + kTweaksPerAnd * (g + u * Shape::kGates));
    x[2 * u] = R::add(R::sigma(a[u]), j);
    x[2 * u + 1] = R::add(R::sigma(b[u]), j, R::one());
  }
  permute_all<Shape, 2 * kUnits>(shape, x);
#pragma GCC unroll 8
  for (std::size_t u = 0; u < kUnits; ++u) {
    V table_g, table_e;
    shape.get_tables(g + u * Shape::kGates, table_g, table_e, part);
    const V hashes = R::add(R::add(x[2 * u], x[2 * u + 1]), R::sigma(R::add(a[u], b[u])));
    shape.put(gates + g + u * Shape::kGates,
              R::add_where(R::add_where(hashes, a[u], table_g), b[u], R::add(table_e, a[u])), part);
  }
}

template <class Shape>
void garble_all(Shape shape, std::span<const ScheduledGate> gates, std::uint64_t tweak) {
  constexpr std::size_t kStep = Shape::kGates * Shape::kGarbledAtOnce;
  std::size_t g = 0;
  for (; g + kStep <= gates.size(); g += kStep)
    garble_units<Shape, Shape::kGarbledAtOnce>(shape, gates.data(), g, tweak, Shape::kGates);
  for (; g + Shape::kGates <= gates.size(); g += Shape::kGates)
    garble_units<Shape, 1>(shape, gates.data(), g, tweak, Shape::kGates);
  if (g < gates.size()) garble_units<Shape, 1>(shape, gates.data(), g, tweak, gates.size() - g);
}

template <class Shape>
void evaluate_all(Shape shape, std::span<const ScheduledGate> gates, std::uint64_t tweak) {
  constexpr std::size_t kStep = Shape::kGates * Shape::kEvaluatedAtOnce;
  std::size_t g = 0;
  for (; g + kStep <= gates.size(); g += kStep)
    evaluate_units<Shape, Shape::kEvaluatedAtOnce>(shape, gates.data(), g, tweak, Shape::kGates);
  for (; g + Shape::kGates <= gates.size(); g += Shape::kGates)
    evaluate_units<Shape, 1>(shape, gates.data(), g, tweak, Shape::kGates);
  if (g < gates.size()) evaluate_units<Shape, 1>(shape, gates.data(), g, tweak, gates.size() - g);
}
