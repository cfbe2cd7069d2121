//! What a program left behind.

use serde_json::Value;

/// The exit code and everything printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The exit code; 128 and the signal's number after death by a signal.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Output {
    /// Itself, if the program succeeded.
    ///
    /// # Panics
    ///
    /// When the exit code is not 0, with everything printed.
    #[track_caller]
    pub fn expect_success(self) -> Self {
        self.expect_code(0)
    }

    /// Itself, if the program ended with `code`.
    ///
    /// # Panics
    ///
    /// When it ended with another, with everything printed.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        let Self { stdout, stderr, .. } = &self;
        assert_eq!(self.code, code, "unexpected exit code; stdout:\n{stdout}\nstderr:\n{stderr}");
        self
    }

    /// Standard output as one JSON value.
    ///
    /// # Panics
    ///
    /// When it is not one, with everything printed.
    #[track_caller]
    pub fn json(&self) -> Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("not JSON: {error}\n{}\n{}", self.stdout, self.stderr),
        }
    }

    /// Each line of standard output as a JSON value.
    ///
    /// # Panics
    ///
    /// When a line is not one, with that line.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        let mut values = Vec::new();
        for line in self.stdout.lines() {
            match serde_json::from_str(line) {
                Ok(value) => values.push(value),
                Err(error) => panic!("not JSON: {error}\n{line}\n{}", self.stderr),
            }
        }
        values
    }
}
