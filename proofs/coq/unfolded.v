(** The theorems with their definitions unfolded to the reals of the standard library: sums (sum_f_R0 f n = f 0 + ...
+ f n), exp, sqrt, tanh, Rabs.

    own:tv, own:diameter, own:skip-lower, seed:closure, dong2021:2.1, dong2021:A.3, dong2021:norm, own:gamma-free,
      dong2021v1:2.3, wu2024:1, own:hemisphere,
    own:stable-causal-every-n, own:stable-complete-every-n, wu2024:conjecture.
    No statement below mentions a definition of this library (a test compiles the
    statements without it): what is proved here does not rest on how Definitions.v is read.
    Indices run to n, so there are n + 1 tokens, d + 1 coordinates,
    H + 1 heads, d_qk = q + 1. *)
Require Import Reals Lra Lia Psatz FunctionalExtensionality.
From Coquelicot Require Import Lim_seq Complex.
From Rankmath Require Import Definitions Functions Norms Softmax own_tv own_diameter own_skip_lower seed_closure
    dong2021.
From Rankmath Require Import dong2021v1_2_2 centred_form own_gamma_free.
From Rankmath Require own_stable_every_rank.
From Rankmath Require Import Masks SphereLayer Spectrum theorem_A wu_all_n wu2024_3 wu2024_1 own_hemisphere.
Local Open Scope R_scope.

(* ---------- between the two languages ---------- *)
Lemma plain_sum : sum_f_R0 = fun f n => sum (S n) f.
Proof. apply functional_extensionality; intro f. apply functional_extensionality; intro n. symmetry. apply sum_reals.
Qed.
Lemma plain_max n f c : (forall a, (a <= n)%nat -> f a <= c) -> (exists a, (a <= n)%nat /\ f a = c) -> 0 <= c ->
  maxf (S n) f = c.
Proof.
  intros U [a [Ha E]] P. apply Rle_antisym; [apply maxf_lub; [exact P|intros; apply U; lia]|]. rewrite <- E.
  apply maxf_ub. lia.
Qed.
Ltac plain := rewrite ?plain_sum in *; cbv beta in *.

(** own:tv *)
Theorem tv_tanh_unfolded : forall (n : nat) (q g : nat -> R) (D : R),
  (forall j, (j <= n)%nat -> 0 <= q j) -> sum_f_R0 q n = 1 ->
  (forall j k, (j <= n)%nat -> (k <= n)%nat -> g j - g k <= D) ->
  / 2 * sum_f_R0 (fun j => Rabs (q j * exp (g j) / sum_f_R0 (fun k => q k * exp (g k)) n - q j)) n
  <= (exp (D / 4) - exp (- (D / 4))) / (exp (D / 4) + exp (- (D / 4))).
Proof.
  intros n q g D Hq Hs Ho. plain.
  replace ((exp (D / 4) - exp (- (D / 4))) / (exp (D / 4) + exp (- (D / 4)))) with (tanh (D / 4)).
  - apply (tv_tanh (S n) q g D); auto; intros; [apply Hq|apply Ho]; lia.
  - unfold tanh, sinh, cosh. field. assert (A := exp_pos (D / 4)). assert (B := exp_pos (- (D / 4))). lra.
Qed.

(** The 4 is the best constant: with any c > 4 in its place the statement is false, for every D > 0. *)
Theorem tv_four_is_best : forall c D : R, 4 < c -> 0 < D -> exists q g : nat -> R,
  (forall j, 0 < q j) /\ q 0%nat + q 1%nat = 1 /\ (forall j k, g j - g k <= D) /\
  tanh (D / c) < / 2 * sum_f_R0 (fun j => Rabs (q j * exp (g j) / sum_f_R0 (fun k => q k * exp (g k)) 1 - q j)) 1.
Proof.
  intros c D Hc HD. destruct (tv_sharp D ltac:(lra)) as [q [g [P [S [O E]]]]]. exists q, g. plain. split; [exact P|].
  split; [simpl in S; lra|split; [exact O|]]. unfold tv, tilt in E. rewrite E. apply tanh_lt. unfold Rdiv.
  apply Rmult_lt_compat_l; [exact HD|].
  apply Rinv_lt_contravar; lra.
Qed.

(** the transport lemma, for a function N with the two properties of a seminorm *)
Theorem transport_unfolded : forall N : (nat -> R) -> R,
  (forall u v, N (fun a => u a + v a) <= N u + N v) -> (forall c u, N (fun a => c * u a) = Rabs c * N u) ->
  forall (n : nat) (nu : nat -> R) (v : nat -> nat -> R) (D : R), sum_f_R0 nu n = 0 ->
  (forall j k, (j <= n)%nat -> (k <= n)%nat -> N (fun a => v j a - v k a) <= D) ->
  N (fun a => sum_f_R0 (fun j => nu j * v j a) n) <= / 2 * sum_f_R0 (fun j => Rabs (nu j)) n * D.
Proof.
  intros N NA NS n nu v D Z B. plain. apply (transport {| sn := N; sn_add := NA; sn_scal := NS |} (S n) nu v D Z).
  intros; apply B; lia.
Qed.

(* ---------- own:diameter ---------- *)
(** The layer of the statements below: H + 1 heads, n + 1 tokens, d + 1 coordinates, d_qk = q + 1, key padding mk. *)
Lemma plain_layer N (NA : forall u v, N (fun a => u a + v a) <= N u + N v) (NS : forall c u,
  N (fun a => c * u a) = Rabs c * N u)
  (n d q H : nat) (WQ WK WV : nat -> nat -> nat -> R) (bQ bK mk : nat -> nat -> R) (b w m : nat -> R) :
  (forall h j, (h <= H)%nat -> (j <= n)%nat -> 0 <= mk h j) -> (forall h, (h <= H)%nat ->
    exists j, (j <= n)%nat /\ 0 < mk h j) ->
  (forall h, 0 <= w h /\ 0 <= m h) ->
  (forall h v, (h <= H)%nat -> N (fun e => sum (S d) (fun a => v a * WV h a e)) <= w h * N v) ->
  (forall h u v, (h <= H)%nat ->
     Rabs (sum (S d) (fun a => sum (S d) (fun e => u a * sum (S q) (fun c => WQ h a c * WK h e c) * v e))) <= m h * N u
       * N v) ->
  let Ly := {| nheads := S H; dqk := S q; bout := b; hd := fun h => {| Definitions.WQ := WQ h; Definitions.WK := WK h;
     Definitions.bQ := bQ h; Definitions.bK := bK h; Definitions.WV := WV h; mask := fun _ => mk h |} |} in
  layer_bounds (S d) {| sn := N; sn_add := NA; sn_scal := NS |} Ly w m /\
  forall h, (h < nheads Ly)%nat -> key_padding (S n) (mask (hd Ly h)).
Proof.
  intros K0 K1 P BW BM Ly. split.
  - constructor; try (intro; apply P); [simpl; lia| |]; intros; [apply BW|apply BM]; simpl in *; lia.
  - intros h Hh. simpl in Hh. split; [split|reflexivity].
    + intros; simpl; apply K0; lia.
    + intros i _. destruct (K1 h ltac:(lia)) as [j [Hj Pj]]. exists j. split; [lia|exact Pj].
Qed.

(** own:diameter, one layer *)
Theorem diameter_layer_unfolded : forall N : (nat -> R) -> R,
  (forall u v, N (fun a => u a + v a) <= N u + N v) -> (forall c u, N (fun a => c * u a) = Rabs c * N u) ->
  forall (n d q H : nat) (WQ WK WV : nat -> nat -> nat -> R) (bQ bK mk : nat -> nat -> R) (b w m : nat ->
    R) (X : nat -> nat -> R) (D : R),
  let logit h i j := sum_f_R0 (fun c => (sum_f_R0 (fun a => X i a * WQ h a c) d + bQ h c) *
    (sum_f_R0 (fun a => X j a * WK h a c) d + bK h c)) q / sqrt (INR (S q)) in
  let P h i j := mk h j * exp (logit h i j) / sum_f_R0 (fun k => mk h k * exp (logit h i k)) n in
  let Y i e := sum_f_R0 (fun h => sum_f_R0 (fun a => sum_f_R0 (fun j => P h i j * X j a) n * WV h a e) d) H + b e in
  (forall h j, (h <= H)%nat -> (j <= n)%nat -> 0 <= mk h j) -> (forall h, (h <= H)%nat ->
    exists j, (j <= n)%nat /\ 0 < mk h j) ->
  (forall h, 0 <= w h /\ 0 <= m h) ->
  (forall h v, (h <= H)%nat -> N (fun e => sum_f_R0 (fun a => v a * WV h a e) d) <= w h * N v) ->
  (forall h u v, (h <= H)%nat ->
     Rabs (sum_f_R0 (fun a => sum_f_R0 (fun e => u a * sum_f_R0 (fun c => WQ h a c * WK h e c) q * v e) d) d) <= m h *
       N u * N v) ->
  0 <= D -> (forall i k, (i <= n)%nat -> (k <= n)%nat -> N (fun a => X i a - X k a) <= D) ->
  forall i k, (i <= n)%nat -> (k <= n)%nat ->
  N (fun a => Y i a - Y k a) <= D * sum_f_R0 (fun h => w h * tanh (m h * D ^ 2 / (4 * sqrt (INR (S q))))) H /\
  N (fun a => Y i a - Y k a) <= sum_f_R0 (fun h => w h * m h / (4 * sqrt (INR (S q)))) H * D ^ 3.
