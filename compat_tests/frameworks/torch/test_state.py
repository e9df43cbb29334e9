"""What a PyTorch model does beside computing: it changes its state, draws numbers, and branches."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch._higher_order_ops.map import map as torch_map
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.utils import _pytree as pytree

from compat_tests.helpers.lossy import Counting, InPlace
from compat_tests.helpers.torch_calls import Calls
from portable.containers import MalformedContainer
from portable.exporters import ExportedArtifact, ExportFailed, export_torch
from portable.runtime.executors import Executor, InputMismatch

# PyTorch warns of its own use of what it deprecates.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"
)

TARGET = "1.0.0"


def test_batch_norm_in_training(executor: Executor, tmp_path: Path) -> None:
    """Its statistics are results after the output; calls keep them, and so does a directory."""
    torch.manual_seed(0)
    model, x = nn.BatchNorm1d(4), torch.randn(8, 4)
    made = export_torch(model, (x,), target=TARGET)
    assert made.mutated == ("running_mean", "running_var", "num_batches_tracked")
    assert [r.name for r in made.results] == ["output", *made.mutated]
    assert repr(made).splitlines()[0].endswith("changes 3 values")
    before = made.weights["running_mean"].copy()
    made.save(tmp_path / "net")
    loaded = ExportedArtifact.load(tmp_path / "net")
    assert loaded.mutated == made.mutated
    for _ in range(2):
        wanted = model(x)
        for one in (made, loaded):
            assert torch.allclose(one(x, executor=executor), wanted, atol=2e-6)
    for name, value in model.named_buffers():
        for one in (made, loaded):
            assert np.allclose(one.state[name], value.numpy(), atol=1e-6)
    assert np.array_equal(made.weights["running_mean"], before)
    (tmp_path / "net" / "functions" / "forward.state").write_text('{"arguments": [1]}')
    with pytest.raises(MalformedContainer, match=r"forward\.state"):
        ExportedArtifact.load(tmp_path / "net")


def test_state_begins_again(executor: Executor) -> None:
    """What the caller clears is taken from the weights again."""
    made = export_torch(Counting(), (torch.ones(2),), target=TARGET)
    x = torch.ones(2)
    assert [made(x, executor=executor)[0].item() for _ in range(3)] == [1, 2, 3]
    made.state.clear()
    assert made(x, executor=executor)[0].item() == 1


def test_an_input_that_is_changed(executor: Executor) -> None:
    """It is, tensor or array; under two names it is refused, because `main` takes values."""
    made = export_torch(InPlace(), (torch.ones(3),), target=TARGET)
    assert made.mutated == ("x",)
    x = torch.ones(3)
    assert made(x, executor=executor).tolist() == [4, 4, 4]
    assert x.tolist() == [2, 2, 2]
    array = np.ones(3, np.float32)
    made(array, executor=executor)
    assert array.tolist() == [2, 2, 2]

    class Two(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            x.add_(1)
            return x + y

    two = export_torch(Two(), (torch.ones(3), torch.ones(3)), target=TARGET)
    with pytest.raises(InputMismatch, match=r"'x', which the model changes, shares memory with"):
        two(x, x[:], executor=executor)
    assert x.tolist() == [2, 2, 2]


class TwoNames(nn.Module):
    """Has one buffer under two names, or a view of it, and changes it."""

    def __init__(self, view: slice) -> None:
        super().__init__()
        whole = torch.zeros(3)
        self.register_buffer("one", whole)
        self.register_buffer("other", whole[view])

    def forward(self, x: Tensor) -> Tensor:
        """Count, and read the count by the other name."""
        self.one.add_(1)
        return x + self.other.sum()


@pytest.mark.parametrize("view", [slice(None), slice(1, 3)])
def test_changed_memory_with_two_names_is_refused(view: slice) -> None:
    """`main` takes and returns values; so it is for inputs that are examples of each other."""
    with pytest.raises(ExportFailed, match="shares memory with another: use one of them"):
        export_torch(TwoNames(view), (torch.ones(3),), target=TARGET)
    x, model = torch.ones(3), Calls(lambda x, y: x.add_(1) + y.sum())
    with pytest.raises(ExportFailed, match="shares memory with another: use one of them"):
        export_torch(model, (x, x[view]), target=TARGET)


CHANGES: dict[str, Callable[[Tensor], Any]] = {
    "by a view": lambda x: (x.view(-1).add_(1), x * 2)[1],
    "a row": lambda x: (x[0].mul_(3), x)[1],
    "to another dtype": lambda x: x.copy_(torch.full((2, 3), 0.1, dtype=torch.float64)),
    "and returned with a view": lambda x: (x.add_(1)[0], None, x),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_input_that_is_changed_under_an_alias(name: str, executor: Executor) -> None:
    """The results and the input are as the model leaves them."""
    model, x = Calls(CHANGES[name]), torch.arange(6.0).reshape(2, 3)
    made, mine, theirs = export_torch(model, (x.clone(),), target=TARGET), x.clone(), x.clone()
    got, wanted = made(mine, executor=executor), model(theirs)
    assert torch.equal(mine, theirs)
    for one, other in zip(*map(pytree.tree_leaves, (got, wanted)), strict=True):
        assert one is other is None or torch.equal(one, other)


def test_a_view_of_an_input_is_a_copy(executor: Executor) -> None:
    """What is returned does not change with the input."""

    class View(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x[1:]

    x = torch.arange(3.0)
    got = export_torch(View(), (x,), target=TARGET)(x, executor=executor)
    x.zero_()
    assert got.tolist() == [1, 2]


class Decoder(nn.Module):
    """Attention to itself over a cache of fixed size, as decoders of language models have."""

    def __init__(self, size: int = 8, room: int = 12) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words, self.mix = nn.Embedding(20, size), nn.Linear(size, 3 * size)
        self.head = nn.Linear(size, 20)
        self.register_buffer("keys", torch.zeros(1, room, size))
        self.register_buffer("values", torch.zeros(1, room, size))

    def forward(self, tokens: Tensor, places: Tensor) -> Tensor:
        """Score the next token after each; `places` says where the tokens stand."""
        query, key, value = self.mix(self.words(tokens)).chunk(3, -1)
        self.keys.index_copy_(1, places, key)
        self.values.index_copy_(1, places, value)
        seen = torch.arange(self.keys.shape[1])[None, :] <= places[:, None]
        mixed = nn.functional.scaled_dot_product_attention(
            query, self.keys, self.values, attn_mask=seen
        )
        return self.head(mixed)


def test_a_static_cache_of_keys_and_values(executor: Executor) -> None:
    """Prefill and decoding are two programs with one state; token by token as PyTorch."""
    model = Decoder().eval()
    prompt, token = torch.tensor([[3, 5, 7]]), torch.tensor([[1]])
    with torch.no_grad():
        prefill = export_torch(model, (prompt, torch.arange(3)), target=TARGET)
        step = export_torch(model, (token, torch.tensor([3])), target=TARGET)
        step = dataclasses.replace(step, state=prefill.state)
        assert set(step.mutated) == {"keys", "values"}
        wanted = model(prompt, torch.arange(3))
        assert torch.allclose(
            prefill(prompt, torch.arange(3), executor=executor), wanted, atol=2e-6
        )
        for place in range(3, 7):
            token, at = wanted[:, -1:].argmax(-1), torch.tensor([place])
            wanted = model(token, at)
            assert torch.allclose(step(token, at, executor=executor), wanted, atol=2e-6)


def test_dropout_takes_a_seed(executor: Executor, tmp_path: Path) -> None:
    """A half is dropped, the rest is twice as large; a seed decides which; a refusal on request."""
    model, x = nn.Dropout(0.5), torch.rand(64, 64) + 1
    made = export_torch(model, (x,), target="0.9.0")
    assert "stablehlo.rng_bit_generator" in made.get_stablehlo_text()
    first, again, other = (made(x, seed=seed, executor=executor) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    kept = first != 0
    assert abs(kept.float().mean().item() - 0.5) < 0.03
    assert torch.equal(first[kept], 2 * x[kept])
    with pytest.raises(InputMismatch, match="input, seed"):
        made(x, executor=executor)
    with pytest.raises(ExportFailed, match="random numbers"):
        export_torch(model, (x,), target="0.9.0", random=False)
    made.save(tmp_path / "net")
    assert torch.equal(ExportedArtifact.load(tmp_path / "net")(x, seed=1, executor=executor), first)


def test_a_random_leak_takes_a_seed(executor: Executor) -> None:
    """In training, what is negative is scaled by numbers between the bounds."""
    x = torch.linspace(-2, 1, 3000)
    got = export_torch(nn.RReLU(0.1, 0.4), (x,), target="0.9.0")(x, seed=3, executor=executor)
    factors = (got / x)[x < 0]
    assert torch.equal(got[x >= 0], x[x >= 0])
    assert factors.min() >= 0.1
    assert factors.max() <= 0.4
    assert abs(factors.mean() - 0.25) < 0.01


class Drawing(nn.Module):
    """Draws from every distribution."""

    def forward(self, p: Tensor) -> tuple[Tensor, ...]:
        """Draw."""
        many = p.new_empty(4000)
        return (
            torch.rand(4000),
            torch.randn(4000),
            torch.randint(2, 7, (4000,)),
            torch.bernoulli(torch.full((4000,), 0.3)),
            torch.multinomial(p, 4000, replacement=True),
            torch.multinomial(p, 2),
            torch.randperm(100),
            torch.rand_like(many, dtype=torch.bfloat16),
        )


def test_distributions(executor: Executor) -> None:
    """Mean and spread of each are those of its name, and no two ops draw the same."""
    p = torch.tensor([0.1, 0.2, 0.7])
    made = export_torch(Drawing(), (p,), target="0.9.0")
    uniform, normal, whole, coins, chosen, pair, order, half = made(p, seed=7, executor=executor)
    assert uniform.min() >= 0
    assert uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.02
    assert abs(uniform.std() - 12**-0.5) < 0.01
    assert abs(normal.mean()) < 0.06
    assert abs(normal.std() - 1) < 0.05
    assert set(whole.tolist()) == {2, 3, 4, 5, 6}
    assert whole.dtype == torch.int64
    assert abs(coins.mean() - 0.3) < 0.03
    shares = torch.bincount(chosen, minlength=3) / 4000
    assert (shares - p).abs().max() < 0.03
    assert len(set(pair.tolist())) == 2
    assert sorted(order.tolist()) == list(range(100))
    assert half.dtype == torch.bfloat16
    assert half.max() < 1
    assert abs(np.corrcoef(uniform, half.float())[0, 1]) < 0.06


DRAWN: dict[str, Callable[[Tensor], Tensor]] = {
    "poisson": torch.poisson,
    "gamma": torch._standard_gamma,
    "binomial": lambda x: torch.binomial(x + 4, torch.full_like(x, 0.3)),
    "cauchy": lambda x: torch.empty_like(x).cauchy_(1.0, 2.0),
    "log_normal": lambda x: torch.empty_like(x).log_normal_(0.5, 0.7),
    "geometric": lambda x: torch.empty_like(x).geometric_(0.3),
    "exponential": lambda x: torch.empty_like(x).exponential_(2.0),
    "gumbel": lambda x: nn.functional.gumbel_softmax(x.reshape(-1, 2)),
}


def test_complex_numbers_are_drawn(executor: Executor) -> None:
    """Uniform in both parts, or varying by one in both together; means and spreads as PyTorch's."""

    def draw(x: Tensor) -> list[Tensor]:
        return [
            torch.randn_like(x),
            torch.rand_like(x),
            torch.empty_like(x).uniform_(2, 5),
            torch.empty_like(x).normal_(1, 3),
        ]

    torch.manual_seed(0)
    x = torch.zeros(20000, dtype=torch.complex64)
    made = export_torch(Calls(draw), (x,), target="0.9.0")
    for mine, theirs in zip(made(x, seed=5, executor=executor), draw(x), strict=True):
        assert mine.dtype == theirs.dtype
        for one, other in ((mine.real, theirs.real), (mine.imag, theirs.imag)):
            assert abs(one.mean() - other.mean()) < 0.1
            assert abs(one.std() - other.std()) < 0.05
        assert abs(np.corrcoef(mine.real, mine.imag)[0, 1]) < 0.03


