"""Today's layouts: hidden states are those of transformers, from folders and GGUF files; the rest is refused."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from gguf_weights import PLACES, found
from gguf_weights import given as real_ids
from modern_tiny import DIGITS, IDS, checkpoint, drawn, pixels
from tiny import write_zip

import rankmath as rm
from rankmath.attention.experiments.anatomy import anatomy
from rankmath.cli import main
from rankmath.linalg.metrics import effective_rank
from rankmath.model.blocks import VARIANTS
from rankmath.model.gguf_files import _config
from rankmath.model.modern import FAMILIES
from rankmath.model.positions import PositionTable

FOLDER = os.environ.get("RANKMATH_MODELS")


def given(kind: str) -> Any:
    return pixels() if kind.startswith("dinov2") else IDS


def states(model: rm.Model, kind: str) -> list[np.ndarray[Any, Any]]:
    return rm.hidden_states(model.network, model.embed(given(kind)))


def test_every_family_is_compared() -> None:
    assert {DIGITS[kind]["config"]["model_type"] for kind in DIGITS} == set(FAMILIES)


@pytest.mark.parametrize("kind", DIGITS)
def test_hidden_states_are_those_of_transformers(tmp_path: Path, kind: str) -> None:
    ours, theirs = states(rm.load_model(checkpoint(tmp_path, kind)), kind), DIGITS[kind]["states"]
    assert len(ours) == len(theirs)
    for state, digits in zip(ours, theirs, strict=True):
        assert np.abs(state - np.asarray(digits)).max() < 1e-12


@pytest.mark.parametrize("kind", ["llama3", "gemma2", "gpt_neox", "olmo2", "modernbert", "t5"])
def test_the_centred_pass_agrees_with_the_plain_one(tmp_path: Path, kind: str) -> None:
    model = rm.load_model(checkpoint(tmp_path, kind))
    X = model.embed(given(kind))
    for name in VARIANTS:
        net = model.variant(name).network
        plain = np.asarray([float(rm.mu(state)) for state in rm.hidden_states(net, X)])
        traced = rm.trace(net, X).log_residual
        seen = plain > 1e-4
        assert seen.sum() >= 2
        assert traced[seen] == pytest.approx(np.log(plain[seen]), abs=1e-9), name


@pytest.mark.parametrize("kind", ["llama", "llama3", "llama-linear", "mistral", "gemma3_text", "modernbert"])
def test_configs_of_before_rope_parameters_mean_the_same(tmp_path: Path, kind: str) -> None:
    """Files of transformers 4 keep theta, scaling and windows under keys of their own."""
    config = dict(DIGITS[kind]["config"])
    rope = config.pop("rope_parameters")
    config.pop("layer_types", None)
    old: dict[str, Any] = {"rope_theta": rope.get("rope_theta")}
    if kind == "gemma3_text":
        old = {"rope_theta": 1e6, "rope_local_base_freq": 1e4, "sliding_window_pattern": 3}
    elif kind == "modernbert":
        old = {"global_rope_theta": 160000.0, "local_rope_theta": 10000.0}
    elif rope["rope_type"] != "default":
        old["rope_scaling"] = {key: value for key, value in rope.items() if key != "rope_theta"}
    new = states(rm.load_model(checkpoint(tmp_path / "new", kind)), kind)
    place = checkpoint(tmp_path / "old", kind)
    (place / "config.json").write_text(json.dumps(config | old), encoding="utf-8")
    for ours, theirs in zip(states(rm.load_model(place), kind), new, strict=True):
        assert (ours == theirs).all()


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("llama", {"model_type": "mamba"}, "model_type 'mamba' in config.json; allowed are bert, .*llama.*dinov2"),
        ("llama", {"rope_parameters": {"rope_type": "ntk", "rope_theta": 1e4}}, "rope_scaling 'ntk'"),
        ("llama", {"rope_parameters": {"rope_type": "yarn", "rope_theta": 1e4}}, "'yarn' without 'factor'"),
        ("gemma3_text", {"attn_logit_softcapping": 5.0}, "attn_logit_softcapping 5.0 in config.json; only Gemma 2"),
        ("llama3", {"rope_parameters": {"rope_type": "llama3", "rope_theta": 1e4}}, "without 'factor'"),
        ("llama3", {"num_key_value_heads": 3}, "num_key_value_heads 3 in config.json; it must divide 4"),
        ("qwen2", {"layer_types": ["full_attention", "linear_attention"]}, "layer_types 'linear_attention'"),
        ("gemma2", {"layer_types": ["full_attention"]}, "1 layer_types in config.json; its 2 layers need as many"),
        ("gemma2", {"hidden_activation": "sinh"}, "hidden_activation 'sinh' in config.json"),
        ("mistral", {"hidden_size": 6}, r"has shape \(16, 8\); it must be \(16, 6\)"),
        ("llama", {"hidden_act": 3}, "hidden_act '3' in config.json"),
        ("llama", {"hidden_size": "8"}, "hidden_size: '8' given; a whole number"),
        ("llama", {"rope_scaling": "linear"}, "rope_scaling 'linear' in config.json; an object or null is needed"),
        (
            "llama",
            {"rope_scaling": {"type": "longrope", "short_factor": ["a"]}, "rope_parameters": None},
            "short_factor: 'a' given; a positive finite number is needed",
        ),
        ("t5", {"d_kv": "4"}, "d_kv: '4' given; a whole number"),
        ("t5", {"d_model": "8"}, "d_model: '8' given; a whole number"),
        ("t5", {"relative_attention_num_buckets": "8"}, "relative_attention_num_buckets: '8' given"),
        ("t5", {"relative_attention_num_buckets": 3}, "relative_attention_num_buckets 3 .* but the weights have"),
        ("gpt_neox", {"rotary_pct": 2, "rope_parameters": None}, "rotary_pct: 2 given; .* of at most 1 is needed"),
        ("gpt_neox", {"rotary_pct": 0.3, "rope_parameters": None}, "rotary_pct 0.3 .* turns .* an even number"),
    ],
)
def test_what_is_not_known_is_refused_by_its_name(
    tmp_path: Path, kind: str, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(rm.InvalidArgument, match=message):
        rm.load_model(checkpoint(tmp_path, kind, **changes))


def test_of_t5_the_encoder_is_read(tmp_path: Path) -> None:
    place = checkpoint(tmp_path, "t5")
    assert rm.load_model(place, part="encoder").kind == "t5"
    with pytest.raises(rm.InvalidArgument, match="part: 'decoder' given; of T5 the encoder is read"):
        rm.load_model(place, part="decoder")


def test_longer_texts_than_there_are_positions_for_are_refused(tmp_path: Path) -> None:
    model = rm.load_model(checkpoint(tmp_path, "llama"))
    with pytest.raises(rm.InvalidArgument, match="65 tokens given; the model has positions for 64"):
        model.embed([1] * 65)


def test_weights_drawn_anew_keep_the_shape_of_the_model(tmp_path: Path) -> None:
    model = rm.load_model(checkpoint(tmp_path, "gemma3_text"))
    drawn_anew = model.variant("full", weights="initial", seed=1)
    block = drawn_anew.blocks[0]
    assert (block.behind_mlp.gain == 1).all()  # type: ignore[union-attr]
    assert (block.qk_norm[0] == 1).all()  # type: ignore[index]
    assert block.mlp.W_gate.shape == model.blocks[0].mlp.W_gate.shape
    assert (block.mlp.W_gate != model.blocks[0].mlp.W_gate).any()
    assert str(drawn_anew.network) != ""
    assert [len(layer) for layer in drawn_anew.network.sublayers] == [2, 2, 3]


# -- GGUF ------------------------------------------------------------------------------------------------------

#: Our names of tensors, and those of llama.cpp.
_GGUF = {
    "embed_tokens": "token_embd",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}


@pytest.mark.parametrize(
    ("kind", "names", "settings"),
    [
        ("qwen2", ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"], {}),
        ("gpt_neox", ["attention.query_key_value", "attention.dense", "mlp.dense_h_to_4h", "input_layernorm"], {}),
        ("dinov2", ["attention.attention.key", "attention.output.dense", "mlp.fc1", "norm1"], {}),
        ("smollm", ["self_attn.q_proj", "self_attn.o_proj"], {"attention_bias": True}),
        ("smollm", ["mlp.gate_proj", "mlp.down_proj"], {"mlp_bias": True}),
        ("modernbert", ["attn.Wqkv", "attn.Wo"], {"attention_bias": True}),
    ],
)
def test_a_bias_that_the_family_or_config_json_has_is_not_zero_where_it_is_missing(
    tmp_path: Path, kind: str, names: list[str], settings: dict[str, Any]
) -> None:
    place = checkpoint(tmp_path, kind, **settings)
    shapes = {name: tuple(shape) for name, shape in DIGITS[kind]["shapes"].items()}
    # Those that this file lacks are made, with as many entries as the weights have rows.
    more = {n.removesuffix("weight") + "bias": s[:1] for n, s in shapes.items() if any(f"{m}.w" in n for m in names)}
    arrays = {name: drawn(name, shape) for name, shape in (more | shapes).items()}
    if settings:
        every = {n.removesuffix("weight") + "bias": s[:1] for n, s in shapes.items() if "layers." in n and len(s) == 2}
        arrays = {name: drawn(name, shape) for name, shape in (every | shapes).items()}
    write_zip(place / "pytorch_model.bin", arrays)
    rm.load_model(place)
    for name in names:
        missing = next(found for found in arrays if found.endswith(f"{name}.bias"))
        write_zip(place / "pytorch_model.bin", {n: a for n, a in arrays.items() if n != missing})
        with pytest.raises(rm.InvalidArgument, match=f"tensor '{missing}' is missing"):
            rm.load_model(place)


def write_gguf(
    path: Path, kind: str, arch: str, tensors: dict[str, Any] | None = None, numbers: dict[str, int] | None = None
) -> None:
    """The tiny checkpoint as llama.cpp's converter writes it, in single precision; with further tensors and keys."""
    gguf = pytest.importorskip("gguf", reason="the extra models reads GGUF files")
    config, gemma = DIGITS[kind]["config"], arch.startswith("gemma")
    writer = gguf.GGUFWriter(path, arch)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_context_length(config["max_position_embeddings"])
    rope = config["rope_parameters"]
    writer.add_rope_freq_base(rope.get("full_attention", rope)["rope_theta"])
    if gemma:
        writer.add_sliding_window(config["sliding_window"])
    if arch == "gemma2":
        writer.add_attn_logit_softcapping(config["attn_logit_softcapping"])
    for name, shape in DIGITS[kind]["shapes"].items():
        array, new = drawn(name, tuple(shape)), name.removeprefix("model.")
        if arch == "llama" and ("q_proj" in name or "k_proj" in name):
            heads = config["num_attention_heads" if "q_proj" in name else "num_key_value_heads"]
            pairs = array.reshape(heads, 2, len(array) // heads // 2, *array.shape[1:])
            array = np.ascontiguousarray(pairs.swapaxes(1, 2)).reshape(array.shape)
        if gemma and "norm" in name:
            array = array + 1
        new = new.replace("norm.weight", "output_norm.weight") if new == "norm.weight" else new
        for ours, theirs in {
            **_GGUF,
            "post_attention_layernorm": "post_attention_norm" if gemma else "ffn_norm",
        }.items():
            new = new.replace(ours, theirs)
        writer.add_tensor(new.replace("layers.", "blk."), array)
    for name, array in (tensors or {}).items():
        writer.add_tensor(name, np.asarray(array, dtype=np.float32))
    for name, number in (numbers or {}).items():
        writer.add_uint32(f"{arch}.{name}", number)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize(("kind", "arch"), [("smollm", "llama"), ("qwen2", "qwen2"), ("qwen3", "qwen3")])
def test_gguf_files_give_the_same_model(tmp_path: Path, kind: str, arch: str) -> None:
    write_gguf(tmp_path / "tiny.gguf", kind, arch)
    expected = DIGITS[kind]["states"]
    if kind == "qwen2":  # these files know no windows
        plain = checkpoint(tmp_path / "folder", kind, layer_types=["full_attention"] * 2)
        expected = states(rm.load_model(plain), kind)
    model = rm.load_model(tmp_path)  # the one such file of a folder
    for ours, theirs in zip(states(model, kind), expected, strict=True):
        assert np.abs(ours - np.asarray(theirs)).max() < 1e-12


def test_the_factors_of_llama_3_divide_the_frequencies(tmp_path: Path) -> None:
    write_gguf(tmp_path / "tiny.gguf", "smollm", "llama", {"rope_freqs.weight": [1.0, 2.5], "output.weight": [[1.0]]})
    scaling = {"rope_type": "longrope", "short_factor": [1.0, 2.5], "attention_factor": 1.0}
    config = DIGITS["smollm"]["config"]
    rope = config["rope_parameters"] | scaling | {"original_max_position_embeddings": config["max_position_embeddings"]}
    theirs = states(rm.load_model(checkpoint(tmp_path / "folder", "smollm", rope_parameters=rope)), "smollm")
    for one, other in zip(states(rm.load_model(tmp_path / "tiny.gguf"), "smollm"), theirs, strict=True):
        assert np.abs(one - other).max() < 1e-12
    assert np.abs(theirs[1] - np.asarray(DIGITS["smollm"]["states"][1])).max() > 1e-3


@pytest.mark.parametrize(
    ("tensors", "numbers", "message"),
    [
        ({"blk.0.ffn_gate_exps.weight": [1.0]}, {}, r"tensor 'blk.0.ffn_gate_exps.weight' in 'tiny.gguf' is not known"),
        ({"rope_factors_long.weight": [1.0]}, {}, "tensor 'rope_factors_long.weight'"),
        ({}, {"expert_count": 2}, r"llama.expert_count in 'tiny.gguf' is not known"),
        ({}, {"rope.dimension_count": 2}, r"rope.dimension_count 2 in 'tiny.gguf'; it must be 4"),
        ({}, {"attention.value_length": 3}, r"attention.value_length 3 in 'tiny.gguf'; it must be 4"),
        (
            {},
            {"attention.head_count": 9, "attention.head_count_kv": 9},
            r"llama.attention.head_count 9 in 'tiny.gguf', but the 16 rows of tensor 'blk.0.attn_q.weight' are",
        ),
        ({}, {"attention.head_count_kv": 3}, r"llama.attention.head_count_kv 3 in 'tiny.gguf'; it must divide 4"),
        ({}, {"attention.head_count_kv": 4}, r"'blk.0.attn_k.weight' has shape \(8, 8\); it must be \(16, 8\)"),
        ({}, {"attention.head_count_kv": 0}, r"llama.attention.head_count_kv: 0 given"),
        ({}, {"block_count": 1}, r"llama.block_count 1 in 'tiny.gguf', but the weights have 2 layers"),
        ({}, {"block_count": 3}, r"tensor 'blk.2.attn_q.weight' is missing"),
        ({}, {"vocab_size": 22}, r"llama.vocab_size 22 in 'tiny.gguf', but the weights have 23"),
        ({}, {"feed_forward_length": 9}, r"llama.feed_forward_length 9 in 'tiny.gguf', but the weights have 10"),
    ],
)
def test_what_a_gguf_file_says_beyond_what_is_known_is_refused(
    tmp_path: Path, tensors: dict[str, Any], numbers: dict[str, int], message: str
) -> None:
    write_gguf(tmp_path / "tiny.gguf", "smollm", "llama", tensors, numbers)
    with pytest.raises(rm.InvalidArgument, match=message) as caught:
        rm.load_model(tmp_path / "tiny.gguf")
    assert "config.json" not in str(caught.value)
    assert "num_" not in str(caught.value)


def test_layers_that_config_json_does_not_count_are_refused(tmp_path: Path) -> None:
    for kind, key in (("qwen3", "num_hidden_layers"), ("t5", "num_layers"), ("dinov2", "num_hidden_layers")):
        place = checkpoint(tmp_path / kind, kind, **{key: 1, "layer_types": None})
        with pytest.raises(rm.InvalidArgument, match=f"{key} 1 in config.json, but the weights have . layers"):
            rm.load_model(place)


def test_a_gguf_file_that_is_cut_off_is_said_to_be(tmp_path: Path) -> None:
    write_gguf(tmp_path / "tiny.gguf", "smollm", "llama")
    whole = (tmp_path / "tiny.gguf").read_bytes()
    for length in (6, 20, 100, 400, len(whole) // 2, len(whole) - 40):
        (tmp_path / "tiny.gguf").write_bytes(whole[:length])
        with pytest.raises(rm.InvalidArgument, match=r"given; .*: the file is cut off or damaged$"):
            rm.load_model(tmp_path / "tiny.gguf")
    for start, said in ((b"GGML", "not a GGUF file$"), (b"GGUF\7\0\0\0", "its version is 7, not 2 or 3$")):
        (tmp_path / "tiny.gguf").write_bytes(start + whole[len(start) :])
        with pytest.raises(rm.InvalidArgument, match=said):
            rm.load_model(tmp_path / "tiny.gguf")


NORMS = ("attention_norm", "mlp_norm", "behind_attention", "behind_mlp", "qk_norm")


@pytest.mark.parametrize(("kind", "arch"), [("gemma2", "gemma2"), ("gemma3_text", "gemma3")])
def test_gemma_in_a_gguf_file_is_the_same_model_with_its_gains_whole(tmp_path: Path, kind: str, arch: str) -> None:
    """One plus a gain is rounded in such a file: gains agree to that, and all else agrees to the last bits."""
    write_gguf(tmp_path / "tiny.gguf", kind, arch)
    # Every second layer of Gemma 2 sees all tokens, and every sixth of Gemma 3.
    types = ["sliding_attention", "full_attention"] if kind == "gemma2" else ["sliding_attention"] * 3
    folder = checkpoint(tmp_path / "folder", kind, query_pre_attn_scalar=4, layer_types=types)
    ours, theirs = rm.load_model(tmp_path / "tiny.gguf"), rm.load_model(folder)
    for one, other in zip(ours.blocks, theirs.blocks, strict=True):
        for name in NORMS[:4]:
            assert getattr(one, name).gain == pytest.approx(getattr(other, name).gain, abs=1e-6)
        assert one.softcap == other.softcap == (2.0 if kind == "gemma2" else None)
    blocks = [
        replace(one, **{name: getattr(other, name) for name in NORMS})
        for one, other in zip(ours.blocks, theirs.blocks, strict=True)
    ]
    whole = replace(ours, blocks=tuple(blocks), final_norm=theirs.final_norm)
    for a, b in zip(states(whole, kind), states(theirs, kind), strict=True):
        assert np.abs(a - b).max() < 1e-12
    sizes = {"block_count": 46 if kind == "gemma2" else 62, "embedding_length": 96, "attention.head_count": 8}
    large = _config(Path(), {"general.architecture": arch} | {f"{arch}.{key}": size for key, size in sizes.items()})
    assert large["query_pre_attn_scalar"] == 12


def test_gguf_files_of_other_architectures_are_refused(tmp_path: Path) -> None:
    write_gguf(tmp_path / "tiny.gguf", "smollm", "rwkv6")
    with pytest.raises(rm.InvalidArgument, match=r"general\.architecture 'rwkv6' in 'tiny\.gguf'; allowed are llama"):
        rm.load_model(tmp_path / "tiny.gguf")
    (tmp_path / "no.gguf").write_bytes(b"GGUF")
    with pytest.raises(rm.InvalidArgument, match="not a GGUF file"):
        rm.load_model(tmp_path / "no.gguf")


@pytest.mark.slow
@pytest.mark.skipif(FOLDER is None, reason="RANKMATH_MODELS names no folder with weights")
@pytest.mark.parametrize("variant", ["full", "san+norm"])
@pytest.mark.parametrize("name", PLACES)
def test_real_gguf_files_have_the_digits_of_an_independent_run(tmp_path: Path, name: str, variant: str) -> None:
    path = found(Path(str(FOLDER)), name, tmp_path)
    if path is None:
        pytest.skip(f"{PLACES[name][0][0]} is not in RANKMATH_MODELS")
    model = rm.load_model(path)
    every = json.loads((Path(__file__).parent / "gguf_digits.json").read_text(encoding="utf-8"))
    digits = every[name if variant == "full" else f"{name} {variant}"]
    ours = rm.hidden_states(model.variant(variant).network, model.embed(real_ids(name)))
    assert len(ours) == len(digits)
    for X, expected in zip(ours, digits, strict=True):
        picked = X[[0, len(X) // 2, -1], :4]
        assert np.abs(picked - np.asarray(expected["entries"])).max() < 1e-12 * np.linalg.norm(X)
        assert np.linalg.norm(X) == pytest.approx(expected["norm"], rel=1e-12)


# -- what is said of a model -----------------------------------------------------------------------------------


def test_a_massive_activation_is_named_and_the_rank_is_told_without_it(tmp_path: Path) -> None:
    model = rm.load_model(checkpoint(tmp_path, "smollm"))
    words = model.embedding.words.copy()  # type: ignore[union-attr]
    words[22] *= 1e6
    massive = replace(model, embedding=replace(model.embedding, words=words))  # type: ignore[arg-type]
    X, usual = massive.embed([5, 0, 22, 7]), model.embed([5, 0, 22, 7])
    said = "\n".join(anatomy(massive, X))
    assert "Massive activations from layer 0 to" in said
    assert "after layer 0 token 2 is more than 10 times as long as the median one (" in said
    assert f"token 2 of length {np.linalg.norm(X[2]):.4g}." in said
    words[7] *= 1e6
    two = replace(model, embedding=replace(model.embedding, words=words))  # type: ignore[arg-type]
    assert "after layer 0 tokens 2, 5 are more than 10 times" in "\n".join(anatomy(two, two.embed([5, 0, 22, 3, 4, 7])))
    ranks = rm.measure(massive.network, X, ["effective-rank", "effective-rank-others"]).values
    assert ranks["effective-rank"][0] == pytest.approx(1.0, abs=1e-4)
    assert ranks["effective-rank-others"][0] == pytest.approx(float(effective_rank(usual[[0, 1, 3]])), abs=1e-9)
    assert "No token dominates" in "\n".join(anatomy(model, usual))


def test_a_model_with_norms_before_its_maps_is_shown_with_them_too(tmp_path: Path) -> None:
    place = str(checkpoint(tmp_path, "smollm"))
    said = CliRunner().invoke(main, ["model", place, "--ids", "5,0,22,7", "--json"])
    found = json.loads(said.output)
    assert [entry["variant"] for entry in found["variants"]] == ["san", "san+norm"]
    lines = {line.partition(",")[0].partition(":")[0]: line for line in found["said"]}
    assert "without the norm that the model applies before attention" in lines["san"]
    net = rm.load_model(place).variant("san+norm").network
    X = rm.load_model(place).embed([5, 0, 22, 7])
    end = rm.measure(net, X, ["relative-residual"]).logs["relative-residual"][-1] / np.log(10)
    assert f"10^{end:.2f} after 2 layers" in lines["san+norm"]


def test_heads_that_attend_to_one_token_are_counted(tmp_path: Path) -> None:
    """Queries and keys that are all one vector, times a large factor for token 0: every head sees token 0 alone."""
    model = rm.load_model(checkpoint(tmp_path, "t5"))
    heads = [replace(block.heads, query=0 * block.heads.query) for block in model.blocks]
    even = replace(
        model, blocks=tuple(replace(b, heads=h) for b, h in zip(model.blocks, heads, strict=True)), position=None
    )
    assert "no head sends more than 50%" in "\n".join(anatomy(even, even.embed(IDS)))
    far = PositionTable(np.where(np.arange(7) == 3, 50.0, 0.0) * np.ones((2, 7, 7)))
    assert "Attention sinks: 4 of 4 heads, first in layer 1" in "\n".join(
        anatomy(replace(even, position=far), even.embed(IDS))
    )
    assert "most often token 3" in "\n".join(anatomy(replace(even, position=far), even.embed(IDS)))
