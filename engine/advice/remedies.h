#pragma once

#include <vector>

#include "engine/advice/findings.h"

namespace vram {

/// Single changes that let a training plan fit, or bring it nearer: each tried on the real bill. The changes that
/// suffice come first, in the order people should try them; at most `most`. Where none suffices alone, one finding
/// with several together, where that suffices.
std::vector<Finding> training_remedies(const Plan& plan, const TrainingTotals& bill, size_t most);

/// The same for a server that does not hold the requests asked of it.
std::vector<Finding> serving_remedies(const Plan& plan, const ServingBill& bill, size_t most);

/// Of a server that failed: each change that saves a hundredth of a GPU's need or makes room for more requests, the
/// largest saving first.
std::vector<Finding> serving_cures(const Plan& plan, const ServingBill& bill);

/// What one GPU has to hold for the requests asked of it: their KV cache and all that is no KV cache.
double serving_need(const Plan& plan, const ServingBill& bill);

/// What a reader should know of a plan whether or not it fits.
std::vector<Finding> notices(const Plan& plan, const TrainingBill& training, const ComputeFigures& compute,
                             const ServingBill& serving);

/// The cluster's part of them: how many GPUs at least, what the links must carry, host memory, tokens.
void about_the_cluster(const Plan& plan, const TrainingBill& training, const ComputeFigures& compute,
                       std::vector<Finding>& out);

/// A finding that saves nothing.
Finding notice(Severity severity, const char* id, std::string text, std::string change = "");

/// Time of the same tokens after a change ÷ before, by the estimate, whatever `mfu` says: a given MFU cannot know what
/// a change costs. Empty where it is not known.
std::optional<double> time_ratio(const Plan& plan, const Plan& changed);

/// Bytes as the plan's reader wants them: GiB or GB.
std::string shown_bytes(const Plan& plan, double bytes);

}  // namespace vram
