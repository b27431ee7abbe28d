(** Every definition that a theorem of this library speaks of.  Nothing is proved here.

    Conventions.  Tokens are the rows X 0, ..., X (n-1) of a matrix X with d columns; indices start
    at 0 and run below n (tokens), d (coordinates), H (heads), L (layers).  A matrix is a function
    of two indices; its size is given where it matters, entries beyond it are never looked at.
    [sum n f] = f 0 + ... + f (n-1); [maxf n f] = the largest of 0, f 0, ..., f (n-1) (file Sums.v). *)
Require Import Reals.
From Coquelicot Require Import Complex.
From Rankmath Require Export Sums.
Local Open Scope R_scope.

(* ---------- vectors and matrices ---------- *)
Definition vec := nat -> R.
Definition mat := nat -> vec.

Definition vsub (u v : vec) : vec := fun a => u a - v a.
Definition dot (d : nat) (u v : vec) : R := sum d (fun a => u a * v a).
(** v W, for a row vector v with d coordinates. *)
Definition vmat (d : nat) (v : vec) (W : mat) : vec := fun b => sum d (fun a => v a * W a b).
(** A B, where A has k columns. *)
Definition mmul (k : nat) (A B : mat) : mat := fun i => vmat k (A i) B.
Definition madd (A B : mat) : mat := fun i a => A i a + B i a.
Definition eye : mat := fun i j => if Nat.eqb i j then 1 else 0.
(** u M v^T *)
Definition bil (d : nat) (u : vec) (M : mat) (v : vec) : R :=
  sum d (fun a => sum d (fun b => u a * M a b * v b)).

(** P has n rows and m columns, entries >= 0, rows that sum to one. *)
Definition row_stochastic (n m : nat) (P : mat) : Prop :=
  (forall i j, (i < n)%nat -> (j < m)%nat -> 0 <= P i j) /\
  (forall i, (i < n)%nat -> sum m (P i) = 1).

(* ---------- norms ---------- *)
(** Any seminorm on tokens; l1, l2, linf are made into such records in Norms.v. *)
Record seminorm := {
  sn :> vec -> R;
  sn_add : forall u v, sn (fun a => u a + v a) <= sn u + sn v;
  sn_scal : forall c u, sn (fun a => c * u a) = Rabs c * sn u }.

Definition l1 (d : nat) (u : vec) : R := sum d (fun a => Rabs (u a)).
Definition l2 (d : nat) (u : vec) : R := sqrt (dot d u u).
Definition linf (d : nat) (u : vec) : R := maxf d (fun a => Rabs (u a)).

(** Of an n x d matrix: largest column sum, largest row sum, their geometric mean, largest entry,
    sum of all entries (all of absolute values), Frobenius. *)
Definition norm1 (n d : nat) (A : mat) : R := maxf d (fun a => sum n (fun i => Rabs (A i a))).
Definition norminf (n d : nat) (A : mat) : R := maxf n (fun i => sum d (fun a => Rabs (A i a))).
Definition comp (n d : nat) (A : mat) : R := sqrt (norm1 n d A * norminf n d A).
Definition maxentry (n d : nat) (A : mat) : R := maxf n (fun i => maxf d (fun a => Rabs (A i a))).
Definition sumentries (n d : nat) (A : mat) : R := sum n (fun i => sum d (fun a => Rabs (A i a))).
Definition frob (n d : nat) (A : mat) : R := sqrt (sum n (fun i => dot d (A i) (A i))).

(* ---------- how far tokens are from one another ---------- *)
(** X - 1 x^T *)
Definition centred (X : mat) (x : vec) : mat := fun i => vsub (X i) x.
(** x minimises N(X - 1 x^T); [residual N X r]: the minimum is r. *)
Definition minimiser (N : mat -> R) (X : mat) (x : vec) : Prop :=
  forall y, N (centred X x) <= N (centred X y).
Definition residual (N : mat -> R) (X : mat) (r : R) : Prop :=
  exists x, minimiser N X x /\ N (centred X x) = r.
Definition mean (n : nat) (X : mat) : vec := fun a => sum n (fun i => X i a) / INR n.
(** mu(X) = ||X - 1 mean^T||_F *)
Definition mu (n d : nat) (X : mat) : R := frob n d (centred X (mean n X)).
(** diam = max_{i,k} N(X_i - X_k). *)
Definition diam (n : nat) (N : vec -> R) (X : mat) : R :=
  maxf n (fun i => maxf n (fun k => N (vsub (X i) (X k)))).
