//! The rules language: parser, type and unit checker, evaluator, and the gate for rule tests.
