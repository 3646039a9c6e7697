"""Overrides of a scene for each way in which friction is solved, by the names that pages give them."""

IMPLICIT = ("contact.friction_mode=IMPLICIT",)
LAGGED, LAGGED_2, LAGGED_5 = ((f"contact.friction_lag_iterations={n}",) for n in (1, 2, 5))
LAGGED_UNTIL_CONVERGED = ("contact.friction_mode=LAGGED_UNTIL_CONVERGED",)