@pytest.mark.parametrize("name", DRAWN)
def test_a_distribution_is_as_in_pytorch(name: str, executor: Executor) -> None:
    """By its quartiles, and another seed draws others."""
    torch.manual_seed(0)
    x = torch.full((8000,), 3.0)
    made = export_torch(Calls(DRAWN[name]), (x,), target="0.9.0")
    mine, other = (made(x, seed=seed, executor=executor) for seed in (1, 2))
    theirs, quarters = DRAWN[name](x), torch.tensor([0.25, 0.5, 0.75])
    assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
    assert torch.allclose(mine.quantile(quarters), theirs.quantile(quarters), atol=0.15)
    assert not torch.equal(mine, other)


class Branching(nn.Module):
    """Branches on data."""

    def forward(self, x: Tensor) -> Tensor:
        """Branch."""
        return torch.cond(x.sum() > 0, torch.sin, lambda x: x.cos() + 1, (x,))


class Looping(nn.Module):
    """Doubles five times, and counts."""

    def forward(self, x: Tensor) -> Any:
        """Loop."""
        start = (torch.zeros((), dtype=torch.int64), x)
        return while_loop(lambda i, _: i < 5, lambda i, x: (i + 1, x * 2), start)


class Scanning(nn.Module):
    """Carries a sum along the rows, with a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, x: Tensor) -> Any:
        """Scan, and map."""
        last, rows = scan(lambda c, r: (c + r * self.weight, c * r), x[0], x, dim=0)
        return last, rows, torch_map(lambda r, w: r * w + r.sum(), x, self.weight)


FLOW: dict[str, tuple[nn.Module, str]] = {
    "cond": (Branching(), "case"),
    "while": (Looping(), "while"),
    "scan": (Scanning(), "while"),
}


@pytest.mark.parametrize("name", FLOW)
def test_control_flow(name: str, executor: Executor) -> None:
    """Branches and loops stay what they are, at 0.9.0; also after other exports were made."""
    module, op = FLOW[name]
    x = torch.arange(6.0).reshape(2, 3) / 3
    made = export_torch(module, (x,), target="0.9.0")
    assert f"stablehlo.{op}" in made.get_stablehlo_text()
    for given in (x, -x):
        got, wanted = made(given, executor=executor), module(given)
        pairs = zip(*(v if isinstance(v, tuple) else (v,) for v in (got, wanted)), strict=True)
        assert all(torch.allclose(mine, theirs, atol=1e-6) for mine, theirs in pairs)


def test_random_numbers_in_a_loop_are_refused() -> None:
    """Each turn would draw the same."""

    class Walk(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return torch_map(lambda row: row + torch.rand(3), x)

    with pytest.raises(ExportFailed, match="inside of a loop"):
        export_torch(Walk(), (torch.ones(2, 3),), target=TARGET)


def test_a_static_cache_of_transformers(executor: Executor) -> None:
    """A small Llama with random weights: prefill, and four steps, as without a cache."""
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, vocab_size=64, max_position_embeddings=32,
    )  # fmt: skip
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config).eval()
    held = {"keys", "values", "cumulative_length"}

    class Step(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model
            self.cache = transformers.StaticCache(config=config, max_cache_len=16)
            self.cache.early_initialization(1, 2, 8, torch.float32, "cpu")
            for number, layer in enumerate(self.cache.layers):
                for name in held:
                    self.register_buffer(f"{name}_{number}", getattr(layer, name))

        def forward(self, tokens: Tensor, places: Tensor) -> Tensor:
            for number, layer in enumerate(self.cache.layers):
                for name in held:
                    setattr(layer, name, getattr(self, f"{name}_{number}"))
            return self.model(
                input_ids=tokens, position_ids=places[None], past_key_values=self.cache
            ).logits

    tokens, places = torch.tensor([[3, 5, 7, 9]]), torch.arange(4)
    with torch.no_grad():
        traced = [
            torch.export.export(Step(), given, strict=False)
            for given in ((tokens, places), (tokens[:, :1], places[:1]))
        ]
        prefill, step = (export_torch(one, target=TARGET, allow=["exact"]) for one in traced)
        step = dataclasses.replace(step, state=prefill.state)
        assert {name.rpartition("_")[0] for name in step.mutated} == held
        got = prefill(tokens, places, executor=executor)
        for place in range(4, 8):
            wanted = model(tokens, use_cache=False).logits[:, -1:]
            assert torch.allclose(got[:, -1:], wanted, atol=2e-6)
            token = wanted.argmax(-1)
            tokens = torch.cat([tokens, token], 1)
            got = step(token, torch.tensor([place]), executor=executor)


def test_a_buffer_that_the_code_holds_too(executor: Executor) -> None:
    """As transformers registers the tensors of a static cache: it is one, under its name."""
    held = types.SimpleNamespace(total=torch.zeros(2), scale=torch.full((2,), 3.0))

    class Holding(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", held.total, persistent=False)
            self.scale = nn.Parameter(held.scale, requires_grad=False)

        def forward(self, x: Tensor) -> Tensor:
            held.total.add_(x)
            return held.total * held.scale

    made = export_torch(Holding(), (torch.ones(2),), target=TARGET)
    assert (made.mutated, set(made.weights)) == (("total",), {"total", "scale"})
    calls = [made(torch.ones(2), executor=executor).tolist() for _ in range(2)]
    assert calls == [[3, 3], [6, 6]]


_SMALL = {
    "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 64, "max_position_embeddings": 32,
}  # fmt: skip
DECODERS = {
    "Llama": _SMALL,
    "Qwen2": _SMALL,
    "Mistral": _SMALL | {"sliding_window": 16},
    "Gemma": _SMALL,
    "GPT2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 64, "n_positions": 32},
}


def _decoder(name: str) -> Any:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**DECODERS[name])
    return transformers.AutoModelForCausalLM.from_config(config).eval()


@pytest.mark.parametrize("name", DECODERS)
def test_a_cache_that_is_passed(name: str, executor: Executor) -> None:
    """A prefill returns it, each step takes and returns it; the caller's own stays."""
    model = _decoder(name)
    importlib.import_module(
        "transformers.integrations.executorch"
    ).register_dynamic_cache_export_support()
    tokens, token = torch.tensor([[3, 5, 7, 9, 2]]), torch.tensor([[11]])
    with torch.no_grad():
        prefill = export_torch(model, (tokens,), {"use_cache": True}, target=TARGET)
        cache = prefill(tokens, use_cache=True, executor=executor).past_key_values
        given = {"past_key_values": copy.deepcopy(cache), "use_cache": True}
        step = export_torch(model, (token,), copy.deepcopy(given), target=TARGET)
        got = step(token, past_key_values=cache, use_cache=True, executor=executor)
        wanted = model(tokens, use_cache=True)
        wanted = model(token, past_key_values=wanted.past_key_values, use_cache=True)
    assert {layer.keys.shape[2] for layer in cache.layers} == {5}
    leaves = zip(*map(pytree.tree_leaves, (got, wanted)), strict=True)
    assert all(torch.allclose(mine, theirs, atol=2e-6) for mine, theirs in leaves)


