"use strict";
(() => {
const settings = JSON.parse(document.body.dataset.settings);
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

// ---- mathematics: rows are tokens, as in rankmath --------------------------------------------------------

const dot = (a, b) => a.reduce((s, x, k) => s + x * b[k], 0);
const size = (a) => Math.hypot(...a);
const times = (x, W) => W[0].map((_, j) => x.reduce((s, v, k) => s + v * W[k][j], 0));
const identity = (d, c = 1) => Array.from({ length: d }, (_, i) => Array.from({ length: d }, (_, j) => (i === j ? c : 0)));

function sees(mask, i, j) {
  if (mask === "causal") return j <= i;
  if (mask === "window:1") return Math.abs(i - j) <= 1;
  if (mask === "star") return i === j || i === 0 || j === 0;
  return true;
}

// The first two entries turned by an angle; a third stays.
const turned = ([a, b, ...rest], t) => [a * Math.cos(t) - b * Math.sin(t), b * Math.cos(t) + a * Math.sin(t), ...rest];
const hasPositions = (s) => Boolean(s.turn || s.slope);

// P = softmax(beta X W_QK X^T) over what the mask lets each token see. Rotary positions turn queries and keys by
// s.turn degrees a place, ALiBi takes s.slope |i - j| from the logits.
function attention(X, s) {
  const angle = ((s.turn || 0) * Math.PI) / 180, slope = s.slope || 0, keys = X.map((y, j) => turned(y, j * angle));
  return X.map((x, i) => {
    const query = turned(times(x, s.W_QK), i * angle);
    const logits = keys.map((y, j) => (sees(s.mask, i, j) ? s.beta * dot(query, y) - slope * Math.abs(i - j) : -Infinity));
    const top = Math.max(...logits);
    const weights = logits.map((l) => Math.exp(l - top));
    const total = weights.reduce((a, b) => a + b, 0);
    return weights.map((w) => w / total);
  });
}

// A flow on the sphere: x' = y - <x, y>x with y = P X W_V, over the time STEP by Runge and Kutta's method.
const STEP = 1 / 8;
function velocity(X, s) {
  const P = attention(X, s), V = X.map((x) => times(x, s.W_V));
  return X.map((x, i) => {
    const y = x.map((_, k) => P[i].reduce((sum, p, j) => sum + p * V[j][k], 0)), along = dot(x, y);
    return y.map((v, k) => v - along * x[k]);
  });
}
function flowed(X, s) {
  const ahead = (F, h) => X.map((x, i) => { const y = x.map((v, k) => v + h * F[i][k]), c = size(y); return y.map((v) => v / c); });
  const a = velocity(X, s), b = velocity(ahead(a, STEP / 2), s), c = velocity(ahead(b, STEP / 2), s), d = velocity(ahead(c, STEP), s);
  return ahead(a.map((x, i) => x.map((v, k) => (v + 2 * b[i][k] + 2 * c[i][k] + d[i][k]) / 6)), STEP);
}

// One layer: N(lambda X + P X W_V).
function layer(X, s) {
  if (s.norm === "flow") return flowed(X, s);
  const P = attention(X, s), V = X.map((x) => times(x, s.W_V));
  return X.map((x, i) => {
    const y = x.map((v, k) => s.skip * v + P[i].reduce((sum, p, j) => sum + p * V[j][k], 0));
    if (s.norm === "none") return y;
    const length = size(y);
    return y.map((v) => v / length); // not a number where y is 0: LayerNorm says nothing of it
  });
}

function residual(X) {
  const n = X.length, mean = X[0].map((_, k) => X.reduce((s, x) => s + x[k], 0) / n);
  return Math.sqrt(X.reduce((s, x) => s + x.reduce((t, v, k) => t + (v - mean[k]) ** 2, 0), 0));
}

function diameter(X) {
  let most = 0;
  for (const x of X) for (const y of X) most = Math.max(most, size(x.map((v, k) => v - y[k])));
  return most;
}

// Spectral norm by power iteration on W^T W.
function spectral(W) {
  let v = W[0].map((_, k) => 1 + 0.1 * k), value = 0;
  for (let t = 0; t < 200; t++) {
    const u = W.map((row) => dot(row, v));
    const w = W[0].map((_, j) => W.reduce((s, row, i) => s + row[j] * u[i], 0));
    const length = size(w);
    if (length === 0) return 0;
    value = Math.sqrt(length / size(v) );
    v = w.map((x) => x / length);
  }
  return size(W.map((row) => dot(row, v))) / size(v) || value;
}

const far = (X, Y) => Math.max(...X.map((x, i) => Math.max(...x.map((v, k) => Math.abs(v - Y[i][k])))));

// Where the layers lead: a rest, a cycle of two, a token that is 0 and cannot be normalised, or nothing within the patience.
function settle(X, s, patience = 3000) {
  let now = X, before = null;
  for (let t = 0; t < patience; t++) {
    const next = layer(now, s);
    if (s.norm !== "none" && !next.flat().every(Number.isFinite)) return { kind: "zero", X: now, steps: t };
    if (!next.flat().every(Number.isFinite) || Math.max(...next.flat().map(Math.abs)) > 1e12) return { kind: "grows", X: now, steps: t };
    if (far(next, now) < 1e-13) return { kind: "rest", X: next, steps: t };
    // Tokens that swing towards a rest come back near to themselves, too: a cycle stays apart.
    if (before && far(next, before) < 1e-13 && far(next, now) > 1e-6) return { kind: "cycle", X: next, steps: t };
    before = now; now = next;
  }
  return { kind: "none", X: now, steps: patience };
}

// Tangent directions of the state: on the sphere those orthogonal to each token.
function directions(X, s) {
  const found = [];
  X.forEach((x, i) => {
    const basis = s.norm === "none" ? identity(x.length) : tangents(x);
    for (const e of basis) found.push({ i, e });
  });
  return found;
}
function tangents(x) {
  if (x.length === 2) return [[-x[1], x[0]]];
  const a = Math.abs(x[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0];
  const c = dot(a, x), u = a.map((v, k) => v - c * x[k]), n = size(u), e = u.map((v) => v / n);
  return [e, [x[1] * e[2] - x[2] * e[1], x[2] * e[0] - x[0] * e[2], x[0] * e[1] - x[1] * e[0]]];
}

// Spectral radius of the derivative of a layer at rest, by differences and repeated squaring.
function spectralRadius(X, s) {
  const D = directions(X, s), h = 1e-6;
  const moved = ({ i, e }, t) => {
    const Y = X.map((x) => x.slice());
    Y[i] = Y[i].map((v, k) => v + t * e[k]);
    if (s.norm !== "none") { const n = size(Y[i]); Y[i] = Y[i].map((v) => v / n); }
    return layer(Y, s);
  };
  const columns = D.map((d) => { const a = moved(d, h), b = moved(d, -h); return D.map(({ i, e }) => dot(a[i].map((v, k) => v - b[i][k]), e) / (2 * h)); });
  let J = D.map((_, r) => D.map((_, c) => columns[c][r])), log = 0, power = 1;
  for (let k = 0; k < 24; k++) {
    const norm = Math.sqrt(J.flat().reduce((a, v) => a + v * v, 0));
    if (!(norm > 1e-300)) return 0;
    log += Math.log(norm) / power;
    const A = J.map((row) => row.map((v) => v / norm));
    J = A.map((row) => A[0].map((_, c) => row.reduce((a, v, m) => a + v * A[m][c], 0)));
    power *= 2;
  }
  return Math.exp(log);
}

function rank(X, tolerance = 1e-6) {
  const A = X.map((x) => x.slice());
  let r = 0;
  for (let c = 0; c < A[0].length && r < A.length; c++) {
    let p = r;
    for (let i = r; i < A.length; i++) if (Math.abs(A[i][c]) > Math.abs(A[p][c])) p = i;
    if (Math.abs(A[p][c]) < tolerance) continue;
    [A[r], A[p]] = [A[p], A[r]];
    for (let i = r + 1; i < A.length; i++) { const f = A[i][c] / A[r][c]; A[i] = A[i].map((v, k) => v - f * A[r][k]); }
    r++;
  }
  return r;
}

// ---- bounds: theorems of rankmath that apply, by layer -----------------------------------------------------

const product = (A, B) => A.map((row) => times(row, B));
const isOrthogonal = (W) => far(product(W, W[0].map((_, j) => W.map((row) => row[j]))), identity(W.length)) < 1e-9;
// Layers until some token has reached all others.
const radiusOf = (mask, n) => (mask === "window:1" ? Math.max(1, Math.floor(n / 2)) : 1);

// The theorems whose hypotheses hold, with their bound after every layer of the path, and why the others do not apply.
function bounds(path, s) {
  const X = path[0], n = X.length, D = path.map(diameter), r = radiusOf(s.mask, n);
  const v = spectral(s.W_V), q = s.beta * spectral(s.W_QK), apply = [], fail = [];
  const gain = (d) => v * Math.tanh((q * d * d) / 4), gains = D.slice(0, -1).map(gain);
  // The least attention that is paid to a token seen, over the layers before each.
  const least = [];
  for (const Y of path.slice(0, -1)) {
    const low = Math.min(...attention(Y, s).flatMap((row, i) => row.filter((_, j) => sees(s.mask, i, j))));
    least.push(Math.min(low, ...least.slice(-1)));
  }
  const running = (first, step) => path.reduce((found, _, l) => [...found, l ? step(found[l - 1], l) : first], []);
  const theorem = (key, of, side, reasons, values) => {
    const against = reasons.filter(Boolean);
    if (against.length) fail.push({ key, words: against.join(" and ") });
    else apply.push({ key, of, side, values: values() });
  };
  const norm = s.norm !== "none" && (s.norm === "flow" ? "a flow" : "LayerNorm"), skip = s.skip !== 0 && "a skip connection", mask = s.mask !== "complete" && "a mask", placed = hasPositions(s) && "positions";
  theorem("own:diameter", "diameter", "upper", [norm, skip, mask, placed], () => running(D[0], (d) => d * gain(d)));
  // Any logits and any mask: the largest total variation of two rows.
  const spread = path.slice(0, -1).map((Y) => { const P = attention(Y, s); return v * Math.max(...P.flatMap((p) => P.map((q) => p.reduce((t, x, j) => t + Math.abs(x - q[j]) / 2, 0)))); });
  theorem("own:transport", "diameter", "upper", [norm, skip], () => running(D[0], (d, l) => d * spread[l - 1]));
  const step = !skip && "no skip connection", strong = gains.some((g) => g >= s.skip) && "attention stronger than the skip";
  theorem("own:lambda-skip-upper", "diameter", "upper", [norm, step, mask, placed], () => running(D[0], (d, l) => d * (s.skip + gains[l - 1])));
  theorem("own:lambda-skip-lower", "diameter", "lower", [norm, step, mask, placed, !step && strong], () => running(D[0], (d, l) => d * (s.skip - gains[l - 1])));
  theorem("wu2024:1", "residual", "upper", [norm, skip], () => {
    let W = identity(X[0].length);
    return path.map((_, l) => {
      if (l) W = product(W, s.W_V);
      return Math.sqrt(n / 2) * (l ? spectral(W) : 1) * residual(X) * (1 - (least[l - 1] ?? 1) ** r) ** Math.floor(l / r);
    });
  });
  const values = !isOrthogonal(s.W_V) && "a W_V that is not orthogonal", wide = D[0] ** 2 > 2 && "a right angle between tokens, or more";
  theorem("wu2024:cor1", "residual", "upper", [s.norm !== "sphere" && "no LayerNorm", skip, values, wide], () =>
    path.map((_, l) => Math.sqrt(((n - 1) * D[0] ** 2) / 2) * (1 - (least[l - 1] ?? 1) ** (2 * r)) ** (Math.floor(l / r) / 2)));
  return { apply, fail };
}

// ---- state -------------------------------------------------------------------------------------------------

const state = { X: [], W_V: identity(2), W_QK: identity(2), beta: 2, skip: 0, turn: 0, slope: 0, mask: "complete", norm: "sphere" };
let start = [], history = [], view = identity(3), timer = null, rest = null;

function regular(n, d) {
  return Array.from({ length: n }, (_, i) => {
    const a = 0.35 + (1.9 * Math.PI * i) / n;
    return d === 2 ? [Math.cos(a), Math.sin(a)] : (() => { const z = 0.85 - (1.5 * i) / n, r = Math.sqrt(1 - z * z); return [r * Math.cos(2.4 * i), r * Math.sin(2.4 * i), z]; })();
  });
}
function randomTokens(n, d) {
  return Array.from({ length: n }, () => {
    let x;
    do x = Array.from({ length: d }, () => 2 * Math.random() - 1); while (size(x) > 1 || size(x) < 0.1);
    return x.map((v) => v / size(x));
  });
}
// A matrix of the plane; a third coordinate is forgotten.
const block = (W, d) => identity(d, 0).map((row, i) => row.map((_, j) => (i < 2 && j < 2 ? W[i][j] : 0)));
const PRESETS = {
  apart: (d) => [block([[1, 2], [1, -2]], d), block([[2, 2], [1, -3]], d)],
  collapse: (d) => [identity(d), identity(d)],
  repel: (d) => [identity(d), identity(d, -1)],
  minus: (d) => [identity(d, -1), identity(d)],
  third: (d) => [block([[2, 0], [-2, 1]], d), identity(d, 0)],
  turn: (d) => { const W = identity(d), a = (40 * Math.PI) / 180; W[0][0] = W[1][1] = Math.cos(a); W[0][1] = Math.sin(a); W[1][0] = -Math.sin(a); return [W, identity(d)]; },
};
const written = (W) => W.map((row) => row.join(" ")).join(" ; ");
// A decimal number or a fraction, as 0.25, -1/3, −1/3 or 1e-2; nothing else, and nothing beyond MOST.
const MOST = 100;
function number(text) {
  const parts = text.replaceAll("−", "-").split("/");
  if (parts.length > 2 || !parts.every((part) => /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(part))) return NaN;
  const value = parts.length === 2 ? Number(parts[0]) / Number(parts[1]) : Number(parts[0]);
  return Math.abs(value) <= MOST ? value : NaN;
}
function matrix(text, d) {
  const rows = text.split(";").map((row) => row.trim().split(/[\s,]+/).filter(Boolean).map(number));
  const fits = rows.length === d && rows.every((row) => row.length === d && row.every(Number.isFinite));
  return fits ? rows : null;
}

function begin(X) { start = X.map((x) => x.slice()); restart(); }
function restart() { state.X = start.map((x) => x.slice()); history = [state.X]; hideCertificate(); hideBasins(); look(); }
function advance() {
  if (history.length > 2000) return stop();
  state.X = layer(state.X, state);
  if (!state.X.flat().every(Number.isFinite)) { state.X = history[history.length - 1]; return stop(); }
  const still = far(state.X, history[history.length - 1]) < 1e-12;
  history.push(state.X);
  draw();
  if (still) stop();
}
function play() {
  if (timer) return stop();
  $("play").setAttribute("aria-pressed", "true"); $("play").textContent = "Pause";
  timer = setInterval(advance, 120);
}
function stop() {
  clearInterval(timer); timer = null;
  $("play").setAttribute("aria-pressed", "false"); $("play").textContent = "Play";
}

const counted = (steps) => (state.norm === "flow" ? `time ${(STEP * steps).toFixed(2)}` : `layer ${steps}`);
const OUTCOMES = {
  collapse: () => "collapse: all tokens equal", rest: (found) => `a rest of rank ${found.rank}`, cycle: () => "a cycle of two layers",
  grows: () => "tokens that grow without bound", zero: () => "a token that is 0, which has no direction",
  none: (found) => `nothing yet: still moving after ${counted(found.steps)}`,
};

// ---- drawing -----------------------------------------------------------------------------------------------

function make(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (parent) parent.appendChild(element);
  return element;
}
const scale = () => (state.norm === "none" ? Math.max(1, ...state.X.map(size)) : 1);
function seen(x) {
  const y = x.length === 2 ? [x[0], x[1], 1] : times(x, view);
  const c = scale();
  return [y[0] / c, -y[1] / c, y[2]];
}

function draw() {
  const svg = $("view"), active = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.token : undefined;
  svg.replaceChildren();
  make("circle", { r: 1 / scale(), class: "rim" }, svg);
  if (history.length > 1) state.X.forEach((_, i) => {
    const path = history.slice(-200).map((X) => seen(X[i]).slice(0, 2).map((v) => v.toFixed(4)).join(","));
    make("polyline", { points: path.join(" "), class: "trail" }, svg);
  });
  if (rest && (rest.kind === "rest" || rest.kind === "cycle")) rest.X.forEach((x) => { const [a, b] = seen(x); make("circle", { cx: a, cy: b, r: 0.085, class: "rest" }, svg); });
  state.X.forEach((x, i) => {
    const [a, b, depth] = seen(x);
    const label = `token ${i + 1} at ${x.map((v) => v.toFixed(2)).join(", ")}`;
    make("circle", { cx: a, cy: b, r: 0.065, class: `token${depth < 0 ? " behind" : ""}`, tabindex: 0, role: "slider", "aria-label": label, "aria-valuetext": label, "aria-valuenow": i, "data-token": i }, svg);
    const name = make("text", { x: a, y: b, class: "name", "aria-hidden": "true" }, svg);
    name.textContent = String(i + 1);
  });
  if (active !== undefined) { const again = svg.querySelector(`[data-token="${active}"]`); if (again) again.focus(); }
  const r = residual(state.X);
  $("residual").textContent = r < 1e-15 ? "below rounding; rankmath trace sees further" : r.toPrecision(4);
  const where = counted(history.length - 1);
  $("where").textContent = `${where[0].toUpperCase()}${where.slice(1)}.`;
  chart();
}

function look() {
  rest = settle(start, state);
  const collapsed = rest.kind === "rest" && diameter(rest.X) < 1e-9;
  $("limit").textContent = OUTCOMES[collapsed ? "collapse" : rest.kind]({ ...rest, rank: rank(rest.X) });
  if (rest.kind === "rest") {
    const rho = spectralRadius(rest.X, state);
    $("radius").textContent = `${rho.toFixed(4)} ${Math.abs(rho - 1) < 1e-4 ? "(undecided)" : rho < 1 ? "(attracts)" : "(does not attract)"}${state.norm === "flow" ? `, of the flow over the time ${STEP}` : ""}`;
  } else $("radius").textContent = "–";
  draw();
}

function chart() {
  const svg = $("chart"), left = 56, right = 470, top = 12, bottom = 210;
  const log = (v) => (v > 1e-16 ? Math.log10(v) : null);
  const lines = { residual: history.map((X) => log(residual(X))), diameter: history.map((X) => log(diameter(X))) };
  const found = bounds(history.slice(-400), state), shown = found.apply.map((bound) => ({ ...bound, line: [...Array(Math.max(0, history.length - 400)).fill(null), ...bound.values.map((v) => (v > 1e-300 ? Math.log10(v) : null))] }));
  const layers = Math.max(history.length - 1, 1);
  const all = [...Object.values(lines), ...shown.map((bound) => bound.line.filter((v) => v > -18))].flat().filter((v) => v !== null);
  const high = Math.ceil(Math.max(0.2, ...all)), low = Math.floor(Math.min(-0.5, ...all));
  const x = (l) => left + ((right - left) * l) / layers, y = (v) => top + ((bottom - top) * (high - v)) / (high - low);
  svg.replaceChildren();
  make("line", { x1: left, y1: bottom, x2: right, y2: bottom, class: "axis" }, svg);
  make("line", { x1: left, y1: top, x2: left, y2: bottom, class: "axis" }, svg);
  const say = (text, a, b, anchor) => { make("text", { x: a, y: b, "text-anchor": anchor }, svg).textContent = text; };
  for (let k = 0; k <= 4; k++) { const v = high - ((high - low) * k) / 4; say(`10^${+v.toFixed(1)}`, left - 4, y(v) + 4, "end"); }
  say("0", left, bottom + 16, "middle"); say(counted(layers), right, bottom + 16, "end");
  const trace = (line, name) => {
    const points = line.map((v, l) => (v === null || v < low ? null : `${x(l).toFixed(1)},${y(v).toFixed(1)}`)).filter(Boolean);
    make("polyline", { points: points.join(" "), class: `line ${name}` }, svg);
  };
  for (const [name, line] of Object.entries(lines)) trace(line, name);
  for (const bound of shown) trace(bound.line, `${bound.of} bound`);
  say("residual", right - 176, bottom + 28, "end"); make("line", { x1: right - 172, x2: right - 152, y1: bottom + 24, y2: bottom + 24, class: "line residual" }, svg);
  say("diameter", right - 88, bottom + 28, "end"); make("line", { x1: right - 84, x2: right - 64, y1: bottom + 24, y2: bottom + 24, class: "line diameter" }, svg);
  if (shown.length) { say("bounds", right - 18, bottom + 28, "end"); make("line", { x1: right - 15, x2: right, y1: bottom + 24, y2: bottom + 24, class: "line bound" }, svg); }
  const item = (text) => { const line = document.createElement("li"); line.textContent = text; return line; };
  $("bound").textContent = shown.length ? "Dashed, in the colour of what they bound:" : "No theorem here bounds this:";
  $("bounds").replaceChildren(
    ...shown.map((b) => item(`${b.key}: ${b.of} ${b.side === "upper" ? "≤" : "≥"} ${b.values.at(-1).toPrecision(3)} after layer ${history.length - 1}`)),
    ...found.fail.map((b) => item(`${b.key} does not apply: there is ${b.words}`)));
}

// ---- basins ------------------------------------------------------------------------------------------------

const PALETTE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999"];
let basinRun = 0;
function hideBasins() { basinRun++; $("basin-section").hidden = true; }
function basins() {
  const run = ++basinRun, canvas = $("basin"), N = 48, d = start[0].length, cell = canvas.width / N;
  const context = canvas.getContext("2d"), kinds = new Map();
  $("basin-section").hidden = false;
  $("basin-legend").replaceChildren();
  const place = (u, w) => {
    const X = start.map((x) => x.slice());
    if (d === 2) { X[0] = [Math.cos(u), Math.sin(u)]; X[1] = [Math.cos(w), Math.sin(w)]; }
    else X[0] = [Math.sin(w / 2) * Math.cos(u), Math.sin(w / 2) * Math.sin(u), Math.cos(w / 2)];
    return X;
  };
  $("basin-words").textContent = d === 2 ? "Angle of token 1 to the right, of token 2 upwards; the others start where they are." : "Token 1 over the whole sphere, longitude to the right, pole to pole downwards; the others start where they are.";
  let row = 0;
  const work = () => {
    if (run !== basinRun) return;
    const until = performance.now() + 30;
    while (row < N && performance.now() < until) {
      for (let column = 0; column < N; column++) {
        const end = settle(place((2 * Math.PI * (column + 0.5)) / N, (2 * Math.PI * (row + 0.5)) / N), state, 400);
        const key = end.kind === "rest" && diameter(end.X) < 1e-6 ? "collapse" : end.kind !== "rest" ? end.kind : `rest ${gram(end.X)}`;
        if (!kinds.has(key)) kinds.set(key, { colour: PALETTE[kinds.size % PALETTE.length], count: 0, rank: rank(end.X), steps: end.steps });
        const kind = kinds.get(key);
        kind.count++;
        context.fillStyle = kind.colour;
        context.fillRect(column * cell, (d === 2 ? N - 1 - row : row) * cell, cell, cell);
      }
      row++;
    }
    if (row < N) return void setTimeout(work, 0);
    const sorted = [...kinds.entries()].sort((a, b) => b[1].count - a[1].count);
    $("basin-legend").replaceChildren(...sorted.slice(0, 8).map(([key, kind]) => {
      const item = document.createElement("li"), swatch = document.createElement("span");
      swatch.className = "swatch"; swatch.style.background = kind.colour;
      item.append(swatch, `${OUTCOMES[key in OUTCOMES ? key : "rest"](kind)}: ${((100 * kind.count) / (N * N)).toFixed(1)} % of these starts`);
      return item;
    }));
    canvas.dataset.done = "yes";
  };
  delete canvas.dataset.done;
  work();
}
// Rests that differ by a rotation look alike: they have the same inner products.
const gram = (X) => X.map((x) => X.map((y) => dot(x, y).toFixed(2).replace("-0.00", "0.00")).join(" ")).join(" ");

// ---- certificate -------------------------------------------------------------------------------------------

function hideCertificate() { $("certificate").hidden = true; }
async function certify() {
  $("certificate").hidden = false;
  $("claims").replaceChildren();
  $("download").hidden = true;
  const sent = { X: start, W_V: state.W_V, W_QK: state.W_QK, beta: state.beta, mask: state.mask, skip: state.skip, norm: state.norm, turn: state.turn, slope: state.slope };
  if ($("complaint").textContent) {
    $("certificate-words").textContent = `Not certified: ${$("complaint").textContent}`;
    $("python").textContent = "";
    return;
  }
  if (!settings.postTo) {
    $("certificate-words").textContent = "This page is a file and proves nothing by itself. This Python does, where rankmath is installed:";
    $("python").textContent = `from rankmath.cli.page.certify import certificate_of\nprint(certificate_of(${JSON.stringify(sent)}, "certificates"))\n`;
    return;
  }
  $("certificate-words").textContent = "Proving …";
  $("python").textContent = "";
  let found;
  try {
    const answer = await fetch(settings.postTo, { method: "POST", body: JSON.stringify(sent), headers: { "Content-Type": "application/json" } });
    found = await answer.json();
  } catch { found = { proved: false, refused: "rankmath explore does not answer any more; start it again" }; }
  $("certificate-words").textContent = found.refused ? `Not certified: ${found.refused}` : found.proved ? `${found.id}, written to ${found.file}; the checker accepts it:` : "Not all of it is proved:";
  $("claims").replaceChildren(...(found.checked || found.claims || []).map((line) => { const item = document.createElement("li"); item.textContent = line; return item; }));
  $("python").textContent = found.python || "";
  if (found.text) {
    const link = $("download");
    link.href = URL.createObjectURL(new Blob([`${found.text}\n`], { type: "application/json" }));
    link.download = `${found.id}.json`;
    link.hidden = false;
  }
}

// ---- hands -------------------------------------------------------------------------------------------------

function put(i, x) {
  const n = size(x);
  if (state.norm !== "none") { if (n < 1e-9) return; x = x.map((v) => v / n); }
  const X = state.X.map((y) => y.slice());
  X[i] = x;
  begin(X);
}
function pointed(event) {
  const box = $("view").getBoundingClientRect(), c = scale();
  return [(((event.clientX - box.left) / box.width) * 2.5 - 1.25) * c, -(((event.clientY - box.top) / box.height) * 2.5 - 1.25) * c];
}
const transposed = (W) => W[0].map((_, j) => W.map((row) => row[j]));
let held = null;
$("view").addEventListener("pointerdown", (event) => {
  const i = event.target.dataset ? event.target.dataset.token : undefined;
  held = { token: i === undefined ? null : Number(i), at: pointed(event) };
  $("view").setPointerCapture(event.pointerId);
  if (i !== undefined) { stop(); event.target.focus(); }
  event.preventDefault();
});
$("view").addEventListener("pointermove", (event) => {
  if (!held) return;
  const [a, b] = pointed(event);
  if (held.token !== null) {
    if (state.X[0].length === 2) put(held.token, [a, b]);
    else { const r = Math.hypot(a, b), z = r < 1 ? Math.sqrt(1 - r * r) : 0; put(held.token, times([a, b, z], transposed(view))); }
  } else if (state.X[0].length === 3) {
    turn(a - held.at[0], b - held.at[1]);
    held.at = [a, b];
    draw();
  }
});
for (const name of ["pointerup", "pointercancel"]) $("view").addEventListener(name, () => { held = null; });
function turn(a, b) {
  const about = [[Math.cos(a), 0, -Math.sin(a)], [0, 1, 0], [Math.sin(a), 0, Math.cos(a)]], tilt = [[1, 0, 0], [0, Math.cos(b), -Math.sin(b)], [0, Math.sin(b), Math.cos(b)]];
  view = view.map((row) => times(times(row, about), tilt));
}
document.addEventListener("keydown", (event) => {
  const target = event.target, i = target.dataset ? target.dataset.token : undefined, step = (event.shiftKey ? 0.5 : 3) * (Math.PI / 180);
  const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[event.key];
  if (i !== undefined && moves) {
    const x = state.X[i], [a, b] = moves, d = x.length;
    if (d === 2) { const t = a + b; put(Number(i), [x[0] * Math.cos(t) - x[1] * Math.sin(t), x[0] * Math.sin(t) + x[1] * Math.cos(t)]); }
    else { const [e, f] = tangents(x); put(Number(i), x.map((v, k) => v + a * e[k] + b * f[k])); }
    event.preventDefault();
  } else if (["INPUT", "SELECT", "BUTTON", "TEXTAREA"].includes(target.tagName)) return;
  else if (event.key === " ") { play(); event.preventDefault(); }
  else if (event.key === "ArrowRight") { stop(); advance(); event.preventDefault(); }
  else if (event.key.toLowerCase() === "r") { stop(); restart(); }
});
$("play").addEventListener("click", play);
$("step").addEventListener("click", () => { stop(); advance(); });
$("reset").addEventListener("click", () => { stop(); restart(); });
$("random").addEventListener("click", () => { stop(); begin(randomTokens(start.length, start[0].length)); });
$("certify").addEventListener("click", certify);
$("basins").addEventListener("click", basins);
$("theme").addEventListener("click", () => {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

function shape() {
  const d = Number($("dim").value), n = Math.min(8, Math.max(2, Math.round(Number($("tokens").value)) || 2));
  $("tokens").value = n;
  if (d !== start[0].length) { preset(); begin(regular(n, d)); }
  else if (n !== start.length) begin(n < start.length ? start.slice(0, n) : [...start, ...regular(n, d).slice(start.length)]);
}
function preset() {
  const d = Number($("dim").value), name = $("preset").value;
  if (PRESETS[name]) { [state.W_V, state.W_QK] = PRESETS[name](d); $("wv").value = written(state.W_V); $("wqk").value = written(state.W_QK); $("complaint").textContent = ""; }
}
function entries() {
  const d = Number($("dim").value), V = matrix($("wv").value, d), Q = matrix($("wqk").value, d);
  $("complaint").textContent = V && Q ? "" : `${V ? "W_QK" : "W_V"}: ${d} rows of ${d} numbers are needed, such as 2, -0.5 or 1/3, none beyond ${MOST}; rows set apart by ;`;
  if (!V || !Q) return;
  state.W_V = V; state.W_QK = Q; $("preset").value = "own";
  restart();
}
$("form").addEventListener("submit", (event) => event.preventDefault());
$("tokens").addEventListener("change", shape);
$("dim").addEventListener("change", shape);
$("preset").addEventListener("change", () => { preset(); restart(); });
for (const id of ["wv", "wqk"]) $(id).addEventListener("change", entries);
for (const id of ["beta", "skip", "turn", "slope"]) $(id).addEventListener("input", () => { state[id] = Number($(id).value); $(`${id}-value`).textContent = $(id).value; restart(); });
for (const id of ["mask", "norm"]) $(id).addEventListener("change", () => {
  state[id] = $(id).value;
  if (id === "norm" && state.norm !== "none") begin(start.map((x) => x.map((v) => v / (size(x) || 1))));
  else restart();
});

preset();
begin(regular(3, 2));
if (!matchMedia("(prefers-reduced-motion: reduce)").matches) play();
window.rankmathExplore = { state, layer, velocity, attention, settle, spectralRadius, residual, diameter, bounds, rank, begin, spectral, matrix };
})();