(** max_i N(A_i): its residual is the radius of the smallest ball around the tokens. *)
Definition rowmax (n : nat) (N : vec -> R) (A : mat) : R := maxf n (fun i => N (A i)).

(* ---------- probability vectors, softmax ---------- *)
(** Total variation of two vectors on 0, ..., n-1. *)
Definition tv (n : nat) (p q : vec) : R := / 2 * sum n (fun j => Rabs (p j - q j)).
(** q_j e^{g_j} / sum_k q_k e^{g_k} *)
Definition tilt (n : nat) (q g : vec) : vec := fun j =>
  q j * exp (g j) / sum n (fun k => q k * exp (g k)).
(** Softmax of the logits l over the keys with weight m_j > 0 (1 = seen, 0 = masked): the tilt of m. *)
Definition softmax (n : nat) (m l : vec) : vec := tilt n m l.

(* ---------- attention ---------- *)
(** One head: query and key maps (d x d_qk) with biases, the value and output maps together
    (d x d), and the mask: [mask i j] = 1 where query i sees key j, 0 where not. *)
Record head := {
  WQ : mat; WK : mat; bQ : vec; bK : vec; WV : mat; mask : mat }.
Record layer := { nheads : nat; dqk : nat; hd : nat -> head; bout : vec }.

(** Masks.  Every query sees every key; token i sees tokens 0..i; all queries see the same
    non-empty set of keys (key padding). *)
Definition nomask : mat := fun _ _ => 1.
Definition causal : mat := fun i j => if Nat.leb j i then 1 else 0.
Definition proper_mask (n : nat) (m : mat) : Prop :=
  (forall i j, (i < n)%nat -> (j < n)%nat -> 0 <= m i j) /\
  (forall i, (i < n)%nat -> exists j, (j < n)%nat /\ 0 < m i j).
Definition key_padding (n : nat) (m : mat) : Prop :=
  proper_mask n m /\
  forall i k j, (i < n)%nat -> (k < n)%nat -> (j < n)%nat -> m i j = m k j.

(** W_QK = W_Q W_K^T *)
Definition WQK (dq : nat) (h : head) : mat := fun a b => sum dq (fun c => WQ h a c * WK h b c).

(** (X_i W_Q + b_Q) . (X_j W_K + b_K) / sqrt d_qk *)
Definition logit (d dq : nat) (h : head) (X : mat) : mat := fun i j =>
  sum dq (fun c => (vmat d (X i) (WQ h) c + bQ h c) * (vmat d (X j) (WK h) c + bK h c))
  / sqrt (INR dq).
Definition attn (n d dq : nat) (h : head) (X : mat) : mat := fun i =>
  softmax n (mask h i) (logit d dq h X i).

(** SA(X) = sum_h P_h X W_h + 1 b^T *)
Definition SA (n d : nat) (Ly : layer) (X : mat) : mat := fun i b =>
  sum (nheads Ly) (fun h =>
    vmat d (vmat n (attn n d (dqk Ly) (hd Ly h) X i) X) (WV (hd Ly h)) b) + bout Ly b.

(* ---------- networks ---------- *)
(** A block: X -> f(s X + SA(X)), with f applied to every token: s = 0 is attention alone, s = 1 a
    skip connection; f = [sphere d] is LayerNorm on the sphere, f = [id] none. *)
Record block := { att : layer; skip : R; tok : vec -> vec }.
Definition block_map (n d : nat) (B : block) (X : mat) : mat := fun i =>
  tok B (fun a => skip B * X i a + SA n d (att B) X i a).
Fixpoint net (n d : nat) (B : nat -> block) (L : nat) (X : mat) : mat :=
  match L with O => X | S l => block_map n d (B l) (net n d B l X) end.

Definition sphere (d : nat) (v : vec) : vec := fun a => v a / l2 d v.
Definition plain (Ly : layer) : block := {| att := Ly; skip := 0; tok := fun v => v |}.
Definition skipped (Ly : layer) : block := {| att := Ly; skip := 1; tok := fun v => v |}.
Definition normalised (d : nat) (Ly : layer) : block := {| att := Ly; skip := 0; tok := sphere d |}.
Definition lipschitz (N : vec -> R) (lam : R) (f : vec -> vec) : Prop :=
  0 <= lam /\ forall u v, N (vsub (f u) (f v)) <= lam * N (vsub u v).