Proof.
  intros N NA NS n d q H WQ WK WV bQ bK mk b w m X D logit P Y K0 K1 Pw BW BM D0 HX i k Hi Hk.
  unfold Y, P, logit in *. clear Y P logit. plain.
  set (Nn := {| sn := N; sn_add := NA; sn_scal := NS |}).
  destruct (plain_layer N NA NS n d q H WQ WK WV bQ bK mk b w m K0 K1 Pw BW BM) as [LB KP].
  match type of LB with layer_bounds _ _ ?L _ _ => set (Ly := L) in * end.
  assert (T := proj1 (diameter_layer (S n) (S d) Nn Ly w m LB KP X)).
  assert (Dd : diam (S n) Nn X <= D) by (apply diam_lub; [exact D0|intros; apply HX; lia]).
  assert (D1 := diam_nonneg (S n) Nn X).
  assert (U := diam_ub (S n) Nn (SA (S n) (S d) Ly X) i k ltac:(lia) ltac:(lia)).
  assert (A : N (vsub (SA (S n) (S d) Ly X i) (SA (S n) (S d) Ly X k)) <= D * rate Ly w m D).
  { eapply Rle_trans; [exact U|]. eapply Rle_trans; [exact T|].
    apply Rmult_le_compat; [exact D1|apply (rate_nonneg (S d) Nn Ly w m LB)|exact Dd|].
    apply (rate_mono (S d) Nn Ly w m LB). lra. }
  split; [exact A|]. eapply Rle_trans; [exact A|]. change (D * rate Ly w m D <= kappa Ly w m * D ^ 3).
  replace (kappa Ly w m * D ^ 3) with (D * (kappa Ly w m * D ^ 2)) by ring. apply Rmult_le_compat_l; [exact D0|].
  apply (rate_kappa (S d) Nn Ly w m LB).
Qed.

(** own:diameter by depth: X l are the tokens before layer l;
  between the layers a map f l with Lipschitz constant lam l. *)
Theorem diameter_depth_unfolded : forall N : (nat -> R) -> R,
  (forall u v, N (fun a => u a + v a) <= N u + N v) -> (forall c u, N (fun a => c * u a) = Rabs c * N u) ->
  forall (n d q H L : nat) (WQ WK WV : nat -> nat -> nat -> nat -> R) (bQ bK mk : nat -> nat -> nat ->
    R) (b w m : nat -> nat -> R)
    (f : nat -> (nat -> R) -> nat -> R) (lam : nat -> R) (X : nat -> nat -> nat -> R) (c D : R),
  let logit l h i j := sum_f_R0 (fun e => (sum_f_R0 (fun a => X l i a * WQ l h a e) d + bQ l h e) *
    (sum_f_R0 (fun a => X l j a * WK l h a e) d + bK l h e)) q / sqrt (INR (S q)) in
  let P l h i j := mk l h j * exp (logit l h i j) / sum_f_R0 (fun k => mk l h k * exp (logit l h i k)) n in
  let Y l i e := sum_f_R0 (fun h => sum_f_R0 (fun a => sum_f_R0 (fun j => P l h i j * X l j a) n * WV l h a e) d) H + b
    l e in
  (forall l i, X (S l) i = f l (Y l i)) ->
  (forall l, 0 <= lam l) -> (forall l u v, N (fun a => f l u a - f l v a) <= lam l * N (fun a => u a - v a)) ->
  (forall l h j, (h <= H)%nat -> (j <= n)%nat -> 0 <= mk l h j) -> (forall l h, (h <= H)%nat ->
    exists j, (j <= n)%nat /\ 0 < mk l h j) ->
  (forall l h, 0 <= w l h /\ 0 <= m l h) ->
  (forall l h v, (h <= H)%nat -> N (fun e => sum_f_R0 (fun a => v a * WV l h a e) d) <= w l h * N v) ->
  (forall l h u v, (h <= H)%nat ->
     Rabs (sum_f_R0 (fun a => sum_f_R0 (fun e => u a * sum_f_R0 (fun s => WQ l h a s * WK l h e s) q * v e) d) d) <= m
       l h * N u * N v) ->
  (forall l, lam l * sum_f_R0 (fun h => w l h * m l h / (4 * sqrt (INR (S q)))) H <= c) ->
  0 <= D -> (forall i k, (i <= n)%nat -> (k <= n)%nat -> N (fun a => X 0%nat i a - X 0%nat k a) <= D) ->
  forall i k, (i <= n)%nat -> (k <= n)%nat -> N (fun a => X L i a - X L k a) <= c ^ ((3 ^ L - 1) / 2) * D ^ (3 ^ L).
Proof.
  intros N NA NS n d q H L WQ WK WV bQ bK mk b w m f lam X c D logit P Y HX l0 HL K0 K1 Pw BW BM Hc D0 HD i k Hi Hk.
  unfold Y, P, logit in *. clear Y P logit. plain.
  set (Nn := {| sn := N; sn_add := NA; sn_scal := NS |}).
  assert (Z := fun l => plain_layer N NA NS n d q H (WQ l) (WK l) (WV l) (bQ l) (bK l) (mk l) (b l) (w l) (m l) (K0 l)
    (K1 l) (Pw l) (BW l) (BM l)). cbv zeta in Z.
  match type of Z with forall l, layer_bounds _ _ (@?L l) _ _ /\ _ => set (Ly := L) in * end.
  set (B := fun l => {| att := Ly l; skip := 0; tok := f l |}).
  assert (T := diameter_depth (S n) (S d) Nn B w m lam (fun l => proj1 (Z l)) (fun l => proj2 (Z l)) (fun _ => eq_refl)
    (fun l => conj (l0 l) (HL l)) c L (X 0%nat) Hc).
  assert (C0 : 0 <= c).
  { eapply Rle_trans; [|apply (Hc 0%nat)]. apply Rmult_le_pos; [apply l0|].
    apply (kappa_nonneg (S d) Nn (Ly 0%nat) _ _ (proj1 (Z 0%nat))). }
  assert (E : forall l, net (S n) (S d) B l (X 0%nat) = X l).
  { induction l as [|l IH]; [reflexivity|]. cbn [net]. rewrite IH. apply functional_extensionality; intro j.
    rewrite HX. unfold block_map. cbn [B tok skip att].
    f_equal. apply functional_extensionality; intro e. rewrite Rmult_0_l, Rplus_0_l. reflexivity. }
  rewrite E in T. destruct T as [T1 T2].
  eapply Rle_trans; [apply (diam_ub (S n) Nn (X L) i k); lia|]. eapply Rle_trans; [exact T1|].
  eapply Rle_trans; [exact T2|].
  apply Rmult_le_compat_l; [apply pow_le, C0|]. apply pow_incr. split; [apply diam_nonneg|].
  apply diam_lub; [exact D0|]. intros; apply HD; lia.
Qed.

(** own:skip-lower: D l is the largest distance of two tokens of X l. *)
Theorem skip_lower_unfolded : forall N : (nat -> R) -> R,
  (forall u v, N (fun a => u a + v a) <= N u + N v) -> (forall c u, N (fun a => c * u a) = Rabs c * N u) ->
  forall (n d q H L : nat) (WQ WK WV : nat -> nat -> nat -> nat -> R) (bQ bK mk : nat -> nat -> nat ->
    R) (b w m : nat -> nat -> R)
    (X : nat -> nat -> nat -> R) (D : nat -> R) (kap th : R),
  let logit l h i j := sum_f_R0 (fun e => (sum_f_R0 (fun a => X l i a * WQ l h a e) d + bQ l h e) *
    (sum_f_R0 (fun a => X l j a * WK l h a e) d + bK l h e)) q / sqrt (INR (S q)) in
  let P l h i j := mk l h j * exp (logit l h i j) / sum_f_R0 (fun k => mk l h k * exp (logit l h i k)) n in
  let Y l i e := sum_f_R0 (fun h => sum_f_R0 (fun a => sum_f_R0 (fun j => P l h i j * X l j a) n * WV l h a e) d) H + b
    l e in
  (forall l i a, X (S l) i a = X l i a + Y l i a) ->
  (forall l h j, (h <= H)%nat -> (j <= n)%nat -> 0 <= mk l h j) -> (forall l h, (h <= H)%nat ->
    exists j, (j <= n)%nat /\ 0 < mk l h j) ->
  (forall l h, 0 <= w l h /\ 0 <= m l h) ->
  (forall l h v, (h <= H)%nat -> N (fun e => sum_f_R0 (fun a => v a * WV l h a e) d) <= w l h * N v) ->
  (forall l h u v, (h <= H)%nat ->
     Rabs (sum_f_R0 (fun a => sum_f_R0 (fun e => u a * sum_f_R0 (fun s => WQ l h a s * WK l h e s) q * v e) d) d) <= m
       l h * N u * N v) ->
  (forall l, (forall i k, (i <= n)%nat -> (k <= n)%nat -> N (fun a => X l i a - X l k a) <= D l) /\
             exists i k, (i <= n)%nat /\ (k <= n)%nat /\ N (fun a => X l i a - X l k a) = D l) ->
  (forall l, sum_f_R0 (fun h => w l h * m l h / (4 * sqrt (INR (S q)))) H <= kap) ->
  (forall l, (l < L)%nat -> sum_f_R0 (fun h => w l h * tanh (m l h * D l ^ 2 / (4 * sqrt (INR (S q))))) H <= th) ->
  th < 1 -> 0 < D 0%nat ->
  D 0%nat / sqrt (1 + (2 - th) / ((1 - th) * (1 - th)) * kap * D 0%nat ^ 2 * INR L) <= D L.
