"""More of transformers: models that take other things than tokens, or have parts of their own.

Built as those of `tools.zoo_torch`, from small random configurations.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch
import transformers
from torch import nn
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["TOKENS", "models"]

_WORDS = 99
TOKENS = {
    "vocab_size": _WORDS,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 37,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
_GROUPED = {**TOKENS, "num_key_value_heads": 2}
_EXPERTS = {
    **_GROUPED,
    # Grouped products take rows of a multiple of 16 bytes.
    "intermediate_size": 48,
    "num_experts": 4,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
}
_TWO = {
    "vocab_size": _WORDS,
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 37,
    "decoder_ffn_dim": 37,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
_T5 = {
    "vocab_size": _WORDS,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 37,
    "num_layers": 2,
    "num_decoder_layers": 2,
    "num_heads": 4,
    "pad_token_id": 0,
}
_PATCHES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 37,
    "image_size": 32,
    "patch_size": 8,
}
_STAGES = {"depths": [1, 1, 1, 1], "hidden_sizes": [8, 16, 24, 32], "image_size": 64}
_SWIN = {
    "image_size": 32,
    "patch_size": 2,
    "embed_dim": 16,
    "depths": [1, 2],
    "num_heads": [2, 4],
    "window_size": 4,
}
_SOUND = {
    "vocab_size": 32,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 37,
    "conv_dim": (16, 16, 16),
    "conv_stride": (5, 4, 2),
    "conv_kernel": (10, 3, 2),
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 2,
    "apply_spec_augment": False,
}
_IMAGE_TOWER = {**_PATCHES, "projection_dim": 16}
# Heads are computed from a shorter vector that is kept.
_LATENT = {
    **_EXPERTS,
    "num_key_value_heads": 4,
    "kv_lora_rank": 16,
    "q_lora_rank": 16,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 8,
    "v_head_dim": 8,
    "n_routed_experts": 4,
    "topk_group": 1,
    "first_k_dense_replace": 1,
}
_TEXT_TOWER = {**TOKENS, "projection_dim": 16, "eos_token_id": 2, "bos_token_id": 1}
_TOWERS = {
    "text_config": _TEXT_TOWER,
    "vision_config": _IMAGE_TOWER,
    "projection_dim": 16,
}
_MAMBA = {"vocab_size": _WORDS, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 8}


def _words() -> torch.Tensor:
    return torch.randint(3, _WORDS, (2, 12))


def _images(size: int) -> dict[str, Callable[[], torch.Tensor]]:
    return {"pixel_values": lambda: torch.randn(1, 3, size, size)}


_TEXT = {"input_ids": _words}
_BOTH = {"input_ids": _words, "decoder_input_ids": _words}
_WAVE = {"input_values": lambda: torch.randn(1, 2000)}
_CLIP = {"input_ids": _words, **_images(32)}

# The class -> its configuration, and what it takes.
MODELS: dict[str, tuple[dict[str, Any], dict[str, Callable[[], torch.Tensor]]]] = {
    # Language, with parts of its own.
    "GPT2LMHeadModel": (
        {"vocab_size": _WORDS, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64},
        _TEXT,
    ),
    "DeepseekV2ForCausalLM": ({**_LATENT, "n_group": 1}, _TEXT),
    "DeepseekV3ForCausalLM": ({**_LATENT, "n_group": 2}, _TEXT),
    "Qwen2MoeForCausalLM": ({**_EXPERTS, "shared_expert_intermediate_size": 16}, _TEXT),
    "Qwen3MoeForCausalLM": ({**_EXPERTS, "head_dim": 8}, _TEXT),
    "GptOssForCausalLM": ({**_EXPERTS, "head_dim": 8, "sliding_window": 8}, _TEXT),
    "OlmoeForCausalLM": (_EXPERTS, _TEXT),
    "PhimoeForCausalLM": (_EXPERTS, _TEXT),
    "Gemma3ForCausalLM": ({**_GROUPED, "head_dim": 8, "sliding_window": 8}, _TEXT),
    "Cohere2ForCausalLM": ({**_GROUPED, "sliding_window": 8}, _TEXT),
    "Exaone4ForCausalLM": ({**_GROUPED, "sliding_window": 8}, _TEXT),
    "Ernie4_5ForCausalLM": (_GROUPED, _TEXT),
    "Lfm2ForCausalLM": (_GROUPED, _TEXT),
    "PersimmonForCausalLM": (TOKENS, _TEXT),
    "GPTBigCodeForCausalLM": (
        {"vocab_size": _WORDS, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64},
        _TEXT,
    ),
    "MptForCausalLM": (
        {"vocab_size": _WORDS, "d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 64},
        _TEXT,
    ),
    "BioGptForCausalLM": (TOKENS, _TEXT),
    "XGLMForCausalLM": (
        {
            "vocab_size": _WORDS,
            "d_model": 32,
            "num_layers": 2,
            "attention_heads": 4,
            "ffn_dim": 37,
            "max_position_embeddings": 64,
        },
        _TEXT,
    ),
    "MambaForCausalLM": (_MAMBA, _TEXT),
    "Mamba2ForCausalLM": (
        {**_MAMBA, "num_heads": 8, "head_dim": 8, "n_groups": 1, "chunk_size": 8},
        _TEXT,
    ),
    "RecurrentGemmaForCausalLM": (
        {**_GROUPED, "num_hidden_layers": 3, "head_dim": 8, "lru_width": 32},
        _TEXT,
    ),
    "DebertaModel": (
        {**TOKENS, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
        _TEXT,
    ),
    "DebertaV2Model": (
        {**TOKENS, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
        _TEXT,
    ),
    "LongformerModel": ({**TOKENS, "attention_window": 4}, _TEXT),
    "BigBirdModel": (TOKENS, _TEXT),
    "XLNetModel": (
        {"vocab_size": _WORDS, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 37},
        _TEXT,
    ),
    "FunnelModel": (
        {
            "vocab_size": _WORDS,
            "d_model": 32,
            "block_sizes": [1, 2],
            "n_head": 4,
            "d_head": 8,
            "d_inner": 37,
        },
        _TEXT,
    ),
    "XLMRobertaModel": (TOKENS, _TEXT),
    "LayoutLMModel": (TOKENS, _TEXT),
    "EsmModel": ({**TOKENS, "position_embedding_type": "rotary"}, _TEXT),
    "CanineModel": (
        {**TOKENS, "local_transformer_stride": 4},
        {"input_ids": lambda: torch.randint(3, _WORDS, (2, 16))},
    ),
    "BertForQuestionAnswering": (TOKENS, _TEXT),
    "RobertaForSequenceClassification": (TOKENS, _TEXT),
    "DistilBertForTokenClassification": (
        {"vocab_size": _WORDS, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 37},
        _TEXT,
    ),
    # From a text to a text.
    "T5ForConditionalGeneration": (_T5, _BOTH),
    "MT5Model": (_T5, _BOTH),
    "UMT5Model": (_T5, _BOTH),
    "LongT5Model": ({**_T5, "local_radius": 4}, _BOTH),
    "SwitchTransformersModel": ({**_T5, "num_experts": 4}, _BOTH),
    "BartForConditionalGeneration": (_TWO, _BOTH),
    "MBartModel": (_TWO, _BOTH),
    "PegasusModel": (_TWO, _BOTH),
    "MarianModel": ({**_TWO, "decoder_start_token_id": 0}, _BOTH),
    "BlenderbotModel": (_TWO, _BOTH),
    "M2M100Model": (_TWO, _BOTH),
    # Sound.
    "WhisperForConditionalGeneration": (
        {**_TWO, "num_mel_bins": 16, "max_source_positions": 20, "max_target_positions": 32},
        {"input_features": lambda: torch.randn(1, 16, 40), "decoder_input_ids": _words},
    ),
    "Wav2Vec2ForCTC": (_SOUND, _WAVE),
    "HubertModel": (_SOUND, _WAVE),
    "WavLMModel": (_SOUND, _WAVE),
    "SEWModel": ({**_SOUND, "squeeze_factor": 2}, _WAVE),
    "ASTModel": (
        {
            **{k: v for k, v in _PATCHES.items() if k != "image_size"},
            "max_length": 32,
            "num_mel_bins": 16,
        },
        {"input_values": lambda: torch.randn(1, 32, 16)},
    ),
    # Images.
    "ViTForImageClassification": (_PATCHES, _images(32)),
    "DeiTModel": (_PATCHES, _images(32)),
    "BeitModel": ({**_PATCHES, "use_relative_position_bias": True}, _images(32)),
    "Dinov2Model": ({k: v for k, v in _PATCHES.items() if k != "intermediate_size"}, _images(32)),
    "DINOv3ViTModel": (_PATCHES, _images(32)),
    "SwinModel": (_SWIN, _images(32)),
    "Swinv2Model": (_SWIN, _images(32)),
    "ConvNextV2Model": (_STAGES, _images(64)),
    "ResNetModel": (
        {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1]},
        _images(32),
    ),
    "SegformerForSemanticSegmentation": (
        {
            "depths": [1, 1, 1, 1],
            "hidden_sizes": [8, 16, 24, 32],
            "num_attention_heads": [1, 2, 2, 4],
            "decoder_hidden_size": 16,
        },
        _images(64),
    ),
    "PvtV2ForImageClassification": (
        {
            "depths": [1, 1, 1, 1],
            "hidden_sizes": [8, 16, 24, 32],
            "num_attention_heads": [1, 2, 2, 4],
            "mlp_ratios": [2, 2, 2, 2],
        },
        _images(64),
    ),
    "HieraModel": (
        {
            "image_size": [64, 64],
            "embed_dim": 16,
            "depths": [1, 1, 1, 1],
            "num_heads": [1, 2, 2, 4],
        },
        _images(64),
    ),
    "YolosForObjectDetection": (
        {**_PATCHES, "image_size": [32, 32], "num_detection_tokens": 5},
        _images(32),
    ),
    "DPTForDepthEstimation": (
        {
            **_PATCHES,
            "num_hidden_layers": 4,
            "backbone_out_indices": [0, 1, 2, 3],
            "neck_hidden_sizes": [8, 16, 16, 32],
            "fusion_hidden_size": 16,
        },
        _images(32),
    ),
    "VideoMAEModel": (
        {**_PATCHES, "num_frames": 4},
        {"pixel_values": lambda: torch.randn(1, 4, 3, 32, 32)},
    ),
    # Images and texts.
    "CLIPModel": (_TOWERS, _CLIP),
    "SiglipModel": ({"text_config": TOKENS, "vision_config": _PATCHES}, _CLIP),
    "BlipModel": (_TOWERS, _CLIP),
    "ViltModel": (
        {**_PATCHES, **TOKENS},
        {"input_ids": lambda: _words()[:1], **_images(32)},
    ),
    # Series of numbers.
    "PatchTSTForPrediction": (
        {
            "num_input_channels": 2,
            "context_length": 32,
            "patch_length": 8,
            "patch_stride": 8,
            "prediction_length": 4,
            "d_model": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "ffn_dim": 32,
        },
        {"past_values": lambda: torch.randn(1, 32, 2)},
    ),
}


class Named(nn.Module):
    """A model of transformers as a function of what it takes by name, without a cache.

    Args:
        kind: Its class.
        sizes: Its configuration.
        names: What it takes.
    """

    def __init__(self, kind: str, sizes: dict[str, Any], names: tuple[str, ...]) -> None:
        super().__init__()
        cls = getattr(transformers, kind)
        self.inner = cls(cls.config_class(**sizes))
        self.inner.config.use_cache = False
        self.names = names

    def forward(self, *given: torch.Tensor) -> list[torch.Tensor]:
        """Return every tensor that it returns."""
        made = self.inner(**dict(zip(self.names, given, strict=True)), return_dict=False)
        return [x for x in pytree.tree_leaves(made) if isinstance(x, torch.Tensor)]


def models() -> Iterator[tuple[str, Callable[[], nn.Module], Callable[[], tuple[Any, ...]]]]:
    """Yield the name of each, what makes it, and what makes its inputs."""
    for kind, (sizes, inputs) in MODELS.items():
        make = functools.partial(Named, kind, sizes, tuple(inputs))
        yield kind, make, functools.partial(_sample, tuple(inputs.values()))


def _sample(inputs: tuple[Callable[[], torch.Tensor], ...]) -> tuple[torch.Tensor, ...]:
    return tuple(make() for make in inputs)