(* ---------- the constants of a layer in a token norm ---------- *)
(** w h bounds the operator norm of W_h, m h bounds |u W_QK,h v^T| on the unit ball. *)
Record layer_bounds (d : nat) (N : vec -> R) (Ly : layer) (w m : nat -> R) : Prop := {
  dqk_pos : (0 < dqk Ly)%nat;
  w_pos : forall h, 0 <= w h;
  m_pos : forall h, 0 <= m h;
  w_bound : forall h v, (h < nheads Ly)%nat -> N (vmat d v (WV (hd Ly h))) <= w h * N v;
  m_bound : forall h u v, (h < nheads Ly)%nat ->
     Rabs (bil d u (WQK (dqk Ly) (hd Ly h)) v) <= m h * N u * N v }.

(** sum_h w_h tanh(m_h t^2 / (4 sqrt d_qk)) and sum_h w_h m_h / (4 sqrt d_qk). *)
Definition rate (Ly : layer) (w m : nat -> R) (t : R) : R :=
  sum (nheads Ly) (fun h => w h * tanh (m h * t ^ 2 / (4 * sqrt (INR (dqk Ly))))).
Definition kappa (Ly : layer) (w m : nat -> R) : R :=
  sum (nheads Ly) (fun h => w h * m h / (4 * sqrt (INR (dqk Ly)))).

(* ---------- masks as graphs, products over layers ---------- *)
(** A walk of k edges from token c to token i: every token on it sees the one before. *)
Fixpoint walk (n : nat) (G : mat) (c k i : nat) : Prop :=
  match k with
  | O => i = c
  | S l => exists j, (j < n)%nat /\ 0 < G i j /\ walk n G c l j
  end.
(** Every token is reached from c within r edges: the mask is quasi-strongly connected, its radius
    at most r. *)
Definition centre (n : nat) (G : mat) (c r : nat) : Prop :=
  (c < n)%nat /\ forall i, (i < n)%nat -> exists k, (k <= r)%nat /\ walk n G c k i.
(** A(s+k-1) ... A(s), n x n, later layers on the left; W(0) ... W(t-1), d x d. *)
Fixpoint steps (n : nat) (A : nat -> mat) (s k : nat) : mat :=
  match k with O => eye | S l => mmul n (A (s + l)%nat) (steps n A s l) end.
Fixpoint values (d : nat) (W : nat -> mat) (t : nat) : mat :=
  match t with O => eye | S s => mmul d (values d W s) (W s) end.
(** The least of f 0, ..., f n; a product over 0, ..., n-1; sum_c min_i B_ic for an n x n matrix. *)
Fixpoint minf (n : nat) (f : nat -> R) : R :=
  match n with O => f 0%nat | S m => Rmin (minf m f) (f (S m)) end.
Fixpoint prodf (n : nat) (f : nat -> R) : R :=
  match n with O => 1 | S m => prodf m f * f m end.
Definition doeblin (n : nat) (B : mat) : R := sum n (fun c => minf (n - 1) (fun i => B i c)).
(** The rows of W are orthonormal. *)
Definition orthogonal (d : nat) (W : mat) : Prop :=
  forall a b, (a < d)%nat -> (b < d)%nat -> dot d (W a) (W b) = eye a b.

(* ---------- networks of one-head layers in time ---------- *)
(** X(s), its attention matrix and the value matrix of layer s: without skip or LayerNorm, and with LayerNorm on
    the sphere. *)
Definition layer_value (Ly : nat -> layer) (s : nat) : mat := WV (hd (Ly s) 0).
Definition plain_orbit (n d : nat) (Ly : nat -> layer) (X : mat) (s : nat) : mat :=
  net n d (fun l => plain (Ly l)) s X.
Definition plain_attention (n d : nat) (Ly : nat -> layer) (X : mat) (s : nat) : mat :=
  attn n d (dqk (Ly s)) (hd (Ly s) 0) (plain_orbit n d Ly X s).
Definition sphere_orbit (n d : nat) (Ly : nat -> layer) (X : mat) (s : nat) : mat :=
  net n d (fun l => normalised d (Ly l)) s X.
Definition sphere_attention (n d : nat) (Ly : nat -> layer) (X : mat) (s : nat) : mat :=
  attn n d (dqk (Ly s)) (hd (Ly s) 0) (sphere_orbit n d Ly X s).
