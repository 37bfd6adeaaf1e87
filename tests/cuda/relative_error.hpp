#pragma once
#include <vector>

#include "cuda/op_case.hpp"

/// How far a result is from the truth, relative to the root mean square of the truth: in the mean (the norm of the error
/// over the norm of the truth), and where it is worst. Infinite where it is NaN, or of another length. Where the truth is
/// 0, as is the gradient of a query that sees a single key, errors count as they are: operands are of size 1.
struct RelativeError {
  double mean = 0, worst = 0;
};
RelativeError relative_error(const Numbers& result, const Numbers& truth);

/// What an op may be off by. The largest relative error of one rounding is a unit: what is rounded once, and else exact,
/// passes.
///
///   mean    `times` PyTorch's error in the same precision, and no less than a unit
///   worst   twice as many times PyTorch's worst element, and no less than two units of the largest
///
/// The error of a few numbers is a lottery: in fewer than 100, PyTorch's counts as a unit at least.
RelativeError allowed_error(const RelativeError& pytorch, const Result& truth, Precision precision, double times);

/// All cases of tests/files/op_cases.json of an op: without the large ones where the environment has ATTN_TEST_QUICK=1, nor
/// those that a detector of races would follow for long where it has 2, and only a share of them where it has
/// ATTN_TEST_SHARE=0/4; an Error where there is none of the op at all. And the error of PyTorch that
/// tests/python/cuda_errors.py recorded in a result of one: on a GPU, unless there is no record of one.
std::vector<OpCase> cases_of(const std::string& op);
RelativeError pytorch_error(const OpCase& test, const std::string& result, Precision precision, bool on_gpu);