Proof.
  intros N NA NS n d q H L WQ WK WV bQ bK mk b w m X D kap th logit P Y HX K0 K1 Pw BW BM HD Hk Ht T1 D0.
  unfold Y, P, logit in *. clear Y P logit. plain.
  set (Nn := {| sn := N; sn_add := NA; sn_scal := NS |}).
  assert (Z := fun l => plain_layer N NA NS n d q H (WQ l) (WK l) (WV l) (bQ l) (bK l) (mk l) (b l) (w l) (m l) (K0 l)
    (K1 l) (Pw l) (BW l) (BM l)). cbv zeta in Z.
  match type of Z with forall l, layer_bounds _ _ (@?L l) _ _ /\ _ => set (Ly := L) in * end.
  assert (E : forall l, net (S n) (S d) (fun l => skipped (Ly l)) l (X 0%nat) = X l).
  { induction l as [|l IH]; [reflexivity|]. cbn [net]. rewrite IH. apply functional_extensionality; intro j.
    unfold block_map. cbn [skipped tok skip att].
    apply functional_extensionality; intro e. rewrite HX, Rmult_1_l. reflexivity. }
  assert (DE : forall l, diam (S n) Nn (X l) = D l).
  { intro l. destruct (HD l) as [U [i [k [Hi [Hk' Q]]]]]. apply Rle_antisym.
    - apply diam_lub; [rewrite <- Q; apply (sn_pos Nn)|intros; apply U; lia].
    - rewrite <- Q. apply (diam_ub (S n) Nn (X l) i k); lia. }
  assert (T := skip_lower (S n) (S d) Nn Ly w m (fun l => proj1 (Z l)) (fun l => proj2 (Z l)) kap th L (X 0%nat)).
  cbv zeta in T.
  cbn [net] in T. rewrite DE in T. rewrite <- (DE L), <- (E L). apply T; auto. intros l Hl. rewrite E, DE.
  exact (Ht l Hl).
Qed.

(** seed:closure: Q l = A 0 ... A l *)
Theorem closure_stochastic_unfolded : forall (s : nat -> nat) (A Q : nat -> nat -> nat -> R) (L : nat),
  (forall l i j, (i <= s l)%nat -> (j <= s (S l))%nat -> 0 <= A l i j) ->
  (forall l i, (i <= s l)%nat -> sum_f_R0 (A l i) (s (S l)) = 1) ->
  (forall i j, Q 0%nat i j = A 0%nat i j) ->
  (forall l i j, Q (S l) i j = sum_f_R0 (fun k => Q l i k * A (S l) k j) (s (S l))) ->
  forall i, (i <= s 0)%nat -> (forall j, (j <= s (S L))%nat -> 0 <= Q L i j) /\ sum_f_R0 (Q L i) (s (S L)) = 1.
Proof.
  intros s A Q L P S1 Q0 QS i Hi. plain.
  destruct (proj1 closure_stochastic (fun l => S (s l)) A (S L)) as [R1 R2].
  { intros l _. split; [intros; apply P; lia|intros; apply S1; lia]. }
  assert (E : forall l j, mprod (fun l => S (s l)) A (S l) i j = Q l i j).
  { induction l as [|l IH]; intro j.
    - rewrite Q0. cbn [mprod]. unfold mmul, vmat. rewrite sum_eye by lia. reflexivity.
    - rewrite QS. change (mprod (fun l => S (s l)) A (S (S l)) i j) with (vmat (S (s (S l))) (mprod (fun l => S (s l))
        A (S l) i) (A (S l)) j).
      unfold vmat. apply sum_ext. intros k _. now rewrite IH. }
  split; [intros j Hj; rewrite <- E; apply R1; lia|]. rewrite <- (R2 i) by lia. apply sum_ext. intros; now rewrite E.
Qed.

(** dong2021:A.3 *)
Theorem sandwich_unfolded : forall (n : nat) (q E : nat -> R) (D : R),
  (forall j, (j <= n)%nat -> 0 <= q j) -> sum_f_R0 q n = 1 ->
  (forall j k, (j <= n)%nat -> (k <= n)%nat -> E j - E k <= D) -> exp D <= 1 + 2 * D ->
  forall j, (j <= n)%nat ->
  (1 - D) * q j <= q j * exp (E j) / sum_f_R0 (fun k => q k * exp (E k)) n <= (1 + 2 * D) * q j.
Proof.
  intros n q E D Hq Hs Ho HD j Hj. plain.
  destruct (sandwich (S n) q E D) with (j := j) as [_ [A B]]; auto; intros; try (apply Hq; lia); try (apply Ho; lia);
    try lia.
  split; [exact A|]. now apply B.
Qed.

(** dong2021:norm: in every size n + 1 >= 2 there are two matrices for which the triangle inequality fails;
  a1 and ai are the largest
    column and row sums of |A|, and so on. *)
Theorem composite_not_norm_unfolded : forall n : nat, (1 <= n)%nat -> exists A B : nat -> nat -> R,
  forall a1 ai b1 bi s1 si : R,
  let largest f c := (forall k, (k <= n)%nat -> f k <= c) /\ exists k, (k <= n)%nat /\ f k = c in
  largest (fun k => sum_f_R0 (fun i => Rabs (A i k)) n) a1 -> largest (fun i => sum_f_R0 (fun k => Rabs (A i k)) n) ai
    ->
  largest (fun k => sum_f_R0 (fun i => Rabs (B i k)) n) b1 -> largest (fun i => sum_f_R0 (fun k => Rabs (B i k)) n) bi
    ->
  largest (fun k => sum_f_R0 (fun i => Rabs (A i k + B i k)) n) s1 ->
    largest (fun i => sum_f_R0 (fun k => Rabs (A i k + B i k)) n) si ->
  sqrt (a1 * ai) + sqrt (b1 * bi) < sqrt (s1 * si).
Proof.
  intros n Hn. exists first_row, first_col. intros a1 ai b1 bi s1 si largest A1 AI B1 BI S1 SI. plain.
  destruct (composite_not_norm (S n) ltac:(lia)) as [_ [_ T]].
  assert (E : forall (f : nat -> nat -> R) c, largest (fun k => sum (S n) (fun i => Rabs (f i k))) c ->
    maxf (S n) (fun k => sum (S n) (fun i => Rabs (f i k))) = c).
  { intros f c [U [k [Hk Q]]]. apply plain_max; [exact U|eauto|]. rewrite <- Q.
    apply sum_nonneg; intros; apply Rabs_pos. }
  unfold comp, norm1, norminf in T.
  rewrite (E first_row a1 A1), (E (fun k i => first_row i k) ai AI), (E first_col b1 B1),
    (E (fun k i => first_col i k) bi BI) in T.
  rewrite (E (madd first_row first_col) s1 S1), (E (fun k i => madd first_row first_col i k) si SI) in T. exact T.
Qed.

(* ---------- the composite value ---------- *)
(** The largest of n + 1 numbers exists, and is [maxf] where they are not negative. *)
Lemma plain_largest n (f : nat -> R) : (forall k, 0 <= f k) -> (forall k, (k <= n)%nat ->
  f k <= maxf (S n) f) /\ exists k, (k <= n)%nat /\ f k = maxf (S n) f.
Proof.
  intros P. split; [intros; apply maxf_ub; lia|]. destruct (maxf_attained (S n) f) as [E|[j [Hj E]]]; [|exists j;
    split; [lia|auto]].
  exists 0%nat. split; [lia|]. apply Rle_antisym; [apply maxf_ub; lia|]. rewrite E. apply P.
Qed.

(** dong2021v1:2.3 with any constant K in place of 4, refuted: two heads, one layer, no mask.
cols A r c, rows A r c: c is the largest column, row
    sum of |A|, r + 1 rows; r0 is the least composite value sqrt(c1 ci) of X - 1 x^T. *)
Theorem two_heads_refuted_unfolded : forall K : R, ~ (
  let cols (A : nat -> nat -> R) n d c := (forall k, (k <= d)%nat -> sum_f_R0 (fun i => Rabs (A i k)) n <= c) /\
    exists k, (k <= d)%nat /\ sum_f_R0 (fun i => Rabs (A i k)) n = c in
  let rows (A : nat -> nat -> R) n d c := (forall i, (i <= n)%nat -> sum_f_R0 (fun k => Rabs (A i k)) d <= c) /\
    exists i, (i <= n)%nat /\ sum_f_R0 (fun k => Rabs (A i k)) d = c in
  forall (n d q : nat) (WQ WK WV : nat -> nat -> nat -> R) (bQ bK : nat -> nat -> R) (b : nat -> R) (X : nat -> nat ->
    R) (x : nat -> R) (beta x1 xi : R),
  let logit h i j := sum_f_R0 (fun c => (sum_f_R0 (fun a => X i a * WQ h a c) d + bQ h c) *
    (sum_f_R0 (fun a => X j a * WK h a c) d + bK h c)) q / sqrt (INR (S q)) in
  let P h i j := exp (logit h i j) / sum_f_R0 (fun k => exp (logit h i k)) n in
  let Y i e := sum_f_R0 (fun h => sum_f_R0 (fun a => sum_f_R0 (fun j => P h i j * X j a) n * WV h a e) d) 1 + b e in
  (forall h a1 v1 vi, (h <= 1)%nat -> cols (fun a e => sum_f_R0 (fun s => WQ h a s * WK h e s) q) d d a1 ->
     cols (WV h) d d v1 -> rows (WV h) d d vi -> a1 * sqrt (v1 * vi) <= beta) ->
  cols (fun i a => X i a - x a) n d x1 -> rows (fun i a => X i a - x a) n d xi ->
  (forall y y1 yi, cols (fun i a => X i a - y a) n d y1 -> rows (fun i a => X i a - y a) n d yi ->
    sqrt (x1 * xi) <= sqrt (y1 * yi)) ->
  exists y y1 yi, cols (fun i a => Y i a - y a) n d y1 /\ rows (fun i a => Y i a - y a) n d yi /\
    sqrt (y1 * yi) <= K * beta * 2 / sqrt (INR (S q)) * sqrt (x1 * xi) ^ 3).
Proof.
  intros K C. plain. apply (proj1 (two_heads_refuted K)). intros n d Ly X beta r H2 Hq Hm Hb [x [Hx Er]].
  destruct n as [|n]; [|destruct d as [|d]].
  - exists (fun _ => 0). change (sqrt (norm1 0 d (centred X x) * 0) = r) in Er. rewrite Rmult_0_r, sqrt_0 in Er.
    subst r.
    change (sqrt (norm1 0 d (centred (SA 0 d Ly X) (fun _ => 0)) * 0) <= K * beta * INR 2 / sqrt (INR (dqk Ly)) * 0 ^
      3). rewrite Rmult_0_r, sqrt_0. simpl. lra.
  - exists (fun _ => 0). change (sqrt (0 * norminf (S n) 0 (centred X x)) = r) in Er. rewrite Rmult_0_l, sqrt_0 in Er.
    subst r.
    change (sqrt (0 * norminf (S n) 0 (centred (SA (S n) 0 Ly X) (fun _ => 0))) <= K * beta * INR 2 / sqrt (INR (dqk
      Ly)) * 0 ^ 3). rewrite Rmult_0_l, sqrt_0. simpl. lra.
  - destruct Ly as [H q hh b]. cbn [nheads dqk hd] in *. subst H. destruct q as [|q]; [lia|].
    assert (C1 : forall (A : mat) r e, (forall k, (k <= e)%nat ->
      sum (S r) (fun i => Rabs (A i k)) <= norm1 (S r) (S e) A) /\ exists k,
        (k <= e)%nat /\ sum (S r) (fun i => Rabs (A i k)) = norm1 (S r) (S e) A)
      by (intros A u e; apply (plain_largest e (fun k => sum (S u) (fun i => Rabs (A i k)))); intros; apply sum_nonneg;
        intros; apply Rabs_pos).
    assert (C2 : forall (A : mat) r e, (forall i, (i <= r)%nat ->
      sum (S e) (fun k => Rabs (A i k)) <= norminf (S r) (S e) A) /\ exists i,
        (i <= r)%nat /\ sum (S e) (fun k => Rabs (A i k)) = norminf (S r) (S e) A)
      by (intros A u e; apply (plain_largest u (fun i => sum (S e) (fun k => Rabs (A i k)))); intros; apply sum_nonneg;
        intros; apply Rabs_pos).
    assert (U1 : forall (A : mat) r e c, (forall k, (k <= e)%nat ->
      sum (S r) (fun i => Rabs (A i k)) <= c) /\ (exists k, (k <= e)%nat /\ sum (S r) (fun i => Rabs (A i k)) = c) ->
        norm1 (S r) (S e) A = c)
      by (intros A u e c [V [k [Hk Q]]]; apply plain_max; [exact V|eauto|rewrite <- Q; apply sum_nonneg; intros;
        apply Rabs_pos]).
    assert (U2 : forall (A : mat) r e c, (forall i, (i <= r)%nat ->
      sum (S e) (fun k => Rabs (A i k)) <= c) /\ (exists i, (i <= r)%nat /\ sum (S e) (fun k => Rabs (A i k)) = c) ->
        norminf (S r) (S e) A = c)
      by (intros A u e c [V [k [Hk Q]]]; apply plain_max; [exact V|eauto|rewrite <- Q; apply sum_nonneg; intros;
        apply Rabs_pos]).
    destruct (C n d q (fun h => WQ (hh h)) (fun h => Definitions.WK (hh h)) (fun h => WV (hh h)) (fun h => bQ (hh h)) (fun h => bK
      (hh h)) b X x beta
      (norm1 (S n) (S d) (centred X x)) (norminf (S n) (S d) (centred X x))) as [y [y1 [yi [E1 [E2 T]]]]].
    + intros h a1 v1 vi Hh A1 A2 A3. rewrite <- (U1 _ _ _ _ A1), <- (U1 _ _ _ _ A2), <- (U2 _ _ _ _ A3). apply (Hb h).
      lia.
    + apply C1.
    + apply C2.
    + intros y y1 yi E1 E2. rewrite <- (U1 _ _ _ _ E1), <- (U2 _ _ _ _ E2). apply (Hx y).
    + exists y. rewrite <- Er. change (INR 2) with (1 + 1). replace (1 + 1) with 2 by ring.
      eapply Rle_trans; [|exact T]. right. unfold comp.
      assert (G : centred (SA (S n) (S d) {| nheads := 2; dqk := S q; hd := hh;
        bout := b |} X) y = fun i a => sum 2 (fun h => sum (S d) (fun a0 => sum (S n) (fun j =>
        exp (sum (S q) (fun c => (sum (S d) (fun a1 => X i a1 * WQ (hh h) a1 c) + bQ (hh h) c) * (sum (S d) (fun a1 =>
          X j a1 * Definitions.WK (hh h) a1 c) + bK (hh h) c)) / sqrt (INR (S q))) /
        sum (S n) (fun k => exp (sum (S q) (fun c => (sum (S d) (fun a1 => X i a1 * WQ (hh h) a1 c) + bQ (hh h) c) *
          (sum (S d) (fun a1 => X k a1 * Definitions.WK (hh h) a1 c) + bK (hh h) c)) / sqrt (INR (S q)))) * X j a0) * WV (hh h) a0
            a)) + b a - y a).
      { apply functional_extensionality; intro i. apply functional_extensionality; intro a. unfold centred, vsub, SA.
        cbn [nheads bout hd dqk]. f_equal. f_equal. apply sum_ext; intros h _.
        unfold vmat. apply sum_ext; intros a0 _. f_equal. apply sum_ext; intros j _. f_equal.
        unfold attn, softmax, tilt. rewrite Hm. unfold nomask. rewrite Rmult_1_l. f_equal.
        apply sum_ext; intros k _. now rewrite Rmult_1_l. }
      rewrite G. f_equal. f_equal; [apply (U1 _ _ _ _ E1)|apply (U2 _ _ _ _ E2)].
Qed.

(** own:gamma-free, about any centre x of X: cols, rows as above;
  qm h is the largest entry of the softmax of the centred logits; delta bounds the oscillation of E. *)
Theorem gamma_free_unfolded :
  let cols (A : nat -> nat -> R) n d c := (forall k, (k <= d)%nat -> sum_f_R0 (fun i => Rabs (A i k)) n <= c) /\
    exists k, (k <= d)%nat /\ sum_f_R0 (fun i => Rabs (A i k)) n = c in
  let rows (A : nat -> nat -> R) n d c := (forall i, (i <= n)%nat -> sum_f_R0 (fun k => Rabs (A i k)) d <= c) /\
    exists i, (i <= n)%nat /\ sum_f_R0 (fun k => Rabs (A i k)) d = c in
  forall (n d q H : nat) (WQ WK WV : nat -> nat -> nat -> R) (bQ bK mk : nat -> nat -> R) (b : nat -> R) (X : nat ->
    nat -> R) (x : nat -> R)
    (qm al v1 vi : nat -> R) (delta x1 xi : R),
  let logit h i j := sum_f_R0 (fun c => (sum_f_R0 (fun a => X i a * WQ h a c) d + bQ h c) *
    (sum_f_R0 (fun a => X j a * WK h a c) d + bK h c)) q / sqrt (INR (S q)) in
  let P h i j := mk h j * exp (logit h i j) / sum_f_R0 (fun k => mk h k * exp (logit h i k)) n in
  let Y i e := sum_f_R0 (fun h => sum_f_R0 (fun a => sum_f_R0 (fun j => P h i j * X j a) n * WV h a e) d) H + b e in
  let c h j := sum_f_R0 (fun e => (sum_f_R0 (fun a => x a * WQ h a e) d + bQ h e) * sum_f_R0 (fun a => (X j a - x a) *
    WK h a e) d) q / sqrt (INR (S q)) in
  let E h i j := sum_f_R0 (fun a => sum_f_R0 (fun e => (X i a - x a) * sum_f_R0 (fun s => WQ h a s * WK h e s) q * (X j
    e - x e)) d) d / sqrt (INR (S q)) in
  (forall h j, (h <= H)%nat -> (j <= n)%nat -> 0 <= mk h j) -> (forall h, (h <= H)%nat ->
    exists j, (j <= n)%nat /\ 0 < mk h j) ->
  (forall h j, (h <= H)%nat -> (j <= n)%nat -> mk h j * exp (c h j) / sum_f_R0 (fun k => mk h k * exp (c h k)) n <= qm
    h) ->
  (forall h, (h <= H)%nat -> cols (fun a e => sum_f_R0 (fun s => WQ h a s * WK h e s) q) d d (al h) /\ cols (WV h) d d
    (v1 h) /\ rows (WV h) d d (vi h)) ->
  cols (fun i a => X i a - x a) n d x1 -> rows (fun i a => X i a - x a) n d xi ->
  0 < delta -> (forall h i j k, (h <= H)%nat -> (i <= n)%nat -> (j <= n)%nat -> (k <= n)%nat ->
    E h i j - E h i k <= delta) ->
  exists y y1 yi, cols (fun i a => Y i a - y a) n d y1 /\ rows (fun i a => Y i a - y a) n d yi /\
    sqrt (y1 * yi) <= sqrt (2 * ((exp delta - 1) / delta)) / sqrt (INR (S q)) * sqrt (sum_f_R0 (fun h => qm h * al h *
      v1 h) H)
      * sqrt (sum_f_R0 (fun h => al h * vi h) H) * sqrt (x1 * xi) ^ 3.
Proof.
  intros cols rows n d q H WQ WK WV bQ bK mk b X x qm al v1 vi delta x1 xi logit P Y c E K0 K1 Hqm HW HX1 HXi D0 HE.
  unfold Y, P, logit, c, E, cols, rows in *. clear Y P logit c E cols rows. plain.
  set (Ly := {| nheads := S H; dqk := S q; bout := b; hd := fun h => {| Definitions.WQ := WQ h; Definitions.WK := WK h;
     Definitions.bQ := bQ h; Definitions.bK := bK h; Definitions.WV := WV h; mask := fun _ => mk h |} |}).
  assert (KP : forall h, (h < nheads Ly)%nat -> key_padding (S n) (mask (hd Ly h))).
  { intros h Hh. simpl in Hh. split; [split|reflexivity]; [intros; simpl; apply K0; lia|]. intros i _.
    destruct (K1 h ltac:(lia)) as [j [Hj Pj]]. exists j. split; [lia|exact Pj]. }
  assert (U1 : forall (A : mat) r e c, (forall k, (k <= e)%nat ->
    sum (S r) (fun i => Rabs (A i k)) <= c) /\ (exists k, (k <= e)%nat /\ sum (S r) (fun i => Rabs (A i k)) = c) ->
      norm1 (S r) (S e) A = c)
    by (intros A u e c [V [k [Hk Q]]]; apply plain_max; [exact V|eauto|rewrite <- Q; apply sum_nonneg; intros;
      apply Rabs_pos]).
  assert (U2 : forall (A : mat) r e c, (forall i, (i <= r)%nat ->
    sum (S e) (fun k => Rabs (A i k)) <= c) /\ (exists i, (i <= r)%nat /\ sum (S e) (fun k => Rabs (A i k)) = c) ->
      norminf (S r) (S e) A = c)
    by (intros A u e c [V [k [Hk Q]]]; apply plain_max; [exact V|eauto|rewrite <- Q; apply sum_nonneg; intros;
      apply Rabs_pos]).
  set (y := new_centre (S n) (S d) Ly X x). set (Z := centred (SA (S n) (S d) Ly X) y).
  exists y, (norm1 (S n) (S d) Z), (norminf (S n) (S d) Z). split; [|split].
  - apply (plain_largest d (fun k => sum (S n) (fun i => Rabs (Z i k)))).
    intros; apply sum_nonneg; intros; apply Rabs_pos.
  - apply (plain_largest n (fun i => sum (S d) (fun k => Rabs (Z i k)))).
    intros; apply sum_nonneg; intros; apply Rabs_pos.
  - assert (Pos : forall h, (h <= H)%nat -> 0 <= qm h).
    { intros h Hh. destruct (K1 h Hh) as [j [Hj Pj]]. eapply Rle_trans; [|apply (Hqm h j Hh Hj)].
      refine (tilt_nonneg (S n) (mk h) _ (c_of (S d) (S q) (hd Ly h) x (centred X x)) j _); [|lia].
      split; [intros; apply K0; lia|exists j; split; [lia|exact Pj]]. }
    assert (T := gamma_free_any (S n) (S d) Ly X x ltac:(lia) ltac:(simpl; lia) KP delta qm).
    rewrite <- (U1 _ _ _ _ HX1), <- (U2 _ _ _ _ HXi). replace ((exp delta - 1) / delta) with (expc delta) by (unfold
      expc; destruct (Req_EM_T delta 0); [lra|reflexivity]).
    rewrite (sum_ext (S H) (fun h => qm h * al h * v1 h) (fun h => qm h * norm1 (S d) (S d) (WQK (S q) (hd Ly h)) *
      norm1 (S d) (S d) (WV h)))
      by (intros h Hh; destruct (HW h ltac:(lia)) as [A [B _]]; rewrite <- (U1 _ _ _ _ A), <- (U1 _ _ _ _ B);
        reflexivity).
    rewrite (sum_ext (S H) (fun h => al h * vi h) (fun h => norm1 (S d) (S d) (WQK (S q) (hd Ly h)) * norminf (S d) (S
      d) (WV h)))
      by (intros h Hh; destruct (HW h ltac:(lia)) as [A [_ B]]; rewrite <- (U1 _ _ _ _ A), <- (U2 _ _ _ _ B);
        reflexivity).
    apply T; [| |lra].
    + intros h Hh. simpl in Hh. apply maxf_lub; [lra|]. intros i Hi. apply osc_lub; [lra|]. intros j k Hj Hk _ _.
      apply (HE h i j k); lia.
    + intros h Hh. simpl in Hh. apply maxf_lub; [apply Pos; lia|]. intros j Hj. apply (Hqm h j); lia.
Qed.

(* ---------- paths ---------- *)
Lemma sum_blocks B N f : sum (B * N) f = sum B (fun h => sum N (fun p => f (p + h * N)%nat)).
Proof.
  induction B as [|B IH]; [reflexivity|]. replace (S B * N)%nat with (B * N + N)%nat by lia. rewrite sum_split, IH.
  cbn [sum]. f_equal. apply sum_ext; intros p _. f_equal. lia.
Qed.

(** The paths through L layers of B choices are the numbers below B^L: the choice at layer l is the digit l in base B.
*)
Lemma sum_paths_digits B L (F : (nat -> nat) -> R) : (0 < B)%nat -> (forall p p', (forall l, (l < L)%nat ->
  p l = p' l) -> F p = F p') ->
  sum_paths (fun _ => B) L F = sum (B ^ L) (fun p => F (fun l => (p / B ^ l) mod B)%nat).
Proof.
  intros HB. revert F. induction L as [|L IH]; intros F HF.
  - simpl. rewrite Rplus_0_l. apply HF. intros; lia.
  - cbn [sum_paths]. rewrite IH.
    + rewrite Nat.pow_succ_r'. rewrite sum_blocks. symmetry. rewrite sum_swap. symmetry. apply sum_ext; intros p Hp.
      apply sum_ext; intros h Hh. apply HF. intros l Hl. unfold turn.
      assert (NZ : forall k, (B ^ k <> 0)%nat) by (intro; apply Nat.pow_nonzero; lia).
      destruct (Nat.eqb_spec l L) as [->|Ne].
      * rewrite Nat.div_add, (Nat.div_small p) by auto. rewrite Nat.add_0_l, Nat.mod_small; auto.
      * replace (B ^ L)%nat with (B ^ (L - l - 1) * B * B ^ l)%nat;
          [|rewrite <- Nat.mul_assoc, <- Nat.pow_succ_r', <- Nat.pow_add_r; f_equal; lia].
        replace (h * (B ^ (L - l - 1) * B * B ^ l))%nat with ((h * B ^ (L - l - 1) * B) * B ^ l)%nat by ring.
        rewrite Nat.div_add by auto. now rewrite Nat.mod_add by lia.
    + intros p p' E. apply sum_ext; intros h _. apply HF. intros l Hl. unfold turn.
      destruct (Nat.eqb_spec l L); [reflexivity|]. apply E. lia.
Qed.

(** dong2021:2.1.  X l are the tokens before layer l, with skips lam l, biases b l and H + 1 heads;
  a path is a number p, its digit l in base H + 2 is
    0 for the skip and h + 1 for head h; PP p and WW p are the products along it. *)
Theorem path_decomposition_unfolded : forall (n d q H L : nat) (WQ WK WV : nat -> nat -> nat -> nat ->
  R) (bQ bK : nat -> nat -> nat -> R)
    (G : nat -> nat -> nat -> nat -> R) (b : nat -> nat -> R) (lam : nat -> R) (X : nat -> nat -> nat ->
      R) (PP WW : nat -> nat -> nat -> nat -> R) (beta : nat -> nat -> R),
  let I (i j : nat) := if Nat.eqb i j then 1 else 0 in
  let logit l h i j := sum_f_R0 (fun e => (sum_f_R0 (fun a => X l i a * WQ l h a e) d + bQ l h e) *
    (sum_f_R0 (fun a => X l j a * WK l h a e) d + bK l h e)) q / sqrt (INR (S q)) in
  let P l h i j := G l h i j * exp (logit l h i j) / sum_f_R0 (fun k => G l h i k * exp (logit l h i k)) n in
  let digit p l := Nat.modulo (Nat.div p (Nat.pow (S (S H)) l)) (S (S H)) in
  (forall l i e, X (S l) i e = lam l * X l i e + (sum_f_R0 (fun h => sum_f_R0 (fun a => sum_f_R0 (fun j => P l h i j *
    X l j a) n * WV l h a e) d) H + b l e)) ->
  (forall l h i j, (h <= H)%nat -> (i <= n)%nat -> (j <= n)%nat -> 0 <= G l h i j) ->
  (forall l h i, (h <= H)%nat -> (i <= n)%nat -> exists j, (j <= n)%nat /\ 0 < G l h i j) ->
  (forall p i j, PP p 0%nat i j = I i j) ->
  (forall p l i j, PP p (S l) i j = sum_f_R0 (fun k => match digit p l with O => I i k | S h => P l h i k end * PP p l
    k j) n) ->
  (forall p a e, WW p 0%nat a e = I a e) ->
  (forall p l a e, WW p (S l) a e = sum_f_R0 (fun g => WW p l a g * match digit p l with O => lam l * I g e | S h => WV
    l h g e end) d) ->
  (forall e, beta 0%nat e = 0) ->
  (forall l e, beta (S l) e = sum_f_R0 (fun a => beta l a * sum_f_R0 (fun h => match h with O => lam l * I a e | S k =>
    WV l k a e end) (S H)) d + b l e) ->
  (forall i e, (i <= n)%nat -> (e <= d)%nat -> X L i e =
     sum_f_R0 (fun p => sum_f_R0 (fun a => sum_f_R0 (fun j => PP p L i j * X 0%nat j a) n * WW p L a e) d) (Nat.pred
       (Nat.pow (S (S H)) L)) + beta L e) /\
  forall p i, (i <= n)%nat -> (forall j, (j <= n)%nat -> 0 <= PP p L i j) /\ sum_f_R0 (PP p L i) n = 1.
Proof.
  intros n d q H L WQ WK WV bQ bK G b lam X PP WW beta I logit P digit HX G0 G1 P0 PS W0 WS B0 BS.
  unfold P, logit in *. clear P logit. plain.
  set (Ly := fun l => {| nheads := S H; dqk := S q; bout := b l; hd := fun h => {| Definitions.WQ := WQ l h;
    Definitions.WK := WK l h;
     Definitions.bQ := bQ l h; Definitions.bK := bK l h; Definitions.WV := WV l h; mask := G l h |} |}).
  set (B := fun l => {| att := Ly l; skip := lam l; tok := fun v => v |}).
  assert (E : forall l, net (S n) (S d) B l (X 0%nat) = X l).
  { induction l as [|l IH]; [reflexivity|]. cbn [net]. rewrite IH. apply functional_extensionality; intro i.
    apply functional_extensionality; intro e. rewrite HX. reflexivity. }
  destruct (path_decomposition (S n) (S d) B (X 0%nat) L (fun _ _ => eq_refl)) as [T1 T2].
  { intros l h Hh. simpl in Hh. split; [intros; simpl; apply G0; lia|]. intros i Hi.
    destruct (G1 l h i ltac:(lia) ltac:(lia)) as [j [Hj Pj]]. exists j. split; [lia|exact Pj]. }
  assert (EP : forall p l, P_path (S n) (net_P (S n) (S d) B (X 0%nat)) l (digit p) = PP p l).
  { intros p l. induction l as [|l IH]; apply functional_extensionality; intro i; apply functional_extensionality;
      intro j; [rewrite P0; reflexivity|].
    rewrite PS. cbn [P_path]. rewrite IH. unfold mmul, vmat. apply sum_ext; intros k _. f_equal.
    destruct (digit p l) as [|h]; [reflexivity|]. cbn [net_P]. rewrite E. reflexivity. }
  assert (EW : forall p l, W_path (S d) (net_W B) l (digit p) = WW p l).
  { intros p l. induction l as [|l IH]; apply functional_extensionality; intro i; apply functional_extensionality;
      intro j; [rewrite W0; reflexivity|].
    rewrite WS. cbn [W_path]. rewrite IH. unfold mmul, vmat. apply sum_ext; intros k _. f_equal. unfold net_W.
    destruct (digit p l); reflexivity. }
  assert (EB : forall l, path_bias (S d) (net_heads B) (net_W B) b l = beta l).
  { induction l as [|l IH]; apply functional_extensionality; intro e; [rewrite B0; reflexivity|]. rewrite BS.
    cbn [path_bias]. rewrite IH. unfold vmat. f_equal. apply sum_ext; intros a _. f_equal.
    unfold net_heads. cbn [B att Ly nheads]. apply sum_ext; intros h _. destruct h; reflexivity. }
  assert (Dg : forall p l, (digit p l < S (S H))%nat) by (intros; apply Nat.mod_upper_bound; lia).
  split.
  - intros i e Hi He. rewrite <- E, T1 by lia. change (fun l => bout (att (B l))) with b. rewrite EB. f_equal.
    change (net_heads B) with (fun _ : nat => S (S H)).
    rewrite sum_paths_digits; [|lia|].
    + assert (Nz : (S (S H) ^ L <> 0)%nat) by (apply Nat.pow_nonzero; lia).
      replace (S (Nat.pred (S (S H) ^ L))) with (S (S H) ^ L)%nat by lia. apply sum_ext; intros p _.
      fold (digit p). change (fun l => digit p l) with (digit p). rewrite EP, EW. reflexivity.
    + intros p p' Q. now rewrite (P_path_ext _ _ L p p' Q), (W_path_ext _ _ L p p' Q).
  - intros p i Hi. destruct (T2 (digit p)) as [R1 R2]; [intros; apply Dg|]. rewrite EP in R1, R2.
    split; [intros; apply R1; lia|apply R2; lia].
Qed.

(* ---------- networks in time ---------- *)
(** A walk along a sequence of tokens is a walk. *)
Lemma plain_walk n G c k p : p 0%nat = c -> (forall s, (s <= k)%nat -> (p s <= n)%nat) -> (forall s, (s < k)%nat ->
  0 < G (p (S s)) (p s)) ->
  walk (S n) G c k (p k).
Proof.
  revert c p. intros c p E0 B E. induction k as [|k IH]; [exact E0|]. exists (p k).
  split; [specialize (B k ltac:(lia)); lia|]. split; [apply E; lia|].
  apply IH; intros; [apply B|apply E]; lia.
Qed.

(** One head: the layer s of the next two statements. *)
Definition plain_head (q : nat) (WQ WK WV : nat -> nat -> R) (bQ bK b : nat -> R) (G : nat -> nat ->
  R) : layer := {| nheads := 1; dqk := S q; bout := b;
  hd := fun _ => {| Definitions.WQ := WQ; Definitions.WK := WK; Definitions.bQ := bQ; Definitions.bK := bK;
    Definitions.WV := WV; mask := G |} |}.

(** wu2024:1.  X t are the tokens before layer t, A t the attention there;
  every token is reached from c within r edges of the mask G;
    K bounds the spectral norm of the product V t of the value matrices. *)
Theorem masked_collapse_unfolded : forall (n d q r c t : nat) (WQ WK WV : nat -> nat -> nat -> R) (bQ bK b : nat ->
  nat -> R)
    (G : nat -> nat -> R) (X A V : nat -> nat -> nat -> R) (eps K : R),
  let logit s i j := sum_f_R0 (fun e => (sum_f_R0 (fun a => X s i a * WQ s a e) d + bQ s e) *
    (sum_f_R0 (fun a => X s j a * WK s a e) d + bK s e)) q / sqrt (INR (S q)) in
  (forall s i j, A s i j = G i j * exp (logit s i j) / sum_f_R0 (fun k => G i k * exp (logit s i k)) n) ->
  (forall s i e, X (S s) i e = sum_f_R0 (fun a => sum_f_R0 (fun j => A s i j * X s j a) n * WV s a e) d + b s e) ->
  (forall a e, V 0%nat a e = if Nat.eqb a e then 1 else 0) ->
  (forall s a e, V (S s) a e = sum_f_R0 (fun g => V s a g * WV s g e) d) ->
  (0 < r)%nat -> 0 <= eps -> 0 <= K -> (c <= n)%nat ->
  (forall i j, (i <= n)%nat -> (j <= n)%nat -> 0 <= G i j) -> (forall i, (i <= n)%nat -> 0 < G i i) ->
  (forall i, (i <= n)%nat -> exists (k : nat) (p : nat -> nat), (k <= r)%nat /\ p 0%nat = c /\ p k = i /\
     (forall s, (s <= k)%nat -> (p s <= n)%nat) /\ forall s, (s < k)%nat -> 0 < G (p (S s)) (p s)) ->
  (forall s i j, (s < t)%nat -> (i <= n)%nat -> (j <= n)%nat -> 0 < G i j -> eps <= A s i j) ->
  (forall v : nat -> R, sqrt (sum_f_R0 (fun e => sum_f_R0 (fun a => v a * V t a e) d * sum_f_R0 (fun a => v a * V t a
    e) d) d)
     <= K * sqrt (sum_f_R0 (fun a => v a * v a) d)) ->
  let mu (Y : nat -> nat -> R) := sqrt (sum_f_R0 (fun i => sum_f_R0 (fun a => (Y i a - sum_f_R0 (fun j => Y j a) n /
    INR (S n)) *
     (Y i a - sum_f_R0 (fun j => Y j a) n / INR (S n))) d) n) in
  mu (X t) <= sqrt (INR (S n) / 2) * K * (1 - eps ^ r) ^ (t / r) * mu (X 0%nat).
Proof.
  intros n d q r c t WQ WK WV bQ bK b G X A V eps K logit HA HX V0 VS Hr He HK Hc G0 Gs Hp Hed HV mu.
  unfold mu, logit in *. clear mu logit. plain.
  set (Ly := fun s => plain_head q (WQ s) (WK s) (WV s) (bQ s) (bK s) (b s) G).
  assert (EX : forall s, plain_orbit (S n) (S d) Ly (X 0%nat) s = X s).
  { induction s as [|s IH]; [reflexivity|]. apply functional_extensionality; intro i.
    apply functional_extensionality; intro e. rewrite HX.
    unfold plain_orbit in *. cbn [net]. rewrite IH. unfold block_map. cbn [plain tok skip att].
    rewrite Rmult_0_l, Rplus_0_l. unfold SA. cbn [Ly plain_head nheads bout].
    change (sum 1 ?f) with (0 + f 0%nat). cbv beta. rewrite Rplus_0_l. f_equal. apply sum_ext; intros a _. f_equal.
    apply sum_ext; intros j _. f_equal. rewrite HA. reflexivity. }
  assert (EA : forall s i j, plain_attention (S n) (S d) Ly (X 0%nat) s i j = A s i j).
  { intros s i j. unfold plain_attention. rewrite EX, HA. reflexivity. }
  assert (EV : forall s, values (S d) (layer_value Ly) s = V s).
  { induction s as [|s IH]; apply functional_extensionality; intro a; apply functional_extensionality; intro e;
      [rewrite V0; reflexivity|]. rewrite VS. cbn [values]. rewrite IH. reflexivity. }
  assert (T := masked_collapse (S n) (S d) Ly G c r eps K t (X 0%nat) ltac:(lia) Hr He HK). rewrite EX in T. apply T.
  - intros s _. split; reflexivity.
  - intros; apply G0; lia.
  - intros; apply Gs; lia.
  - split; [lia|]. intros i Hi. destruct (Hp i ltac:(lia)) as [k [p [Hk [P0 [Pk [PB PE]]]]]]. exists k.
    split; [exact Hk|]. rewrite <- Pk. now apply plain_walk.
  - intros s i j Hs Hi Hj Gp. rewrite EA. apply Hed; auto; lia.
  - intro v. rewrite EV. apply HV.
Qed.

(** own:hemisphere.  The same network with orthogonal values, no bias and every token divided by its norm;
  the tokens start on the unit sphere with
    <X_i, v> >= gamma > 0.  Then mu(X(t)) is bounded by a geometric sequence. *)
Theorem hemisphere_unfolded : forall (n d q r c t : nat) (WQ WK WV : nat -> nat -> nat -> R) (bQ bK : nat -> nat -> R)
    (G : nat -> nat -> R) (X A : nat -> nat -> nat -> R) (v : nat -> R) (eps gamma : R),
  let logit s i j := sum_f_R0 (fun e => (sum_f_R0 (fun a => X s i a * WQ s a e) d + bQ s e) *
    (sum_f_R0 (fun a => X s j a * WK s a e) d + bK s e)) q / sqrt (INR (S q)) in
  let Y s i e := sum_f_R0 (fun a => sum_f_R0 (fun j => A s i j * X s j a) n * WV s a e) d in
  (forall s i j, A s i j = G i j * exp (logit s i j) / sum_f_R0 (fun k => G i k * exp (logit s i k)) n) ->
  (forall s i e, X (S s) i e = Y s i e / sqrt (sum_f_R0 (fun a => Y s i a * Y s i a) d)) ->
  (forall s a e, (a <= d)%nat -> (e <= d)%nat -> sum_f_R0 (fun g => WV s a g * WV s e g) d = if Nat.eqb a e then 1 else
    0) ->
  (0 < r)%nat -> 0 <= eps -> (c <= n)%nat ->
  (forall i j, (i <= n)%nat -> (j <= n)%nat -> 0 <= G i j) -> (forall i, (i <= n)%nat -> 0 < G i i) ->
  (forall i, (i <= n)%nat -> exists (k : nat) (p : nat -> nat), (k <= r)%nat /\ p 0%nat = c /\ p k = i /\
     (forall s, (s <= k)%nat -> (p s <= n)%nat) /\ forall s, (s < k)%nat -> 0 < G (p (S s)) (p s)) ->
  (forall s i j, (s < t)%nat -> (i <= n)%nat -> (j <= n)%nat -> 0 < G i j -> eps <= A s i j) ->
  (forall i, (i <= n)%nat -> sqrt (sum_f_R0 (fun a => X 0%nat i a * X 0%nat i a) d) = 1) ->
  sqrt (sum_f_R0 (fun a => v a * v a) d) = 1 -> 0 < gamma ->
  (forall i, (i <= n)%nat -> gamma <= sum_f_R0 (fun a => X 0%nat i a * v a) d) ->
  let mu (Y : nat -> nat -> R) := sqrt (sum_f_R0 (fun i => sum_f_R0 (fun a => (Y i a - sum_f_R0 (fun j => Y j a) n /
    INR (S n)) *
     (Y i a - sum_f_R0 (fun j => Y j a) n / INR (S n))) d) n) in
  mu (X t) <= sqrt (INR n / 2) * ((1 - gamma * eps ^ r) ^ (t / r) * (2 * sqrt (/ gamma ^ 2 - 1))).
Proof.
  intros n d q r c t WQ WK WV bQ bK G X A v eps gamma logit Y HA HX HO Hr He Hc G0 Gs Hp Hed U0 Uv Hg Hv mu.
  unfold mu, Y, logit in *. clear mu Y logit. plain.
  set (Ly := fun s => plain_head q (WQ s) (WK s) (WV s) (bQ s) (bK s) (fun _ => 0) G).
  assert (EX : forall s, sphere_orbit (S n) (S d) Ly (X 0%nat) s = X s).
  { induction s as [|s IH]; [reflexivity|]. apply functional_extensionality; intro i.
    apply functional_extensionality; intro e. rewrite HX.
    unfold sphere_orbit in *. cbn [net]. rewrite IH. unfold block_map. cbn [normalised tok skip att].
    assert (ES : forall e, 0 * X s i e + SA (S n) (S d) (Ly s) (X s) i e = sum (S d) (fun a => sum (S n) (fun j => A s
      i j * X s j a) * WV s a e)).
    { intro g. rewrite Rmult_0_l, Rplus_0_l. unfold SA. cbn [Ly plain_head nheads bout].
      change (sum 1 ?f) with (0 + f 0%nat). cbv beta. rewrite Rplus_0_l, Rplus_0_r.
      apply sum_ext; intros a _. f_equal. apply sum_ext; intros j _. f_equal. rewrite HA. reflexivity. }
    unfold sphere, l2, dot. rewrite ES. f_equal. f_equal. apply sum_ext; intros a _. now rewrite ES. }
  assert (EA : forall s i j, sphere_attention (S n) (S d) Ly (X 0%nat) s i j = A s i j).
  { intros s i j. unfold sphere_attention. rewrite EX, HA. reflexivity. }
  destruct (hemisphere (S n) (S d) Ly G c r eps v gamma t (X 0%nat) ltac:(lia) Hr He) as [_ [T1 [T2 T3]]]; auto.
  - intros s _. repeat split. intros a e Ha Hb. apply HO; lia.
  - intros; apply G0; lia.
  - intros; apply Gs; lia.
  - split; [lia|]. intros i Hi. destruct (Hp i ltac:(lia)) as [k [p [Hk [P0 [Pk [PB PE]]]]]]. exists k.
    split; [exact Hk|]. rewrite <- Pk. now apply plain_walk.
  - intros s i j Hs Hi Hj Gp. rewrite EA. apply Hed; auto; lia.
  - intros; apply U0; lia.
  - intros; apply Hv; lia.
  - rewrite EX in T2. rewrite S_INR in T2. replace (INR n + 1 - 1) with (INR n) in T2 by ring.
    eapply Rle_trans; [exact T2|]. apply Rmult_le_compat_l; [apply sqrt_pos|].
    eapply Rle_trans; [exact T1|]. apply Rmult_le_compat_l; [|exact T3].
    destruct (Nat.eq_dec t 0) as [->|Ht]; [rewrite Nat.div_small by lia; simpl; lra|]. apply pow_le.
    assert (g1 : gamma <= 1).
    { specialize (Hv 0%nat ltac:(lia)). specialize (U0 0%nat ltac:(lia)).
      assert (CS := dot_le_l2 (S d) (X 0%nat 0%nat) v).
      change (l2 (S d) (X 0%nat 0%nat) = 1) in U0. change (l2 (S d) v = 1) in Uv. rewrite U0, Uv in CS.
      assert (L := Rle_abs (dot (S d) (X 0%nat 0%nat) v)). unfold dot in *. lra. }
    assert (e1 : eps <= 1).
    { eapply Rle_trans; [apply (Hed 0%nat 0%nat 0%nat); auto; try lia; apply Gs; lia|]. rewrite <- EA.
      assert (St := attn_stochastic (S n) (S d) (S q) (hd (Ly 0%nat) 0) (X 0%nat)). destruct St as [P1 P2].
      { split; [intros; apply G0; lia|]. intros i Hi. exists i. split; [exact Hi|]. apply Gs; lia. }
      rewrite <- (P2 0%nat) by lia. apply (sum_term_le (S n) (attn (S n) (S d) (S q) (hd (Ly 0%nat) 0) (X 0%nat) 0%nat)
        0%nat); [intros; apply P1; lia|lia]. }
    assert (Q : eps ^ r <= 1) by (rewrite <- (pow1 r); apply pow_incr; lra).
    assert (Q0 : 0 <= eps ^ r) by (now apply pow_le). nra.
Qed.

(* ---------- equilibria ---------- *)
(** The layer with logits x_i M x_j^T and values W under LayerNorm on the sphere, as a map. *)
Lemma plain_sphere n d M W (G : mat) (e : mat -> mat) : (forall X i j,
  e X i j = G i j * exp (bil (S d) (X i) M (X j))) ->
  (fun (X : mat) i b => vmat (S d) (vmat (S n) (fun j => e X i j / sum (S n) (e X i)) X) W b /
     sqrt (sum (S d) (fun c => vmat (S d) (vmat (S n) (fun j => e X i j / sum (S n) (e X i)) X) W c * vmat (S d) (vmat
       (S n) (fun j => e X i j / sum (S n) (e X i)) X) W c)))
  = sphere_map (S n) (S d) M W G.
Proof.
  intros He. apply functional_extensionality; intro X. apply functional_extensionality; intro i.
  apply functional_extensionality; intro b.
  assert (Y : forall c, vmat (S d) (vmat (S n) (fun j => e X i j / sum (S n) (e X i)) X) W c = 0 * X i c + SA (S n) (S
    d) (onehead (S d) M W G) X i c).
  { intro c. unfold SA. cbn [onehead nheads bout dqk]. change (sum 1 ?f) with (0 + f 0%nat). cbv beta.
    rewrite Rmult_0_l, !Rplus_0_l, Rplus_0_r.
    unfold vmat at 1 3. apply sum_ext. intros a _. f_equal. unfold vmat. apply sum_ext. intros j _. f_equal.
    unfold attn, softmax, tilt.
    change (mask (hd (onehead (S d) M W G) 0) i) with (G i). rewrite logit_onehead by lia. rewrite <- He. f_equal.
    apply sum_ext. intros k _. now rewrite logit_onehead, He by lia. }
  unfold sphere_map, block_map. cbn [normalised tok skip att]. unfold sphere, l2, dot. rewrite <- Y. f_equal. f_equal.
  apply sum_ext. intros c _. now rewrite Y.
Qed.

(** own:stable-causal-every-n (Theorem A): n + 1 tokens in n + 1 dimensions, token i sees 0, ..., i; mu_0 > mu_1 > ...
> 0.
    The identity rests; J is the derivative there; x + iy is an eigenvalue (with eigenvector u + iv) only if y = 0 and
      x = 0 or x = mu_k/mu_i with
    i < k, and these are eigenvalues; every start near the identity converges to it. *)
Theorem theorem_A_unfolded : forall (n : nat) (m : nat -> R),
  (forall i, (i <= n)%nat -> 0 < m i) -> (forall i k, (i < k)%nat -> (k <= n)%nat -> m k < m i) ->
  let I (i a : nat) := if Nat.eqb i a then 1 else 0 in
  let M (a b : nat) := if Nat.ltb a b then 1 else 0 in
  let W (a b : nat) := m b * (I a b - I a (S b)) in
  let e (X : nat -> nat -> R) i j := (if Nat.leb j i then 1 else 0) * exp (sum_f_R0 (fun a => sum_f_R0 (fun b => X i a
    * M a b * X j b) n) n) in
  let y (X : nat -> nat -> R) i b := sum_f_R0 (fun a => sum_f_R0 (fun j => e X i j / sum_f_R0 (e X i) n * X j a) n * W
    a b) n in
  let F (X : nat -> nat -> R) i b := y X i b / sqrt (sum_f_R0 (fun c => y X i c * y X i c) n) in
  (forall i a, (i <= n)%nat -> (a <= n)%nat -> F I i a = I i a) /\
  (exists J : nat -> nat -> nat -> nat -> R,
    let Jv (v : nat -> nat -> R) i a := sum_f_R0 (fun p => sum_f_R0 (fun b => J i a p b * v p b) n) n in
    (forall i a, (i <= n)%nat -> (a <= n)%nat -> exists K rho, 0 <= K /\ 0 < rho <= 1 /\ forall r H, 0 <= r <= rho ->
       (forall p b, (p <= n)%nat -> (b <= n)%nat -> Rabs (H p b) <= r) ->
         Rabs (F (fun p b => I p b + H p b) i a - F I i a - Jv H i a) <= K * (r * r)) /\
    (forall (x z : R) (u v : nat -> nat -> R), (exists i a, (i <= n)%nat /\ (a <= n)%nat /\ (u i a <> 0 \/ v i a <> 0))
      ->
       (forall i a, (i <= n)%nat -> (a <= n)%nat -> Jv u i a = x * u i a - z * v i a /\ Jv v i a = x * v i a + z * u i
         a) ->
       z = 0 /\ (x = 0 \/ exists i k, (i < k)%nat /\ (k <= n)%nat /\ x = m k / m i)) /\
    (forall i k, (i < k)%nat -> (k <= n)%nat -> exists u, (exists p b, (p <= n)%nat /\ (b <= n)%nat /\ u p b <> 0) /\
       forall p b, (p <= n)%nat -> (b <= n)%nat -> Jv u p b = m k / m i * u p b)) /\
  exists eta, 0 < eta /\ forall X : nat -> nat -> R,
    (forall i a, (i <= n)%nat -> (a <= n)%nat -> Rabs (X i a - I i a) <= eta) ->
    forall i a, (i <= n)%nat -> (a <= n)%nat -> Un_cv (fun k => Nat.iter k F X i a) (I i a).
Proof.
  intros n m P D I M W e y F. unfold F, y, e in *. clear F y e. plain.
  match goal with |- context [Nat.iter _ ?f] => set (F := f) end.
  assert (E : F = sphere_map (S n) (S n) M W causal) by exact (plain_sphere n n M W causal (fun X i j => causal i j *
    exp (bil (S n) (X i) M (X j))) (fun _ _ _ => eq_refl)).
  destruct (theorem_A (S n) m ltac:(lia)) as [Fx [[J [Dj Sp]] At]]; [intros; apply P; lia|intros; apply D; lia|].
  change above with M in *. change (telescope m) with W in *. change eye with I in *. rewrite <- E in Fx, Dj, At.
  split; [intros i a Hi Ha; apply Fx; lia|split].
  - exists J. split; [|split].
    + intros i a Hi Ha. destruct (Dj i a ltac:(lia) ltac:(lia)) as [K [rho [K0 [R0 B]]]]. exists K, rho.
      split; [exact K0|split; [exact R0|]].
      intros r H Hr HH. apply (B r H Hr). intros p b Hp Hb. apply HH; lia.
    + intros x z u v [i [a [Hi [Ha N]]]] HJ.
      assert (G : eigenvalue (S n) (S n) J (x, z)).
      { exists (fun p b => (u p b, v p b)). split.
        - exists i, a. split; [lia|split; [lia|]]. intro Q. injection Q as Q1 Q2. destruct N; auto.
        - intros p b Hp Hb. rewrite apply_parts. cbn [fst snd]. destruct (HJ p b ltac:(lia) ltac:(lia)) as [J1 J2].
          unfold Cmult. cbn [fst snd]. f_equal; [exact J1|exact J2]. }
      apply Sp in G. destruct G as [Q|[i' [k [L1 [L2 Q]]]]]; injection Q as -> ->; (split; [reflexivity|]);
        [now left|right]. exists i', k. repeat split; auto; lia.
    + intros i k L1 L2. assert (G : eigenvalue (S n) (S n) J (RtoC (m k / m i))) by (apply Sp; right; exists i, k;
        repeat split; auto; lia).
      destruct G as [v [[p [b [Hp [Hb N]]]] HJ]]. 
      assert (HR : forall i0 a, (i0 < S n)%nat -> (a < S n)%nat ->
        lin (S n) (S n) (J i0 a) (fun p b => fst (v p b)) = m k / m i * fst (v i0 a) /\ lin (S n) (S n) (J i0 a) (fun p
          b => snd (v p b)) = m k / m i * snd (v i0 a)).
      { intros i0 a H1 H2. assert (Q := HJ i0 a H1 H2). rewrite apply_parts in Q. unfold RtoC, Cmult in Q.
        cbn [fst snd] in Q. injection Q as Q1 Q2. split; lra. }
      destruct (Req_dec (fst (v p b)) 0) as [Z|Z].
      * exists (fun p b => snd (v p b)). split; [|intros; apply HR; lia]. exists p, b. split; [lia|split; [lia|]].
        intro Z2. apply N. destruct (v p b). simpl in *. subst. reflexivity.
      * exists (fun p b => fst (v p b)). split; [|intros; apply HR; lia]. exists p, b.
        split; [lia|split; [lia|exact Z]].
  - destruct (attracts_limit _ _ _ _ At) as [eta [Ep Lim]]. exists eta. split; [exact Ep|].
    intros X HX i a Hi Ha. apply is_lim_seq_Reals. apply Lim; [|lia|lia]. intros p q Hp Hq. apply HX; lia.
Qed.

(** wu2024:conjecture, refuted with two tokens in any dimension d + 2, no mask: some M and W,
  and all starts within 1/10000 of (e_1, e_2). *)
Theorem wu_conjecture_refuted_unfolded : forall d : nat, exists M W : nat -> nat -> R,
  let I (i a : nat) := if Nat.eqb i a then 1 else 0 in
  let e (X : nat -> nat -> R) i j := exp (sum_f_R0 (fun a => sum_f_R0 (fun b => X i a * M a b * X j b) (S d)) (S d)) in
  let y (X : nat -> nat -> R) i b := sum_f_R0 (fun a => sum_f_R0 (fun j => e X i j / sum_f_R0 (e X i) 1 * X j a) 1 * W
    a b) (S d) in
  let F (X : nat -> nat -> R) i b := y X i b / sqrt (sum_f_R0 (fun c => y X i c * y X i c) (S d)) in
  (forall i a, (i <= 1)%nat -> (a <= S d)%nat -> F I i a = I i a) /\
  forall X : nat -> nat -> R, (forall i a, (i <= 1)%nat -> (a <= 1)%nat -> Rabs (X i a - I i a) <= 1 / 10000) ->
    forall i a, (i <= 1)%nat -> (a <= S d)%nat -> Un_cv (fun k => Nat.iter k F X i a) (I i a).
Proof.
  intro d. destruct (wu_conjecture_refuted (S (S d)) ltac:(lia)) as [M [W [Fx At]]]. exists M, W. intros I e y F.
  unfold F, y, e in *. clear F y e. plain.
  match goal with |- context [Nat.iter _ ?f] => set (F := f) end.
  assert (E : F = sphere_map 2 (S (S d)) M W nomask) by (apply (plain_sphere 1 (S d) M W nomask (fun X i j => exp (bil
    (S (S d)) (X i) M (X j)))); intros; unfold nomask; ring).
  change eye with I in *. rewrite <- E in *. split; [intros; apply Fx; lia|]. intros X HX i a Hi Ha.
  apply is_lim_seq_Reals.
  destruct (At X) as [_ L]; [intros p b Hp Hb; apply HX; lia|]. apply L; lia.
Qed.

(** own:stable-complete-every-n (Theorem B): n + 1 tokens in n + 1 dimensions,
  no mask: for some M and W tokens Z near the identity, so of rank n + 1,
    rest and attract. *)
Theorem theorem_B_unfolded : forall n : nat, exists M W Z : nat -> nat -> R,
  let e (X : nat -> nat -> R) i j := exp (sum_f_R0 (fun a => sum_f_R0 (fun c => X i a * M a c * X j c) n) n) in
  let y (X : nat -> nat -> R) i b := sum_f_R0 (fun a => sum_f_R0 (fun j => e X i j / sum_f_R0 (e X i) n * X j a) n * W
    a b) n in
  let F (X : nat -> nat -> R) i b := y X i b / sqrt (sum_f_R0 (fun c => y X i c * y X i c) n) in
  (forall i a, (i <= n)%nat -> (a <= n)%nat -> F Z i a = Z i a) /\
  (forall i a, (i <= n)%nat -> (a <= n)%nat -> Rabs (Z i a - if Nat.eqb i a then 1 else 0) <= / (2 * INR (S n))) /\
  exists eta, 0 < eta /\ forall X : nat -> nat -> R,
    (forall i a, (i <= n)%nat -> (a <= n)%nat -> Rabs (X i a - Z i a) <= eta) ->
    forall i a, (i <= n)%nat -> (a <= n)%nat -> Un_cv (fun k => Nat.iter k F X i a) (Z i a).
Proof.
  intro n. destruct (own_stable_every_rank.chain_complete (S n) 1 ltac:(lia) ltac:(lra)) as (M & W & Z & Wi & _ & Fx
    & _ & At & _).
  exists M, W, Z. intros e y F. unfold F, y, e in *. clear F y e. plain.
  match goal with |- context [Nat.iter _ ?f] => set (F := f) end.
  assert (E : F = sphere_map (S n) (S n) M W nomask) by (apply (plain_sphere n n M W nomask (fun X i j => exp (bil (S
    n) (X i) M (X j)))); intros; unfold nomask; ring).
  rewrite <- E in *. split; [intros; apply Fx; lia|split; [intros; apply Wi; lia|]].
  destruct (attracts_limit _ _ _ _ At) as [eta [Ep Lim]]. exists eta. split; [exact Ep|].
  intros X HX i a Hi Ha. apply is_lim_seq_Reals. apply Lim; [|lia|lia]. intros p q Hp Hq. apply HX; lia.
Qed.