def test_the_module_of_transformers_with_a_static_cache(executor: Executor) -> None:
    """As its page of ExecuTorch makes it: one token after the other, as without a cache."""
    model = _decoder("Llama")
    module = importlib.import_module("transformers.integrations.executorch")
    settings = {"batch_size": 1, "max_cache_len": 16}
    model.generation_config.update(cache_implementation="static", cache_config=settings)
    step = module.TorchExportableModuleWithStaticCache(model)
    tokens = torch.tensor([[3, 5, 7, 9]])
    given = {"input_ids": tokens[:, :1], "cache_position": torch.tensor([0])}
    with torch.no_grad():
        made = export_torch(step, (), given, target=TARGET, allow=["exact"])
        wanted = model(tokens, use_cache=False).logits
        for place in range(4):
            given = {"input_ids": tokens[:, place, None], "cache_position": torch.tensor([place])}
            got = made(**given, executor=executor)
            assert torch.allclose(got[:, 0], wanted[:, place], atol=2e-6)


def test_names_that_meet(executor: Executor) -> None:
    """A buffer named as an input, and one named as PyTorch names tensors of the code."""

    class Named(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("lifted_tensor_0", torch.ones(2))
            self.register_buffer("x", torch.full((2,), 5.0))

        def forward(self, x: Tensor) -> Tensor:
            return x * self.lifted_tensor_0 + torch.tensor([3.0, 4.0]) + self.x

    x = torch.ones(2)
    made = export_torch(Named(), (x,), target=TARGET)
    assert len(made.weights) == 3
    assert torch.equal(made(x, executor=executor), Named()(x))


class _Layer:
    """A layer of a cache as transformers has it, with a sliding window."""

    def __init__(self, length: int) -> None:
        self.keys, self.sliding_window = torch.ones(1, 2, length, 4), 8


class _Window:
    """A cache of such layers."""

    def __init__(self, length: int) -> None:
        self.layers = [_Layer(length)]


pytree.register_pytree_node(
    _Window,
    lambda cache: ([layer.keys for layer in cache.layers], None),
    lambda keys, _: _Window(keys[0].shape[-2] if hasattr(keys[0], "shape") else 1),
    serialized_type_name=f"{__name__}._Window",
    flatten_with_keys_fn=lambda cache: (
        [(pytree.SequenceKey(n), layer.keys) for n, layer in enumerate(cache.layers)],
        None,
    ),
)


def test_a_window_that_dropped_tokens() -> None:
    """How many came before is lost: refused unless the places of tokens are passed.

    Also of a model that takes them by any name.
    """

    class Named(nn.Module):
        def forward(self, x: Tensor, cache: _Window, position_ids: Tensor | None = None) -> Tensor:
            x = x + cache.layers[0].keys.sum()
            return x if position_ids is None else x + position_ids

    class Free(nn.Module):
        def forward(self, x: Tensor, **kwargs: Any) -> Tensor:
            return x + kwargs["cache"].layers[0].keys.sum()

    x, place = torch.ones(1), torch.tensor([12])
    for model in (Named(), Free()):
        with pytest.raises(ExportFailed, match=r"'cache' is a cache .*pass position_ids="):
            export_torch(model, (x,), {"cache": _Window(7)}, target="1.0.0")
    given = {"cache": _Window(7), "position_ids": place}
    assert export_torch(Named(), (x,), given, target="1.0.0")
    assert export_torch(Named(), (x, _Window(7), place), target="1.0.0")
    assert export_torch(Named(), (x, _Window(6)), target="1.0.0")
