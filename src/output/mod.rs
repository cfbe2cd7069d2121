//! What the program prints: text for people, or one JSON object per line.

mod paint;
mod table;
mod text;

use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::Mutex;

use serde::Serialize;
use serde_json::json;

use crate::error::{Exit, Failure};

pub use paint::{ColorWhen, Paint};
pub use table::Table;
pub use text::{count, moment, per_second, span};

/// Where results go.
///
/// A reader that goes away (`bpc jobs list | head`) ends the printing, never the work: what a command
/// was asked to do does not depend on who looks.
pub struct Output {
    json: bool,
    color: ColorWhen,
    paint: Paint,
    failed: Mutex<Option<std::io::Error>>,
}

impl Output {
    /// To stdout.
    pub fn new(json: bool, color: ColorWhen) -> Self {
        let paint = Paint::new(color.on(std::io::stdout().is_terminal()));
        Output { json, color, paint, failed: Mutex::new(None) }
    }

    /// Is JSON wanted?
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Colours for what is printed.
    pub fn paint(&self) -> Paint {
        self.paint
    }

    /// May logs and errors be coloured?
    pub fn colour_on_stderr(&self) -> bool {
        self.color.on(std::io::stderr().is_terminal())
    }

    /// One JSON object, if JSON is wanted; otherwise what `text` prints.
    pub fn result(&self, object: &impl Serialize, text: impl FnOnce(&Self)) {
        if self.json {
            self.write(&serde_json::to_string(object).expect("results have text keys"));
        } else {
            text(self);
        }
    }

    /// Text that is the result itself, whether or not JSON is wanted.
    pub fn text(&self, text: &str) {
        self.write(text);
    }

    /// A line for people; nothing if JSON is wanted.
    pub fn line(&self, line: impl Display) {
        if !self.json {
            self.write(&line.to_string());
        }
    }

    /// Bytes of a document, as they are, whatever form results have.
    pub fn document(&self, bytes: &[u8]) {
        let mut failed = self.failed.lock().expect("no panic while held");
        if failed.is_none() {
            let mut stdout = std::io::stdout().lock();
            *failed = stdout.write_all(bytes).and_then(|()| stdout.flush()).err();
        }
    }

    /// Can nothing be printed any more?
    pub fn is_closed(&self) -> bool {
        self.failed.lock().expect("no panic while held").is_some()
    }

    /// A remark that is no result, on stderr.
    pub fn remark(&self, remark: impl Display) {
        if !self.json {
            let _ = writeln!(std::io::stderr(), "{remark}");
        }
    }

    /// Why a command failed, on stderr.
    pub fn failure(&self, failure: &Failure) {
        let Failure { code, message, .. } = failure;
        let line = if self.json {
            json!({"error": {"code": code, "message": message}}).to_string()
        } else {
            let paint = Paint::new(self.colour_on_stderr());
            format!("{}: {message}", paint.bad(format!("error[{code}]")))
        };
        // If even this cannot be written, the exit code still tells.
        let _ = writeln!(std::io::stderr(), "{line}");
    }

    /// The exit code, after all is printed. A full disk is worth a word, a reader that left is not.
    pub fn finish(&self, exit: Exit) -> Exit {
        match &*self.failed.lock().expect("no panic while held") {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => {
                let message = format!("the output could not be written: {error}");
                self.failure(&Failure::wrong_use("OUTPUT_FAILED", message));
                Exit::WrongUse
            }
            _ => exit,
        }
    }

    fn write(&self, line: &str) {
        let mut failed = self.failed.lock().expect("no panic while held");
        if failed.is_none() {
            *failed = writeln!(std::io::stdout().lock(), "{line}").err();
        }
    }
}
