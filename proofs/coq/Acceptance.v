(** What the checker accepts is true.

    The checker's text unrolls, for the data of a certificate,
      into terms of numbers and formulas of relations: its loops, lists and
    definitions are shorthand.  [eval] and [truth] do with them what [rankmath/checker/kernel.py] does: fractions stay
      exact while
    they are short, everything else is an interval that is rounded outward ([Dyadic.v]), and a truth value is true,
      false or not
    known.  [means] and [holds] say what the same terms and formulas mean about real numbers.

    What the text takes from a number as it came out (the end that [lower] gives, a whole part, a guess, the branch after
    [certain]) stands in the term as it was found.  A product of matrices of intervals is rounded once
    ([dot_within] of [Dyadic.v]), and derivatives are carried along ([rule_slopes] of [checker_rules.v]): these two are
    no terms here, and enter as rules.

    A rule enters in two ways.  [Enclosed x given low high] is the number x,
      which lies between low and high where [given] is true;
    [Shown P given] is the proposition P, which is true where [given] is.
    That it is so is [justified], and the theorems
    [rule_...] of [kernel_rules.v] and [checker_rules.v] say it of every rule.

    [acceptance]: a formula that the checker finds true is true, and one that it finds false is false,
      at any number of bits. *)
Require Import Reals ZArith QArith Qreals Lia Lra Psatz.
From Flocq Require Import Core.
From Rankmath Require Import Dyadic.
Local Open Scope R_scope.

(* ---------- numbers: exact fractions while they are short, intervals else ---------- *)
Inductive number := Exact (q : Q) | Wide (K : interval).
Definition contains (v : number) (x : R) : Prop := match v with Exact q => x = Q2R q | Wide K => within K x end.
Definition wide (bits : Z) (v : number) : interval :=
  match v with Exact q => of_fraction bits (Qnum q) (Zpos (Qden q)) | Wide K => K end.
Lemma wide_within bits v x : contains v x -> within (wide bits v) x.
Proof. destruct v as [q|K]; [intros ->; apply of_fraction_within; lia|exact (fun H => H)]. Qed.

(** A fraction of more than 2^13 bits becomes an interval. *)
Definition exact (bits : Z) (q : Q) : number := let r := Qred q in
  if Z.ltb (2 ^ 13) (Z.max (length (Qnum r)) (length (Zpos (Qden r))))
  then Wide (of_fraction bits (Qnum r) (Zpos (Qden r))) else Exact r.
Lemma exact_contains bits q : contains (exact bits q) (Q2R q).
Proof.
  assert (E : Q2R q = Q2R (Qred q)) by (apply Qeq_eqR, Qeq_sym, Qred_correct).
  unfold exact. destruct (Z.ltb _ _); cbn [contains]; rewrite E; [apply of_fraction_within; lia|reflexivity].
Qed.

Definition number_add bits v w := match v, w with
  | Exact p, Exact q => exact bits (p + q) | _, _ => Wide (add bits (wide bits v) (wide bits w)) end.
Definition number_neg bits v := match v with Exact p => exact bits (- p) | Wide K => Wide (neg bits K) end.
(** a + (-b) and a (1/b): only what comes out may become an interval. *)
Definition turned bits v := match v with Exact p => Exact (- p) | Wide K => Wide (neg bits K) end.
Definition number_sub bits v w := number_add bits v (turned bits w).
Definition number_mul bits v w := match v, w with
  | Exact p, Exact q => exact bits (p * q) | _, _ => Wide (mul bits (wide bits v) (wide bits w)) end.
Definition inverse bits v := match v with
  | Exact p => if Qeq_bool p 0 then None else Some (Exact (/ p))
  | Wide K => match inv bits K with Some J => Some (Wide (mul bits J (of_whole bits 1))) | None => None end end.
Definition number_div bits v w := match inverse bits w with Some u => Some (number_mul bits v u) | None => None end.
Definition number_abs bits v := match v with Exact p => exact bits (Qabs.Qabs p) | Wide K => Wide (absolute bits K) end.
(** An exact root where there is one. *)
Definition exact_root (p : Q) : option Q := let r := Qmake (Z.sqrt (Qnum p)) (Pos.sqrt (Qden p)) in
  if (Z.leb 0 (Qnum p) && Qeq_bool (r * r) p)%bool then Some r else None.
