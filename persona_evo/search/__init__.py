"""Tree search over compiled rules, planners, agents and proofs."""
