"""Checkpoints: hidden states agree with an independent implementation, and what cannot be read is refused."""

from __future__ import annotations

import json
import os
import re
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny import CONFIGS, checkpoint, given, tensors, tree, write_legacy, write_zip

import rankmath as rm
from rankmath.attention.plain import hidden_states
from rankmath.model.blocks import VARIANTS
from rankmath.model.checkpoint_files import Tensors

KINDS = [kind for kind in CONFIGS if kind != "whisper"] + ["whisper-encoder", "whisper-decoder"]
DIGITS = json.loads((Path(__file__).parent / "peer_digits.json").read_text(encoding="utf-8"))["states"]


def loaded(folder: Path, kind: str, form: str = "safetensors", **options: Any) -> rm.Model:
    family, _, part = kind.partition("-")
    return rm.load_model(checkpoint(folder, family, form), part=part or None, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_hidden_states_are_those_of_an_independent_implementation(tmp_path: Path, kind: str) -> None:
    model = loaded(tmp_path, kind)
    ours, theirs = hidden_states(model.network, model.embed(given(kind))), DIGITS[kind]
    assert len(ours) == len(theirs) == model.network.layers + 1
    for state, digits in zip(ours, theirs, strict=True):
        assert np.abs(state - np.asarray(digits)).max() < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_the_centred_pass_agrees_with_the_plain_one(tmp_path: Path, kind: str) -> None:
    model = loaded(tmp_path, kind)
    X = model.embed(given(kind))
    for name in VARIANTS:
        net = model.variant(name).network
        plain = np.asarray([float(rm.mu(state)) for state in hidden_states(net, X)])
        traced = rm.trace(net, X).log_residual
        seen = plain > 1e-4  # below, the plain pass loses its digits
        assert seen.sum() >= 2
        assert traced[seen] == pytest.approx(np.log(plain[seen]), abs=1e-9), name


@pytest.mark.parametrize("form", ["zip", "legacy"])
def test_pytorch_files_give_the_same_model(tmp_path: Path, form: str) -> None:
    ours, other = loaded(tmp_path / "a", "bert"), loaded(tmp_path / "b", "bert", form)
    for first, second in zip(ours.blocks, other.blocks, strict=True):
        assert (first.heads.query == second.heads.query).all()
        assert (first.mlp.W_out == second.mlp.W_out).all()


@pytest.mark.parametrize("kind", ["bert", "albert", "distilbert", "gpt2", "mpnet", "vit"])
def test_files_older_than_model_type_are_told_by_their_tensors(tmp_path: Path, kind: str) -> None:
    place = checkpoint(tmp_path, kind)
    config = {name: value for name, value in CONFIGS[kind].items() if name != "model_type"}
    (place / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert rm.load_model(place).kind == kind


def test_deit_has_two_tokens_before_the_patches(tmp_path: Path) -> None:
    place, arrays = checkpoint(tmp_path, "vit", "zip"), tensors("vit")
    X = rm.load_model(place).embed(given("vit"))
    second = np.arange(12, dtype=np.float32)
    positions = arrays["embeddings.position_embeddings"]
    arrays["embeddings.position_embeddings"] = np.insert(positions, 1, 0.5, axis=1)
    arrays["embeddings.distillation_token"] = second[None, None]
    write_zip(place / "pytorch_model.bin", arrays)
    assert (rm.load_model(place).embed(given("vit")) == np.insert(X, 1, second + 0.5, axis=0)).all()


def test_vit_under_the_names_it_has_in_memory(tmp_path: Path) -> None:
    place, arrays = checkpoint(tmp_path, "vit", "zip"), tensors("vit")
    expected, X = rm.load_model(place), given("vit")
    names = {
        **{f"attention.attention.{name}": f"attention.{name[0]}_proj" for name in ("query", "key", "value")},
        "attention.output.dense": "attention.o_proj",
        "intermediate.dense": "mlp.fc1",
        "output.dense": "mlp.fc2",
        "encoder.layer.": "layers.",
    }

    def renamed(name: str) -> str:
        for old, new in names.items():
            name = name.replace(old, new)
        return f"vit.{name}"

    write_zip(place / "pytorch_model.bin", {renamed(name): array for name, array in arrays.items()})
    assert "vit.layers.0.attention.o_proj.weight" in {renamed(name) for name in arrays}
    found = rm.load_model(place)
    for ours, theirs in zip(
        rm.hidden_states(found.network, found.embed(X)),
        rm.hidden_states(expected.network, expected.embed(X)),
        strict=True,
    ):
        assert (ours == theirs).all()


def test_layers_can_be_chosen(tmp_path: Path) -> None:
    whole = loaded(tmp_path, "bert")
    X = whole.embed(given("bert"))
    states = hidden_states(whole.network, X)
    assert (rm.forward(loaded(tmp_path, "bert", layers=2).network, X) == states[2]).all()
    last = loaded(tmp_path, "bert", layers=[2]).network
    assert np.allclose(rm.forward(last, states[2]), states[3], rtol=1e-13)
    with pytest.raises(rm.InvalidArgument, match="layers: 4 given"):
        loaded(tmp_path, "bert", layers=4)


def test_albert_shares_its_weights_by_groups(tmp_path: Path) -> None:
    blocks = loaded(tmp_path, "albert").blocks
    assert [block is blocks[0] for block in blocks] == [True, True, False, False]


def test_a_batch_is_its_sequences(tmp_path: Path) -> None:
    model = loaded(tmp_path, "gpt2")
    batch = [[1, 2, 3], [4, 5, 6]]
    X = model.embed(batch)
    assert X.shape == (2, 3, model.dim)
    assert np.allclose(rm.forward(model.network, X)[1], rm.forward(model.network, model.embed(batch[1])), rtol=1e-13)
    alone, traced = (rm.trace(model.variant("san").network, tokens).log_residual for tokens in (X[1], X))
    assert np.allclose(traced[:, 1], alone, rtol=1e-12)


# -- ablations ---------------------------------------------------------------------------------------------


def attention_by_hand(model: rm.Model, l: int, X: Any) -> Any:
    """Softmax attention of a block, written once more."""
    h = model.blocks[l].heads
    Q, K, V = X @ h.query + h.query_bias, X @ h.key + h.key_bias, X @ h.value + h.value_bias
    k, out = X.shape[1] // h.count, []
    for head in range(h.count):
        part = slice(head * k, (head + 1) * k)
        logits = Q[:, part] @ K[:, part].T / np.sqrt(k)
        P = np.exp(logits - logits.max(axis=1, keepdims=True))
        out.append(P / P.sum(axis=1, keepdims=True) @ V[:, part])
    return np.concatenate(out, axis=1) @ h.output + h.output_bias


def norm_by_hand(norm: rm.LayerNorm, X: Any) -> Any:
    X = X - X.mean(axis=1, keepdims=True)
    return X / np.sqrt(X.var(axis=1, keepdims=True) + norm.floor) * norm.gain + norm.offset


def test_ablations_are_what_their_names_say(tmp_path: Path) -> None:
    model = loaded(tmp_path, "distilbert")  # ReLU: the map is one line
    X = model.embed(given("distilbert"))
    block, attended = model.blocks[0], attention_by_hand(model, 0, X)

    def mapped(Y: Any) -> Any:
        return np.maximum(Y @ block.mlp.W_in + block.mlp.b_in, 0) @ block.mlp.W_out + block.mlp.b_out

    normed = norm_by_hand(block.attention_norm, attended)
    skipped = norm_by_hand(block.attention_norm, X + attended)
    expected = {
        "san": attended,
        "san+mlp": mapped(attended),
        "san+skip": X + attended,
        "san+norm": normed,
        "dong:san": normed,
        "dong:san+mlp": norm_by_hand(block.mlp_norm, normed + mapped(normed)),
        "dong:san+skip": skipped,
        "full": norm_by_hand(block.mlp_norm, skipped + mapped(skipped)),
    }
    for name, Y in expected.items():
        assert np.abs(hidden_states(model.variant(name).network, X)[1] - Y).max() < 1e-12, name


def test_masks_and_temperature_can_be_changed(tmp_path: Path) -> None:
    model = loaded(tmp_path, "bert")
    X = model.embed(given("bert"))
    causal = model.variant("san", mask="causal").network
    # The first token sees itself alone: its image does not depend on the others.
    assert np.allclose(rm.forward(causal, X)[0], rm.forward(causal, X[:1])[0], rtol=1e-12)
    P = rm.attention_matrices(model.variant("san", d_qk=1e12).network, X)
    assert np.abs(P[0] - 1 / len(X)).max() < 1e-4
    with pytest.raises(rm.InvalidArgument, match=r"variant: 'sans' given; allowed are 'full', 'san'"):
        model.variant("sans")


def test_weights_drawn_anew_have_the_scale_asked_for(tmp_path: Path) -> None:
    model = loaded(tmp_path, "bert")
    again, other = (model.variant("san", weights="redrawn", seed=seed) for seed in (1, 2))
    trained, drawn = model.blocks[0].heads.query, again.blocks[0].heads.query
    assert not np.allclose(drawn, other.blocks[0].heads.query)
    assert np.std(drawn) == pytest.approx(np.sqrt(np.mean(trained**2)), rel=0.2)
    first = model.variant("full", weights="initial", seed=0)
    assert np.std(first.blocks[1].mlp.W_in) == pytest.approx(0.02, rel=0.2)
    assert not first.blocks[0].heads.query_bias.any()
    assert (first.blocks[0].attention_norm.gain == 1).all()
    assert np.std(first.embedding.words) == pytest.approx(0.02, rel=0.2)


# -- refusals: one line each -------------------------------------------------------------------------------


def refused(path: Path, words: str, **options: Any) -> None:
    with pytest.raises(rm.InvalidArgument, match=words) as caught:
        rm.load_model(path, **options)
    assert "\n" not in str(caught.value)


def changed(folder: Path, **config: Any) -> Path:
    place = checkpoint(folder, "bert")
    (place / "config.json").write_text(json.dumps(CONFIGS["bert"] | config), encoding="utf-8")
    return place


def test_missing_and_damaged_folders(tmp_path: Path) -> None:
    refused(tmp_path / "nothing", "there is no such file or folder")
    with pytest.raises(rm.InvalidArgument, match="path: None given; the name of a folder or file is needed"):
        rm.load_model(None)  # type: ignore[arg-type]
    refused(tmp_path, "the folder has no config.json")
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    refused(tmp_path, "not readable as JSON")
    (tmp_path / "config.json").write_text("[" * 100_000, encoding="utf-8")
    refused(tmp_path, "not readable as JSON")
    (tmp_path / "config.json").write_text("[1]", encoding="utf-8")
    refused(tmp_path, "a JSON object is needed")
    (tmp_path / "config.json").write_text(json.dumps(CONFIGS["bert"]), encoding="utf-8")
    refused(tmp_path, "no weights in it")
    (tmp_path / "notes.txt").write_text("hello", encoding="utf-8")
    refused(tmp_path / "notes.txt", "a folder or a file ending in")


def test_unknown_architectures_and_settings(tmp_path: Path) -> None:
    refused(changed(tmp_path / "a", model_type="mamba"), "model_type 'mamba' in config.json; allowed are bert, .*llama")
    for kind in ("camembert", "xlm-roberta", "deit", "gemma3", "whisper", "dinov2"):
        refused(changed(tmp_path / kind, model_type="mamba"), f"allowed are .*, {kind}(,|$)")
    whisper = checkpoint(tmp_path / "b", "whisper")
    (whisper / "config.json").write_text("{}", encoding="utf-8")
    refused(whisper, "no model_type")
    refused(changed(tmp_path / "c", position_embedding_type="relative_key"), "only 'absolute' is read")
    refused(changed(tmp_path / "w", hidden_size=24), "hidden_size 24 in config.json, but the weights have width 12")
    refused(changed(tmp_path / "l", num_hidden_layers=1), "num_hidden_layers 1 in config.json, but the weights have 3")
    for name, there in (("intermediate_size", 20), ("vocab_size", 23)):
        refused(changed(tmp_path / name, **{name: 21}), f"{name} 21 in config.json, but the weights have {there}")
    refused(changed(tmp_path / "d", hidden_act="mish"), "hidden_act 'mish' in config.json; allowed are gelu")
    refused(changed(tmp_path / "e", num_attention_heads=5), "must divide the width 12")
    refused(changed(tmp_path / "f", num_hidden_layers=10**9), "num_hidden_layers: 1000000000 given")
    refused(changed(tmp_path / "g", num_hidden_layers=4), r"tensor 'encoder.layer.3.* is missing")
    refused(changed(tmp_path / "h", layer_norm_eps="small"), "layer_norm_eps: 'small' given")
    refused(changed(tmp_path / "i", model_type="gpt2"), "this is another architecture")
    refused(checkpoint(tmp_path / "j", "bert"), "only Whisper has parts", part="encoder")
    refused(checkpoint(tmp_path / "k", "whisper"), "for Whisper allowed are 'encoder', 'decoder'")


@pytest.mark.parametrize("kind", ["bert", "gpt2", "distilbert"])
@pytest.mark.parametrize("odd", ["12", 12.0, [12], True, -12, 0, 13])
def test_sizes_of_config_json_are_whole_numbers_and_those_of_the_weights(tmp_path: Path, kind: str, odd: Any) -> None:
    place = checkpoint(tmp_path, kind)
    names = {"bert": "hidden_size", "gpt2": "n_embd", "distilbert": "dim"}
    for name in (names[kind], "vocab_size", "max_position_embeddings" if kind != "gpt2" else "n_positions"):
        (place / "config.json").write_text(json.dumps(CONFIGS[kind] | {name: odd}), encoding="utf-8")
        refused(place, f"{name}:? .*(whole number|but the weights have)")
        (place / "config.json").write_text(json.dumps(CONFIGS[kind] | {name: None}), encoding="utf-8")
        assert rm.load_model(place).dim == 12


def test_quantised_weights_are_refused(tmp_path: Path) -> None:
    """Whole numbers without the scales beside them would be another function."""
    from safetensors.numpy import save_file

    place, arrays = checkpoint(tmp_path, "bert"), tensors("bert")
    name = "encoder.layer.1.output.dense.weight"
    arrays[name] = np.round(100 * arrays[name]).astype(np.int8)
    save_file(arrays, place / "model.safetensors")
    refused(place, f"tensor .*{name}' holds int8; .* such as quantised ones")


@pytest.mark.parametrize("kind", ["bert", "roberta", "gpt2"])
def test_attention_to_an_encoder_is_refused(tmp_path: Path, kind: str) -> None:
    """A decoder with cross-attention, its tensors in the file: without them it would be another function."""
    from safetensors.numpy import save_file

    place, arrays = checkpoint(tmp_path, kind), tensors(kind)
    part, crossed = ("attn", "crossattention") if kind == "gpt2" else ("attention", "crossattention")
    more = {name.replace(f".{part}.", f".{crossed}."): array + 1 for name, array in arrays.items()}
    save_file(more | arrays, place / "model.safetensors")
    config = CONFIGS[kind] | {"is_decoder": True, "add_cross_attention": True}
    (place / "config.json").write_text(json.dumps(config), encoding="utf-8")
    refused(place, "add_cross_attention True in config.json; only False is read")
    config = {"model_type": "encoder-decoder", "encoder": CONFIGS["bert"], "decoder": CONFIGS[kind]}
    (place / "config.json").write_text(json.dumps(config), encoding="utf-8")
    refused(place, "model_type 'encoder-decoder' in config.json; allowed are bert, ")


def test_what_the_docs_say_is_not_looked_at_changes_nothing(tmp_path: Path) -> None:
    place, arrays = checkpoint(tmp_path, "bert", "zip"), tensors("bert")
    before = rm.load_model(place)
    more = {"classifier.weight": np.ones((2, 12), "<f4"), "encoder.layer.0.adapter.weight": np.ones((12, 12), "<f4")}
    write_zip(place / "pytorch_model.bin", arrays | more)
    (place / "config.json").write_text(json.dumps(CONFIGS["bert"] | {"a_new_key": 3}), encoding="utf-8")
    X = before.embed(given("bert"))
    assert (rm.forward(rm.load_model(place).network, X) == rm.forward(before.network, X)).all()


def test_several_layers_in_a_group_of_albert_are_refused(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    place, arrays = checkpoint(tmp_path, "albert"), tensors("albert")
    second = {name.replace("albert_layers.0.", "albert_layers.1."): array for name, array in arrays.items()}
    save_file(second | arrays, place / "model.safetensors")
    assert rm.load_model(place).network.layers == 4
    (place / "config.json").write_text(json.dumps(CONFIGS["albert"] | {"inner_group_num": 2}), encoding="utf-8")
    refused(place, "inner_group_num 2 in config.json; only 1 is read")


@pytest.mark.parametrize("prefix", ["", "bert.", "model.", "module.bert.", "0.auto_model."])
def test_a_model_inside_another_one_is_found(tmp_path: Path, prefix: str) -> None:
    from safetensors.numpy import save_file

    place, arrays = checkpoint(tmp_path, "bert"), tensors("bert")
    wanted = rm.load_model(place)
    renamed = {prefix + name: array for name, array in arrays.items()}
    save_file(renamed | {"classifier.weight": np.ones((2, 12), dtype=np.float32)}, place / "model.safetensors")
    found = rm.load_model(place)
    X = wanted.embed(given("bert"))
    assert (found.embed(given("bert")) == X).all()
    assert (rm.forward(found.network, X) == rm.forward(wanted.network, X)).all()
    twice = {f"{side}.{name}": array for side in ("query", "passage") for name, array in arrays.items()}
    save_file(twice, place / "model.safetensors")
    refused(place, "2 models in one file, (query., passage.|passage., query.); one is needed")


def test_mpnet_has_its_own_padding_and_buckets(tmp_path: Path) -> None:
    """transformers takes 1 for padding and 32 buckets, whatever config.json says; so do the stored digits."""
    from safetensors.numpy import save_file

    place, arrays = checkpoint(tmp_path, "mpnet"), tensors("mpnet")
    config = CONFIGS["mpnet"] | {"pad_token_id": 7, "relative_attention_num_buckets": 40}
    (place / "config.json").write_text(json.dumps(config), encoding="utf-8")
    name = "encoder.relative_attention_bias.weight"
    save_file(arrays | {name: np.pad(arrays[name], ((0, 8), (0, 0)), constant_values=9)}, place / "model.safetensors")
    model = rm.load_model(place)
    for state, digits in zip(hidden_states(model.network, model.embed(given("mpnet"))), DIGITS["mpnet"], strict=True):
        assert np.abs(state - np.asarray(digits)).max() < 1e-12
    save_file(arrays | {name: arrays[name][:16]}, place / "model.safetensors")
    refused(place, "16 buckets in 'encoder.relative_attention_bias'; MPNet looks up 32")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_numbers_of_any_width_in_several_files(tmp_path: Path, dtype: str) -> None:
    """The same numbers, rounded to a type, in one file and in three with an index."""
    from safetensors.numpy import save_file

    place, arrays = checkpoint(tmp_path, "gpt2"), tensors("gpt2")
    if dtype == "bfloat16":  # the upper half of a float32
        arrays = {name: (array.view("<u4") & 0xFFFF0000).view("<f4") for name, array in arrays.items()}
        for part, names in enumerate(np.array_split(sorted(arrays), 3)):
            write_brain(place / f"part-{part}.safetensors", {str(name): arrays[str(name)] for name in names})
    else:
        arrays = {name: array.astype(dtype) for name, array in arrays.items()}
        for part, names in enumerate(np.array_split(sorted(arrays), 3)):
            save_file({str(name): arrays[str(name)] for name in names}, place / f"part-{part}.safetensors")
    home = {str(name): f"part-{k}.safetensors" for k, g in enumerate(np.array_split(sorted(arrays), 3)) for name in g}
    (place / "model.safetensors").unlink()
    (place / "model.safetensors.index.json").write_text(json.dumps({"weight_map": home}), encoding="utf-8")
    model = rm.load_model(place)
    assert (model.blocks[1].heads.output == arrays["h.1.attn.c_proj.weight"].astype(float)).all()
    assert (model.embedding.words == arrays["wte.weight"].astype(float)).all()
    (place / "part-1.safetensors").unlink()
    refused(place, "the file 'part-1.safetensors' of its weight_map is missing")


def write_brain(path: Path, arrays: dict[str, Any]) -> None:
    """safetensors with the upper halves of float32 numbers."""
    header, data = {}, b""
    for name, array in arrays.items():
        piece = (array.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
        place = [len(data), len(data) + len(piece)]
        header[name] = {"dtype": "BF16", "shape": list(array.shape), "data_offsets": place}
        data += piece
    top = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(top)) + top + data)


def test_oversized_files(tmp_path: Path) -> None:
    """Files that say they are large, or are: refused before memory is asked for."""
    place = checkpoint(tmp_path / "a", "bert")
    with open(place / "config.json", "r+b") as file:
        file.truncate(65 * 2**20)  # takes no room on the disk
    refused(place, "68157440 bytes, at most 67108864 are read")
    place = checkpoint(tmp_path / "b", "bert")
    header = json.dumps({"a": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}}).encode()
    for size in (len(header), 2**62):
        (place / "model.safetensors").write_bytes(struct.pack("<Q", size) + header)
        refused(place, "not a safetensors file")
    index = place / "model.safetensors.index.json"
    (place / "model.safetensors").unlink()
    for content in ({}, {"weight_map": []}, {"weight_map": {"a": 3}}, {"weight_map": {"a": "model.safetensors"}}):
        index.write_text(json.dumps(content), encoding="utf-8")
        refused(place, "weight_map")


def test_wrong_shapes_and_numbers(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    arrays = tensors("bert")
    name = "encoder.layer.1.attention.self.key.weight"
    place = checkpoint(tmp_path, "bert")
    save_file(arrays | {name: arrays[name][:-1]}, place / "model.safetensors")
    refused(place, r"layer.1.attention.self.key.weight' has shape \(11, 12\); it must be \(12, 12\)")
    broken = arrays[name].copy()
    broken[3, 4] = np.nan
    save_file(arrays | {name: broken}, place / "model.safetensors")
    refused(place, "has an entry that is not finite")


@pytest.mark.parametrize("kind", KINDS)
def test_a_bias_that_the_model_always_has_is_not_zero_where_it_is_missing(tmp_path: Path, kind: str) -> None:
    """Whisper's keys alone have none; those of ViT go where config.json says so."""
    family, _, part = kind.partition("-")
    place, arrays = checkpoint(tmp_path, family, "zip"), tensors(family)
    own = [name for name in arrays if not part or (f".{part}." in name and ".encoder_attn" not in name)]
    biases = [name for name in own if name.endswith(".bias") and re.search(r"\D1\D|projection|mapping", name)]
    assert len(biases) >= 8
    for name in biases:
        write_zip(place / "pytorch_model.bin", {other: array for other, array in arrays.items() if other != name})
        refused(place, f"tensor '{re.escape(name)}' is missing", part=part or None)
    if kind == "vit":
        write_zip(
            place / "pytorch_model.bin", {n: a for n, a in arrays.items() if not re.search("query.b|key.b|value.b", n)}
        )
        refused(place, "query.bias' is missing")
        (place / "config.json").write_text(json.dumps(CONFIGS["vit"] | {"qkv_bias": False}), encoding="utf-8")
        assert rm.load_model(place).blocks[0].heads.query_bias is None


def test_a_missing_gain_of_layer_norm_is_called_by_the_name_of_today(tmp_path: Path) -> None:
    place, arrays = checkpoint(tmp_path, "bert", "zip"), tensors("bert")
    name = "encoder.layer.1.output.LayerNorm"
    write_zip(place / "pytorch_model.bin", {n: a for n, a in arrays.items() if n != f"{name}.weight"})
    refused(place, f"tensor '{name}.weight' is missing")
    old = {n.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"): a for n, a in arrays.items()}
    write_zip(place / "pytorch_model.bin", old)
    assert (rm.load_model(place).blocks[1].mlp_norm.gain == arrays[f"{name}.weight"]).all()
    write_zip(place / "pytorch_model.bin", {n: a for n, a in old.items() if n != f"{name}.gamma"})
    refused(place, f"tensor '{name}.gamma' is missing")


def test_damaged_safetensors(tmp_path: Path) -> None:
    place = checkpoint(tmp_path, "bert")
    file = place / "model.safetensors"
    data = file.read_bytes()
    for bad in (data[: len(data) // 2], b"", data[:4], struct.pack("<Q", 2**60) + data[8:], b"\0" * 100):
        file.write_bytes(bad)
        refused(place, "not a safetensors file")


@pytest.mark.parametrize("ending", ["safetensors", "bin"])
def test_what_stands_in_for_weights_is_named(tmp_path: Path, ending: str) -> None:
    place = checkpoint(tmp_path, "bert")
    (place / "model.safetensors").unlink()
    file = place / ("model.safetensors" if ending == "safetensors" else "pytorch_model.bin")
    file.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", encoding="utf-8")
    refused(place, "Git LFS; `git lfs pull`")
    file.write_text("\n<!doctype html><title>403</title>", encoding="utf-8")
    refused(place, "a web page")


def test_brain_floats_are_read(tmp_path: Path) -> None:
    header = json.dumps({"a": {"dtype": "BF16", "shape": [2, 1], "data_offsets": [0, 4]}}).encode()
    file = tmp_path / "half.safetensors"
    file.write_bytes(struct.pack("<Q", len(header)) + header + b"\x80\x3f\x20\xc0")
    assert Tensors(file)["a"].tolist() == [[1.0], [-2.5]]


def hostile(*opcodes: bytes) -> bytes:
    return b"\x80\x02" + b"".join(opcodes) + b"."


HOSTILE = {
    "names os.system": hostile(b"cos\nsystem\n", b"(X\x02\x00\x00\x00ls", b"tR"),
    "names builtins.eval": hostile(b"cbuiltins\neval\n", b"(X\x01\x00\x00\x001", b"tR"),
    "names torch.load": hostile(b"ctorch\nload\n", b")R"),
    "names collections.defaultdict": hostile(b"ccollections\ndefaultdict\n)R"),
    "the instruction INST": hostile(b"(ios\nsystem\n"),
    "the instruction OBJ": hostile(b"(]o"),
    "the instruction NEWOBJ": hostile(b"ccollections\nOrderedDict\n)\x81"),
    "the instruction EXT1": hostile(b"\x82\x01"),
    "pickle is damaged": hostile(b"R"),
    "pickle exhausted before seeing STOP": b"\x80\x02}",
    "holds no tensors": hostile(b"}"),
    "a dictionary of tensors is needed": hostile(b"]"),
}


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_pickles_run_nothing(tmp_path: Path, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("something was run")

    monkeypatch.setattr(os, "system", never)
    place = checkpoint(tmp_path, "bert", "zip")
    write_zip(place / "pytorch_model.bin", {}, HOSTILE[words])
    refused(place, words)


def test_hostile_archives(tmp_path: Path) -> None:
    place = checkpoint(tmp_path, "bert", "zip")
    file = place / "pytorch_model.bin"
    arrays = tensors("bert")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    refused(place, "not a PyTorch file of weights")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:  # what may unpack to any size
        archive.writestr("archive/data.pkl", tree(arrays))
    refused(place, "is compressed")
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", tree(arrays))
    refused(place, "member 'archive/data/.* is missing")
    write_zip(file, {name: array[:1] for name, array in arrays.items()}, tree(arrays))
    refused(place, "bytes; its .* numbers take")


def test_a_stride_of_zero_makes_no_numbers(tmp_path: Path) -> None:
    place = checkpoint(tmp_path, "bert", "zip")
    small = np.zeros(4, dtype="<f4")
    pickle = tree({"a": small}).replace(
        b"(J\x04\x00\x00\x00t(J\x01\x00\x00\x00t", b"(J\xff\xff\xff\x7ft(J\x00\x00\x00\x00t"
    )
    write_zip(place / "pytorch_model.bin", {"a": small}, pickle)
    refused(place, "does not fit its 4 stored numbers")


def test_a_legacy_file_is_cut_anywhere(tmp_path: Path) -> None:
    place = checkpoint(tmp_path, "bert", "legacy")
    file = place / "pytorch_model.bin"
    data = file.read_bytes()
    for length in (0, 5, 20, 60, len(data) // 3, len(data) - 1):
        file.write_bytes(data[:length])
        refused(place, "not a PyTorch file of weights")


@pytest.mark.parametrize("form", ["zip", "legacy"])
def test_damage_anywhere_is_read_or_refused(tmp_path: Path, form: str) -> None:
    """Bytes changed at random: a model comes out, or one line; never another error."""
    rng = np.random.default_rng(0)
    file, few = tmp_path / "weights.bin", dict(list(tensors("bert").items())[:3])
    read, said = 0, []
    for _ in range(300):
        if form == "zip":
            pickle = np.frombuffer(tree(few), dtype=np.uint8).copy()
            pickle[rng.integers(len(pickle), size=2)] = rng.integers(256, size=2)
            write_zip(file, few, pickle.tobytes())
        else:
            write_legacy(file, few)
            data = np.frombuffer(file.read_bytes(), dtype=np.uint8).copy()
            data[rng.integers(900, size=2)] = rng.integers(256, size=2)
            file.write_bytes(data.tobytes())
        try:
            stored = Tensors(file)
            assert all(np.isfinite(stored[name]).all() for name in stored)
            read += 1
        except rm.InvalidArgument as error:
            said.append(str(error))
    assert read > 0
    assert len(said) > 100
    assert not any("\n" in line for line in said)


@pytest.mark.parametrize("value", [None, True, -1, 0, "x", [], {}, 1.5, 10**30])
def test_any_value_of_a_setting_is_read_or_refused(tmp_path: Path, value: object) -> None:
    said = []
    for key in ("num_hidden_layers", "num_attention_heads", "layer_norm_eps", "hidden_act", "initializer_range"):
        try:
            rm.load_model(changed(tmp_path, **{key: value}))
        except rm.InvalidArgument as error:
            said.append(str(error))
    assert said
    assert not any("\n" in line for line in said)


def test_an_index_may_not_leave_its_folder(tmp_path: Path) -> None:
    place = checkpoint(tmp_path, "bert")
    (place / "model.safetensors").rename(place / "part.safetensors")
    index = place / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": dict.fromkeys(tensors("bert"), "part.safetensors")}), encoding="utf-8")
    assert rm.load_model(place).network.layers == 3
    for name, words in (("../part.safetensors", "no file of this folder"), ("other.safetensors", "is missing")):
        index.write_text(json.dumps({"weight_map": {"a": name}}), encoding="utf-8")
        refused(place, words)


def test_inputs_are_refused_by_name(tmp_path: Path) -> None:
    model = loaded(tmp_path / "a", "bert")
    for what, words in (
        ([], "ids: "),
        ([1.5], "ids: "),
        ([23], "ids: 23 given; a whole number from 0 to 22"),
        ([1] * 17, "ids: 17 tokens given; the model has positions for 16"),
        ("text", "no tokenizer.json"),
        ([[1, 2], [3]], "ids: sequences of different lengths"),
    ):
        with pytest.raises(rm.InvalidArgument, match=words):
            model.embed(what)
    with pytest.raises(rm.InvalidArgument, match="pixels: shape"):
        loaded(tmp_path / "b", "vit").embed(np.zeros((3, 4, 4)))
    with pytest.raises(rm.InvalidArgument, match="types: given"):
        loaded(tmp_path / "c", "gpt2").embed([1], types=[0])


def test_texts_are_read_by_the_tokenizer_beside_the_weights(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the extra `models` is not installed")
    words = {"[UNK]": 0, "one": 5, "two": 7}
    tool = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tool.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tool.enable_padding(length=9)
    place = checkpoint(tmp_path, "bert")
    tool.save(str(place / "tokenizer.json"))
    model = rm.load_model(place)
    assert (model.embed("one two three") == model.embed([5, 7, 0])).all()
    assert (model.embed(["one two", "two one two"], tokens=2) == model.embed([[5, 7], [7, 5]])).all()
    for what, options, said in (
        ("", {}, "text: no tokens in it"),
        (["one", "two two"], {}, "a batch needs one length: pass tokens="),
        ("one", {"tokens": 2}, "tokens=2 needs at least as many"),
    ):
        with pytest.raises(rm.InvalidArgument, match=said):
            model.embed(what, **options)
    (place / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(rm.InvalidArgument, match="not a tokenizer"):
        rm.load_model(place).embed("one")


def test_a_model_prints_what_it_is_and_not_its_weights(tmp_path: Path) -> None:
    model = loaded(tmp_path, "bert")
    heads, layers = model.network.heads, model.network.layers
    said = f"Model: bert, {layers} layers, {heads} heads, dimension {model.dim}\n  ablation: full"
    assert repr(model) == str(model) == said
