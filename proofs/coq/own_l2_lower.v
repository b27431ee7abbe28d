(** own:l2-lower.  m equal tokens and N = m^2/4 others in orthogonal directions at the distance r, y = e^(-r^2) = 2/m.
Attention by distances gives the equal
    tokens c from one of them, o from another one; so |P u|^2/|u|^2 = (m c^2 + N o^2)/m for u their indicator,
      at least m/16 + 4/9 [crowd]. *)
Require Import Reals Lra Psatz.
Local Open Scope R_scope.

Theorem crowd m : 4 <= m -> let N := m * m / 4 in let y := 2 / m in
  let c := m / (m + N * y) in let o := m * y / (m * y + 1 + (N - 1) * (y * y)) in
  m / 16 + 4 / 9 <= (m * (c * c) + N * (o * o)) / m.
Proof.
  intros Hm N y c o. assert (Ec : c = 2 / 3) by (unfold c, N, y; field; lra).
  assert (D : 0 < m * m - 1) by nra.
  assert (Eo : o = m * m / (2 * (m * m - 1))).
  { unfold o, N, y. replace (m * (2 / m) + 1 + (m * m / 4 - 1) * (2 / m * (2 / m))) with (4 * (m * m - 1) / (m * m)) by
      (field; lra). field. repeat split; nra. }
  assert (Ho : 1 / 2 <= o).
  { rewrite Eo. apply Rmult_le_reg_r with (2 * (m * m - 1)); [lra|].
    replace (m * m / (2 * (m * m - 1)) * (2 * (m * m - 1))) with (m * m) by (field; lra). lra. }
  rewrite Ec. replace ((m * (2 / 3 * (2 / 3)) + N * (o * o)) / m) with (4 / 9 + m / 4 * (o * o)) by (unfold N; field;
    lra).
  assert (1 / 4 <= o * o) by nra. nra.
Qed.
