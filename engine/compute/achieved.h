#pragma once

#include <cstdint>

namespace vram {

// What runs reach of a data sheet, and what else a step takes that no data sheet says: every number of the time
// estimate that was fitted or looked up, in one place.
//
// "Fitted" is: the logarithm of measured tokens a second, each source weighted by the square root of its runs, on 477
// runs of llm-foundry (A100, H100), Megatron-LM (arXiv 2104.04473 and 2205.05198, A100; its README, H100), BLOOM's
// chronicles (A100), torchtitan (H100), DeepSpeed (A100), Megatron-Bridge (H100, B200, B300, GB200, GB300) and
// DeepSeek-V3 (H800), all constants at once; rows of dense models by a Huber loss. Releases of one library differ by up
// to a half on mixtures of experts: there the fourth power is minimised, which puts the estimate amid them, not on the
// most frequent. docs/METHODS.md has the error of each source when the others alone are fitted.

enum class Chip : uint8_t { volta, ampere, hopper, blackwell, blackwell_ultra, tpu, instinct, other };

/// Shares of the dense peak of a format that large matrix products reach inside training, and of the 16-bit peak that
/// FlashAttention reaches on the half of the scores that a causal mask leaves.
struct ChipRates {
  Chip chip;
  double matrix16, matrix8, matrix4;
  double attention;        // FlashAttention's own kernels (of 2023, where fitted)
  double fused_attention;  // cuDNN's, which TransformerEngine calls
};

inline constexpr ChipRates kChipRates[] = {
    {Chip::volta, 0.60, 0.60, 0.60, 0.25, 0.25},      // a judgement
    {Chip::ampere, 0.75, 0.75, 0.75, 0.36, 0.45},     // fitted; fused attention a judgement
    {Chip::hopper, 0.63, 0.57, 0.57, 0.17, 0.45},     // fitted
    {Chip::blackwell, 0.63, 0.57, 0.42, 0.25, 0.42},  // fitted; 16 bit on mixtures only, plain attention a judgement
    {Chip::blackwell_ultra, 0.63, 0.79, 0.41, 0.25, 0.49},  // likewise
    {Chip::tpu, 0.70, 0.70, 0.70, 0.45, 0.45},              // a judgement: MaxText reports 39 to 65% MFU
    {Chip::instinct, 0.45, 0.40, 0.40, 0.25, 0.25},         // a judgement
    {Chip::other, 0.60, 0.50, 0.40, 0.25, 0.35},            // a judgement
};

// --- Matrix products ---------------------------------------------------------------------------------------------

/// Outputs that the last wave of tiles leaves idle on average: half a wave of 128 x 256 tiles on 108 to 148
/// multiprocessors is 1.8 to 2.4 million (NVIDIA, Matrix Multiplication Background User's Guide, section 3.2). Fitted.
inline constexpr double kTailOutputs = 1.8e6;

/// Depth in which a tile's pipeline fills and drains: four steps of 32.
inline constexpr double kRampDepth = 128;

/// Rows of a tile of 128 that an expert's last one leaves empty, on average.
inline constexpr double kExpertTileRows = 64;

/// What several experts' products in one kernel reach of a single large one's rate. Fitted on Megatron-Bridge's
/// mixtures. A rank with one expert has no such kernel: Mixtral 8x7B's 468 TFLOPS over 8 ranks (Megatron-Core's
/// README).
inline constexpr double kGroupedShare = 0.62;

/// Of the peak without tensor cores, by products that are not aligned for them. A judgement, held up by BLOOM's
/// chronicles: heads of 225 elements.
inline constexpr double kUnalignedShare = 0.6;

/// A score's softmax takes FlashAttention as long as the products of so many more elements of a head. Fitted.
inline constexpr double kSoftmaxWidth = 48;

// --- Memory traffic ----------------------------------------------------------------------------------------------

/// Of the data sheet's bandwidth, by elementwise kernels. A judgement.
inline constexpr double kMemoryShare = 0.85;

/// How often eager kernels take a tensor through memory for once of fused ones. Fitted.
inline constexpr double kEagerTraffic = 1.8;

/// A norm composed of elementary operations in fp32 (transformers, models/llama, LlamaRMSNorm: 36 B forward and 74 B
/// backward an element, for 4 and 6 B of one kernel), over kEagerTraffic.
inline constexpr double kComposedNorm = 6;

/// Biases of experts, which Megatron-LM adds expert by expert (core/transformer/moe/experts.py, _apply_bias: scaled by
/// the router's weight, added, put together again), an output element: two kernels' reads and writes.
inline constexpr double kExpertBiasBytes = 12;

/// Bytes a token and output row of a recurrent mixer's projections: convolution, scan, gate, norm. Fitted on Nemotron 3
/// Nano, whose mixers are Mamba-2's.
inline constexpr double kMixerTraffic = 53;

/// A score: written by the first product, read and written by the softmax, read by the second; backward its gradient
/// written, softmax and gradient read, one written, all read again. Dropout reads and writes it with a mask.
inline constexpr double kScoreForwardBytes = 8;
inline constexpr double kScoreBackwardBytes = 14;
inline constexpr double kDropoutBytes = 5;

/// An 8-bit copy, as it is and transposed: written by the kernel before (TransformerEngine) ...
inline constexpr double kCastBytes = 1;
/// ... or by kernels of their own, which find the largest value first. Fitted on torchtitan and llm-foundry.
inline constexpr double kEagerCastBytes = 4.6;

// --- Messages ----------------------------------------------------------------------------------------------------

/// Of the nominal bandwidth, by NCCL's collectives. Fitted, from 0.7 and 0.75.
inline constexpr double kLinkShare = 0.71;
inline constexpr double kNetworkShare = 0.80;
/// PCIe's 16 lanes lead through a switch or the host, which several cards share. A judgement.
inline constexpr double kPcieShare = 0.5;

/// Of what runs beside arithmetic, the part that it slows down: both want multiprocessors and bandwidth. Fitted.
inline constexpr double kUnhidden = 0.1;

/// A collective's latency.
inline constexpr double kMessageSeconds = 20e-6;

/// What every doubling of the GPUs past 8 costs: all wait for the slowest. Fitted.
inline constexpr double kLostPerDoubling = 0.01;

// --- Host --------------------------------------------------------------------------------------------------------

/// A layer's kernels, forward and backward, cannot be launched faster than this. With experts: fitted on
/// Megatron-Bridge's runs with micro-batches of one sequence. Dense: a judgement (100 kernels of 5 us).
inline constexpr double kLayerHostSeconds = 0.5e-3;
inline constexpr double kExpertHostSeconds = 7.6e-3;

/// A parameter's step on the processors of a node: 0.26 s for 10^9 (ZeRO-Offload, arXiv 2101.06840, table 4).
inline constexpr double kHostAdamSeconds = 0.26e-9;

// --- Bands -------------------------------------------------------------------------------------------------------

/// Half-widths that hold nineteen in twenty of the runs above of dense models, nine in ten of mixtures; with their
/// source left out, eight in ten.
inline constexpr double kDenseBand = 0.18;
inline constexpr double kExpertBand = 0.30;  // and of models without a shape

}  // namespace vram
