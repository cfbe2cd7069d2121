//! Values as documents, facts and rules share them: exact, typed, with one spelling each.