Definition number_root bits v := match v with
  | Exact p => match exact_root p with Some r => Some (exact bits r)
    | None => match root bits (wide bits v) with Some J => Some (Wide J) | None => None end end
  | Wide K => match root bits K with Some J => Some (Wide J) | None => None end end.
Definition number_exp bits v := match v with
  | Exact p => if Qeq_bool p 0 then Some (Exact 1) else
    match exponential bits (wide bits v) with Some J => Some (Wide J) | None => None end
  | Wide K => match exponential bits K with Some J => Some (Wide J) | None => None end end.
Definition number_larger bits v w := match v, w with
  | Exact p, Exact q => exact bits (if Qle_bool p q then q else p)
  | _, _ => Wide (merged bits Z.max Z.max (wide bits v) (wide bits w)) end.
Definition number_smaller bits v w := match v, w with
  | Exact p, Exact q => exact bits (if Qle_bool p q then p else q)
  | _, _ => Wide (merged bits Z.min Z.min (wide bits v) (wide bits w)) end.
Definition number_hull bits v w := match v, w with
  | Exact p, Exact q => if Qeq_bool p q then exact bits p else Wide (merged bits Z.min Z.max (wide bits v) (wide bits w))
  | _, _ => Wide (merged bits Z.min Z.max (wide bits v) (wide bits w)) end.
Definition number_compare bits r v w : option bool := match v, w with
  | Exact p, Exact q => Some match r with
      LT => negb (Qle_bool q p) | LE => Qle_bool p q | GT => negb (Qle_bool p q) | GE => Qle_bool q p | EQ => Qeq_bool
        p q end
  | _, _ => compare bits r (wide bits v) (wide bits w) end.

Lemma number_add_contains bits v w x y : contains v x -> contains w y -> contains (number_add bits v w) (x + y).
Proof.
  intros Hx Hy. assert (W := add_within bits _ _ _ _ (wide_within bits v x Hx) (wide_within bits w y Hy)).
  destruct v as [p|K], w as [q|J]; try exact W. cbn [contains] in Hx, Hy. rewrite Hx, Hy, <- Q2R_plus.
  apply exact_contains.
Qed.
Lemma number_neg_contains bits v x : contains v x -> contains (number_neg bits v) (- x).
Proof.
  destruct v as [p|K]; cbn [contains]; intros H; [|now apply neg_within]. rewrite H, <- Q2R_opp. apply exact_contains.
Qed.
Lemma number_sub_contains bits v w x y : contains v x -> contains w y -> contains (number_sub bits v w) (x - y).
Proof.
  intros Hx Hy. apply number_add_contains; [exact Hx|]. destruct w as [q|J]; cbn [turned contains] in *.
  - now rewrite Hy, Q2R_opp.
  - now apply neg_within.
Qed.
Lemma number_mul_contains bits v w x y : contains v x -> contains w y -> contains (number_mul bits v w) (x * y).
Proof.
  intros Hx Hy. assert (W := mul_within bits _ _ _ _ (wide_within bits v x Hx) (wide_within bits w y Hy)).
  destruct v as [p|K], w as [q|J]; try exact W. cbn [contains] in Hx, Hy. rewrite Hx, Hy, <- Q2R_mult.
  apply exact_contains.
Qed.
Lemma exact_zero p : Qeq_bool p 0 = false -> Q2R p <> 0 /\ ~ (p == 0)%Q.
Proof.
  intros E. assert (N : ~ (p == 0)%Q) by (intro Z; apply Qeq_bool_iff in Z; congruence). split; [|exact N].
  intro Z. apply N, eqR_Qeq. rewrite Z, RMicromega.Q2R_0. reflexivity.
Qed.
Lemma number_div_contains bits v w u x y : number_div bits v w = Some u -> contains v x -> contains w y ->
  y <> 0 /\ contains u (x / y).