(** v_t = v W(0)...W(t-1) and y_i(t) = X_i(t)/<X_i(t), v_t> *)
Definition carried (d : nat) (Ly : nat -> layer) (v : vec) (t : nat) : vec :=
  vmat d v (values d (layer_value Ly) t).
Definition gnomonic (n d : nat) (Ly : nat -> layer) (X : mat) (v : vec) (t : nat) : mat := fun i a =>
  sphere_orbit n d Ly X t i a / dot d (sphere_orbit n d Ly X t i) (carried d Ly v t).

(* ---------- one head with LayerNorm on the sphere, near an equilibrium ---------- *)
(** The layer with logits x_i M x_j^T (M stands for W_QK/sqrt d_qk), values W_V = W, mask G, no bias. *)
Definition onehead (d : nat) (M W G : mat) : layer := {| nheads := 1; dqk := d;
  hd := fun _ => {| WQ := fun a c => sqrt (INR d) * M a c; WK := eye;
    bQ := fun _ => 0; bK := fun _ => 0; WV := W; mask := G |};
  bout := fun _ => 0 |}.
(** M = 0: every token attends evenly to what it sees. *)
Definition no_logits : mat := fun _ _ => 0.
(** X -> LayerNorm(SA(X)) *)
Definition sphere_map (n d : nat) (M W G : mat) : mat -> mat :=
  block_map n d (normalised d (onehead d M W G)).
Definition fixed (n d : nat) (F : mat -> mat) (Z : mat) : Prop :=
  forall i a, (i < n)%nat -> (a < d)%nat -> F Z i a = Z i a.
(** All entries are at most r in modulus. *)
Definition within (n d : nat) (r : R) (H : mat) : Prop :=
  forall p q, (p < n)%nat -> (q < d)%nat -> Rabs (H p q) <= r.
(** f(H) = a + sum_pq J_pq H_pq + O(|H|^2) near H = 0. *)
Definition lin (n d : nat) (J H : mat) : R := sum n (fun p => sum d (fun q => J p q * H p q)).
Definition jet (n d : nat) (f : mat -> R) (a : R) (J : mat) : Prop :=
  exists K rho, 0 <= K /\ 0 < rho <= 1 /\ forall r H, 0 <= r <= rho -> within n d r H ->
    Rabs (f H - a - lin n d J H) <= K * (r * r).
(** J i a is the gradient of entry (i,a) of F at Z, with quadratic remainder: J is the derivative. *)
Definition derivative (n d : nat) (F : mat -> mat) (Z : mat) (J : nat -> nat -> mat) : Prop :=
  forall i a, (i < n)%nat -> (a < d)%nat -> jet n d (fun H => F (madd Z H) i a) (F Z i a) (J i a).
(** z is an eigenvalue of the linear map H -> (sum_pq (J i a)_pq H_pq)_ia on n x d matrices. *)
Definition csum (n : nat) (f : nat -> C) : C := (sum n (fun j => fst (f j)), sum n (fun j => snd (f j))).
Definition eigenvalue (n d : nat) (J : nat -> nat -> mat) (z : C) : Prop := exists v : nat -> nat -> C,
  (exists i a, (i < n)%nat /\ (a < d)%nat /\ v i a <> 0%C) /\
  forall i a, (i < n)%nat -> (a < d)%nat ->
    csum n (fun p => csum d (fun q => RtoC (J i a p q) * v p q)%C) = (z * v i a)%C.
(** Every start near Z converges to Z, exponentially. *)
Definition attracts (n d : nat) (F : mat -> mat) (Z : mat) : Prop :=
  exists eta C q, 0 < eta /\ 0 <= C /\ 0 <= q < 1 /\
  forall X, within n d eta (fun i a => X i a - Z i a) ->
  forall k, within n d (C * q ^ k) (fun i a => Nat.iter k F X i a - Z i a).
(** k rows of X are independent, and every row is a combination of them. *)
Definition has_rank (n d : nat) (X : mat) (k : nat) : Prop := exists f : nat -> nat,
  (forall j, (j < k)%nat -> (f j < n)%nat) /\
  (forall c : vec, (forall a, (a < d)%nat -> sum k (fun j => c j * X (f j) a) = 0) -> forall j, (j < k)%nat ->
    c j = 0) /\
  (forall i, (i < n)%nat -> exists c : vec, forall a, (a < d)%nat -> X i a = sum k (fun j => c j * X (f j) a)).
