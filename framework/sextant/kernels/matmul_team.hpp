// Matrix products by teams of threads, with panels of both operands in their scratch memory: the path of a device, which runs
// on host spaces too. The same operands and results as matmul.hpp.
#pragma once
#include <sextant/kernels/matmul.hpp>

namespace sextant::kernels::team {

/// c = op(a) op(b), or c +=, of operands that Precision::bf16 rounds first; B is T, or BFloat16 beside float. Sums are T, each
/// from k = 0 upwards in runs of a fixed length, so that an entry has the same bits whatever stands beside it, for any number of
/// threads. Does not wait for the end. `team_size` is the number of threads of a team; 0 leaves it to Kokkos. Throws Error
/// naming the shapes that disagree.
template <class T, class B>
void matmul(Exec const& exec, Matrix<T const> const& a, Op op_a, Matrix<B const> const& b, Op op_b, Matrix<T> const& c,
            Into into, Precision precision = Precision::fp32, int team_size = 0);

}  // namespace sextant::kernels::team