Proof.
  unfold number_div. destruct (inverse bits w) as [i|] eqn:E; [|discriminate]. intros [= <-] Hx Hy.
  assert (I : y <> 0 /\ contains i (/ y)); [|split; [apply I|now apply number_mul_contains]].
  destruct w as [q|K]; cbn [inverse contains] in *.
  - destruct (Qeq_bool q 0) eqn:Z; [discriminate|]. injection E as <-. destruct (exact_zero q Z) as [N N'].
    rewrite Hy. split; [exact N|]. cbn [contains]. now rewrite Q2R_inv.
  - destruct (inv bits K) as [J|] eqn:Z; [|discriminate]. injection E as <-. destruct (inv_within _ _ _ _ Z Hy) as [N W].
    split; [exact N|]. rewrite <- (Rmult_1_r (/ y)). apply mul_within; [exact W|apply of_whole_within].
Qed.
Lemma number_abs_contains bits v x : contains v x -> contains (number_abs bits v) (Rabs x).
Proof.
  destruct v as [p|K]; cbn [contains]; intros H; [|now apply absolute_within].
  rewrite H. replace (Rabs (Q2R p)) with (Q2R (Qabs.Qabs p)); [apply exact_contains|].
  destruct (Qlt_le_dec p 0) as [L|L].
  - rewrite (Qeq_eqR _ _ (Qabs.Qabs_neg p (Qlt_le_weak _ _ L))), Q2R_opp. apply Qlt_Rlt in L.
    rewrite RMicromega.Q2R_0 in L.
    rewrite Rabs_left; [reflexivity|exact L].
  - rewrite (Qeq_eqR _ _ (Qabs.Qabs_pos p L)). apply Qle_Rle in L. rewrite RMicromega.Q2R_0 in L.
    rewrite Rabs_right; [reflexivity|lra].
Qed.
Lemma exact_root_is p r : exact_root p = Some r -> 0 <= Q2R p /\ sqrt (Q2R p) = Q2R r.
Proof.
  unfold exact_root. set (s := Qmake _ _). destruct (Z.leb_spec 0 (Qnum p)) as [L|L]; cbn [andb]; [|discriminate].
  destruct (Qeq_bool (s * s) p) eqn:E; [|discriminate]. intros [= <-]. apply Qeq_bool_iff in E. apply Qeq_eqR in E.
  rewrite Q2R_mult in E.
  assert (P : 0 <= Q2R s).
  { unfold Q2R, s. cbn [Qnum Qden]. apply Rmult_le_pos; [apply IZR_le, Z.sqrt_nonneg|left;
      apply Rinv_0_lt_compat, IZR_lt; lia]. }
  split; [rewrite <- E; nra|]. rewrite <- E. now apply sqrt_square.
Qed.
Lemma number_root_contains bits v u x : number_root bits v = Some u -> contains v x -> 0 <= x /\ contains u (sqrt x).
Proof.
  assert (W : forall K J, root bits K = Some J -> within K x -> 0 <= x /\ contains (Wide J) (sqrt x)) by (intros;
    now apply root_within with bits K).
  intros E H. assert (HW := wide_within bits v x H). destruct v as [p|K]; cbn [number_root] in E.
  - destruct (exact_root p) as [r|] eqn:R.
    + injection E as <-. destruct (exact_root_is p r R) as [P Q]. cbn [contains] in H. rewrite H. split; [exact P|].
      rewrite Q. apply exact_contains.
    + destruct (root bits (wide bits (Exact p))) as [J|] eqn:R'; [|discriminate]. injection E as <-.
      now apply W with (wide bits (Exact p)).
  - destruct (root bits K) as [J|] eqn:R'; [|discriminate]. injection E as <-. now apply W with K.
Qed.
Lemma number_exp_contains bits v u x : (0 <= bits)%Z -> number_exp bits v = Some u -> contains v x ->
  contains u (exp x).
Proof.
  intros Hb E H. assert (HW := wide_within bits v x H). destruct v as [p|K]; cbn [number_exp] in E.
  - destruct (Qeq_bool p 0) eqn:Z.
    + injection E as <-. apply Qeq_bool_iff, Qeq_eqR in Z. cbn [contains] in *.
      rewrite H, Z, RMicromega.Q2R_0, RMicromega.Q2R_1. apply exp_0.
    + destruct (exponential bits (wide bits (Exact p))) as [J|] eqn:R; [|discriminate]. injection E as <-.
      now apply (exponential_within bits _ _ _ Hb R).
  - destruct (exponential bits K) as [J|] eqn:R; [|discriminate]. injection E as <-.
    now apply (exponential_within bits _ _ _ Hb R).
Qed.
Lemma Qle_bool_R p q : if Qle_bool p q then Q2R p <= Q2R q else Q2R q < Q2R p.
Proof.
  destruct (Qle_bool p q) eqn:E.
  - now apply Qle_Rle, Qle_bool_iff.
  - apply Qlt_Rlt, Qnot_le_lt. intro L. apply Qle_bool_iff in L. congruence.
Qed.
Lemma number_larger_contains bits v w x y : contains v x -> contains w y ->
  contains (number_larger bits v w) (Rmax x y).
Proof.
  intros Hx Hy. assert (W := larger_within bits _ _ _ _ (wide_within bits v x Hx) (wide_within bits w y Hy)).
  destruct v as [p|K], w as [q|J]; try exact W. cbn [contains number_larger] in *. rewrite Hx, Hy.
  assert (L := Qle_bool_R p q). destruct (Qle_bool p q);
    [rewrite Rmax_right by exact L|rewrite Rmax_left by lra]; apply exact_contains.
Qed.
Lemma number_smaller_contains bits v w x y : contains v x -> contains w y ->
  contains (number_smaller bits v w) (Rmin x y).
Proof.
  intros Hx Hy. assert (W := smaller_within bits _ _ _ _ (wide_within bits v x Hx) (wide_within bits w y Hy)).
  destruct v as [p|K], w as [q|J]; try exact W. cbn [contains number_smaller] in *. rewrite Hx, Hy.
  assert (L := Qle_bool_R p q). destruct (Qle_bool p q);
    [rewrite Rmin_left by exact L|rewrite Rmin_right by lra]; apply exact_contains.
Qed.
Lemma number_hull_contains bits v w x y z : contains v x -> contains w y -> Rmin x y <= z <= Rmax x y ->
  contains (number_hull bits v w) z.
Proof.
  intros Hx Hy Hz. assert (W := hull_within bits _ _ _ _ _ (wide_within bits v x Hx) (wide_within bits w y Hy) Hz).
  destruct v as [p|K], w as [q|J]; try exact W. cbn [contains number_hull] in *.
  destruct (Qeq_bool p q) eqn:E; [|exact W].
  apply Qeq_bool_iff, Qeq_eqR in E. cbn [contains]. rewrite Hx, Hy, E in Hz.
  rewrite Rmin_left, Rmax_left in Hz by lra. replace z with (Q2R p) by (rewrite E; lra). apply exact_contains.
Qed.
Lemma number_compare_true bits r v w x y : contains v x -> contains w y ->
  (number_compare bits r v w = Some true -> related r x y) /\ (number_compare bits r v w = Some false ->
    ~ related r x y).
Proof.
  intros Hx Hy. assert (W := compare_true bits r _ _ _ _ (wide_within bits v x Hx) (wide_within bits w y Hy)).
  destruct v as [p|K], w as [q|J]; try exact W. cbn [contains number_compare] in *. rewrite Hx, Hy.
  assert (L := Qle_bool_R p q). assert (L' := Qle_bool_R q p). destruct r; cbn [related].
  5: { destruct (Qeq_bool p q) eqn:E; split; intros [=].
       - now apply Qeq_eqR, Qeq_bool_iff.
       - intro Z. apply eqR_Qeq, Qeq_bool_iff in Z. congruence. }
  all: destruct (Qle_bool p q), (Qle_bool q p); cbn [negb]; split; intros [=]; lra.
Qed.

(* ---------- terms and formulas ---------- *)
Inductive term :=
  | Fraction (q : Q) | Plus (a b : term) | Minus (a : term) | Less (a b : term) | Times (a b : term)
  | Over (a b : term) | Size (a : term)
  | Sqrt (a : term) | Exp (a : term) | Larger (a b : term) | Smaller (a b : term)
  | If (test : formula) (a b : term)
  | Enclosed (x : R) (given : formula) (low high : term)
with formula :=
  | Relation (r : relation) (a b : term) | And (f g : formula) | Or (f g : formula) | Not (f : formula)
  | Shown (P : Prop) (given : formula).

(** What a term is, and whether a formula holds or fails; 1/0 and the root of a negative number are nothing,
  and a relation of
    such terms neither holds nor fails. *)
Fixpoint means (t : term) (x : R) : Prop := match t with
  | Fraction q => x = Q2R q
  | Plus a b => exists u v, means a u /\ means b v /\ x = u + v
  | Minus a => exists u, means a u /\ x = - u
  | Times a b => exists u v, means a u /\ means b v /\ x = u * v
  | Less a b => exists u v, means a u /\ means b v /\ x = u - v
  | Over a b => exists u v, means a u /\ means b v /\ v <> 0 /\ x = u / v
  | Size a => exists u, means a u /\ x = Rabs u
  | Sqrt a => exists u, means a u /\ 0 <= u /\ x = sqrt u
  | Exp a => exists u, means a u /\ x = exp u
  | Larger a b => exists u v, means a u /\ means b v /\ x = Rmax u v
  | Smaller a b => exists u v, means a u /\ means b v /\ x = Rmin u v
  | If test a b => (holds test /\ means a x) \/ (fails test /\ means b x)
  | Enclosed y _ _ _ => x = y end
with holds (f : formula) : Prop := match f with
  | Relation r a b => exists u v, means a u /\ means b v /\ related r u v
  | And f g => holds f /\ holds g
  | Or f g => holds f \/ holds g
  | Not f => fails f
  | Shown P _ => P end
with fails (f : formula) : Prop := match f with
  | Relation r a b => exists u v, means a u /\ means b v /\ ~ related r u v
  | And f g => fails f \/ fails g
  | Or f g => fails f /\ fails g
  | Not f => holds f
  | Shown P _ => ~ P end.

(** What the rules claim, wherever one is used. *)
Fixpoint justified (t : term) : Prop := match t with
  | Fraction _ => True
  | Plus a b | Less a b | Times a b | Over a b | Larger a b | Smaller a b => justified a /\ justified b
  | Minus a | Size a | Sqrt a | Exp a => justified a
  | If test a b => justified_formula test /\ justified a /\ justified b
  | Enclosed x given low high => justified_formula given /\ justified low /\ justified high /\
      (holds given -> forall l h, means low l -> means high h -> Rmin l h <= x <= Rmax l h) end
with justified_formula (f : formula) : Prop := match f with
  | Relation _ a b => justified a /\ justified b
  | And f g | Or f g => justified_formula f /\ justified_formula g
  | Not f => justified_formula f
  | Shown P given => justified_formula given /\ (holds given -> P) end.

(** What the kernel computes. *)
Section Evaluation.
Variable bits : Z.
Definition on1 (f : number -> number) (v : option number) := match v with Some x => Some (f x) | None => None end.
Definition on2 (f : number -> number -> number) (v w : option number) := match v, w with Some x,
  Some y => Some (f x y) | _, _ => None end.
Definition try1 (f : number -> option number) (v : option number) := match v with Some x => f x | None => None end.
Definition both (f g : option bool) : option bool := match f, g with
  | Some false, _ | _, Some false => Some false | Some true, Some true => Some true | _, _ => None end.
Definition opposite (f : option bool) : option bool := match f with Some b => Some (negb b) | None => None end.
Fixpoint eval (t : term) : option number := match t with
  | Fraction q => Some (Exact (Qred q))
  | Plus a b => on2 (number_add bits) (eval a) (eval b)
  | Minus a => on1 (number_neg bits) (eval a)
  | Times a b => on2 (number_mul bits) (eval a) (eval b)
  | Less a b => on2 (number_sub bits) (eval a) (eval b)
  | Over a b => match eval a, eval b with Some v, Some w => number_div bits v w | _, _ => None end
  | Size a => on1 (number_abs bits) (eval a)
  | Sqrt a => try1 (number_root bits) (eval a)
  | Exp a => try1 (number_exp bits) (eval a)
  | Larger a b => on2 (number_larger bits) (eval a) (eval b)
  | Smaller a b => on2 (number_smaller bits) (eval a) (eval b)
  | If test a b => match truth test with Some true => eval a | Some false => eval b | None => None end
  | Enclosed _ given low high => match truth given with Some true => on2 (number_hull bits) (eval low) (eval high) | _
    => None end end
with truth (f : formula) : option bool := match f with
  | Relation r a b => match eval a, eval b with Some v, Some w => number_compare bits r v w | _, _ => None end
  | And f g => both (truth f) (truth g)
  | Or f g => opposite (both (opposite (truth f)) (opposite (truth g)))
  | Not f => opposite (truth f)
  | Shown _ given => match truth given with Some true => Some true | _ => None end end.

Hypothesis some_bits : (0 <= bits)%Z.
Scheme term_formula := Induction for term Sort Prop with formula_term := Induction for formula Sort Prop.
Combined Scheme terms_formulas from term_formula, formula_term.

Lemma enclosed_and_true :
  (forall t, justified t -> forall v, eval t = Some v -> exists x, means t x /\ contains v x) /\
  (forall f, justified_formula f -> (truth f = Some true -> holds f) /\ (truth f = Some false -> fails f)).
Proof.
  apply terms_formulas; cbn [eval truth justified justified_formula means holds fails].
  - intros q _ v [= <-]. exists (Q2R q). split; [reflexivity|]. cbn [contains]. apply Qeq_eqR. symmetry. apply Qred_correct.
  - intros a Ha b Hb [Ja Jb] v. destruct (eval a) as [p|]; [|discriminate]. destruct (eval b) as [q|]; [|discriminate].
    intros [= <-].
    destruct (Ha Ja p eq_refl) as [x [Mx Cx]]. destruct (Hb Jb q eq_refl) as [y [My Cy]].
    exists (x + y). split; [now exists x, y|now apply number_add_contains].
  - intros a Ha Ja v. destruct (eval a) as [p|]; [|discriminate]. intros [= <-].
    destruct (Ha Ja p eq_refl) as [x [Mx Cx]].
    exists (- x). split; [now exists x|now apply number_neg_contains].
  - intros a Ha b Hb [Ja Jb] v. destruct (eval a) as [p|]; [|discriminate]. destruct (eval b) as [q|]; [|discriminate].
    intros [= <-].
    destruct (Ha Ja p eq_refl) as [x [Mx Cx]]. destruct (Hb Jb q eq_refl) as [y [My Cy]].
    exists (x - y). split; [now exists x, y|now apply number_sub_contains].
  - intros a Ha b Hb [Ja Jb] v. destruct (eval a) as [p|]; [|discriminate]. destruct (eval b) as [q|]; [|discriminate].
    intros [= <-].
    destruct (Ha Ja p eq_refl) as [x [Mx Cx]]. destruct (Hb Jb q eq_refl) as [y [My Cy]].
    exists (x * y). split; [now exists x, y|now apply number_mul_contains].
  - intros a Ha b Hb [Ja Jb] v. destruct (eval a) as [p|]; [|discriminate]. destruct (eval b) as [q|]; [|discriminate].
    intros E. destruct (Ha Ja p eq_refl) as [x [Mx Cx]]. destruct (Hb Jb q eq_refl) as [y [My Cy]].
    destruct (number_div_contains _ _ _ _ _ _ E Cx Cy) as [N C]. exists (x / y). split; [now exists x, y|exact C].
  - intros a Ha Ja v. destruct (eval a) as [p|]; [|discriminate]. intros [= <-].
    destruct (Ha Ja p eq_refl) as [x [Mx Cx]].
    exists (Rabs x). split; [now exists x|now apply number_abs_contains].
  - intros a Ha Ja v. destruct (eval a) as [p|]; [|discriminate]. cbn [try1]. intros E.
    destruct (Ha Ja p eq_refl) as [x [Mx Cx]].
    destruct (number_root_contains _ _ _ _ E Cx) as [N C]. exists (sqrt x). split; [now exists x|exact C].
  - intros a Ha Ja v. destruct (eval a) as [p|]; [|discriminate]. cbn [try1]. intros E.
    destruct (Ha Ja p eq_refl) as [x [Mx Cx]].
    exists (exp x). split; [now exists x|now apply (number_exp_contains _ _ _ _ some_bits E)].
  - intros a Ha b Hb [Ja Jb] v. destruct (eval a) as [p|]; [|discriminate]. destruct (eval b) as [q|]; [|discriminate].
    intros [= <-].
    destruct (Ha Ja p eq_refl) as [x [Mx Cx]]. destruct (Hb Jb q eq_refl) as [y [My Cy]].
    exists (Rmax x y). split; [now exists x, y|now apply number_larger_contains].
  - intros a Ha b Hb [Ja Jb] v. destruct (eval a) as [p|]; [|discriminate]. destruct (eval b) as [q|]; [|discriminate].
    intros [= <-].
    destruct (Ha Ja p eq_refl) as [x [Mx Cx]]. destruct (Hb Jb q eq_refl) as [y [My Cy]].
    exists (Rmin x y). split; [now exists x, y|now apply number_smaller_contains].
  - intros f Hf a Ha b Hb [Jf [Ja Jb]] v. destruct (Hf Jf) as [T F].
    destruct (truth f) as [[]|]; [| |discriminate]; intros E.
    + destruct (Ha Ja v E) as [x [Mx Cx]]. exists x. split; [left; split; [now apply T|exact Mx]|exact Cx].
    + destruct (Hb Jb v E) as [x [Mx Cx]]. exists x. split; [right; split; [now apply F|exact Mx]|exact Cx].
  - intros x f Hf a Ha b Hb [Jf [Ja [Jb J]]] v. destruct (Hf Jf) as [T _].
    destruct (truth f) as [[]|]; try discriminate.
    destruct (eval a) as [p|]; [|discriminate]. destruct (eval b) as [q|]; [|discriminate]. intros [= <-].
    destruct (Ha Ja p eq_refl) as [l [Ml Cl]]. destruct (Hb Jb q eq_refl) as [h [Mh Ch]].
    exists x. split; [reflexivity|]. apply (number_hull_contains bits p q l h x Cl Ch). now apply J; [apply T| |].
  - intros r a Ha b Hb [Ja Jb]. destruct (eval a) as [p|]; [|split; discriminate].
    destruct (eval b) as [q|]; [|split; discriminate].
    destruct (Ha Ja p eq_refl) as [x [Mx Cx]]. destruct (Hb Jb q eq_refl) as [y [My Cy]].
    destruct (number_compare_true bits r p q x y Cx Cy) as [T F]. split; intro E; exists x, y; auto.
  - intros f Hf g Hg [Jf Jg]. destruct (Hf Jf) as [T F], (Hg Jg) as [T' F'].
    destruct (truth f) as [[]|], (truth g) as [[]|]; cbn [both]; split; intros [=]; auto.
  - intros f Hf g Hg [Jf Jg]. destruct (Hf Jf) as [T F], (Hg Jg) as [T' F'].
    destruct (truth f) as [[]|], (truth g) as [[]|]; cbn [both opposite negb]; split; intros [=]; auto.
  - intros f Hf Jf. destruct (Hf Jf) as [T F]. destruct (truth f) as [[]|]; cbn [opposite negb]; split; intros [=];
      auto.
  - intros P f Hf [Jf J]. destruct (Hf Jf) as [T F]. destruct (truth f) as [[]|]; split; intros [=]. now apply J, T.
Qed.

Theorem acceptance f : justified_formula f -> (truth f = Some true -> holds f) /\ (truth f = Some false -> fails f).
Proof. apply enclosed_and_true. Qed.
Theorem enclosure t v : justified t -> eval t = Some v -> exists x, means t x /\ contains v x.
Proof. intros J E. now apply (proj1 enclosed_and_true). Qed.
End Evaluation.

(** A term means one number at most, and no formula both holds and fails: so what is accepted is not refuted at other
  bits. *)
Lemma one_meaning :
  (forall t, (forall x y, means t x -> means t y -> x = y)) /\ (forall f, ~ (holds f /\ fails f)).
Proof.
  apply terms_formulas; cbn [means holds fails].
  all: try (intros a Ha b Hb x y [u [v [Mu [Mv ->]]]] [u' [v' [Mu' [Mv' ->]]]]; now rewrite (Ha u u'), (Hb v v')).
  all: try (intros a Ha b Hb x y [u [v [Mu [Mv [_ ->]]]]] [u' [v' [Mu' [Mv' [_ ->]]]]]; now rewrite (Ha u u'), (Hb v v')).
  all: try (intros a Ha x y [u [Mu ->]] [u' [Mu' ->]]; now rewrite (Ha u u')).
  all: try (intros a Ha x y [u [Mu [_ ->]]] [u' [Mu' [_ ->]]]; now rewrite (Ha u u')).
  - congruence.
  - intros f Hf a Ha b Hb x y [[F M]|[F M]] [[F' M']|[F' M']]; try (exfalso; apply Hf; now split); auto.
  - intros; congruence.
  - intros r a Ha b Hb [[u [v [Mu [Mv H]]]] [u' [v' [Mu' [Mv' H']]]]]. apply H'. now rewrite <- (Ha u u'), <- (Hb v v').
  - intros f Hf g Hg [[F G] [F'|G']]; auto.
  - intros f Hf g Hg [[F|G] [F' G']]; auto.
  - intros f Hf [F G]. auto.
  - tauto.
Qed.
Theorem never_both f : ~ (holds f /\ fails f). Proof. apply one_meaning. Qed.
