//! A bar on stderr while something long goes on. Off a terminal, and with `--json`, there is none.

use std::fmt::Write;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::output::{Output, count};

/// Redraw this often even when nothing is reported, so that the clock moves.
const TICK: Duration = Duration::from_millis(120);

/// A bar up to `total`, with rate and time left.
pub fn bar(output: &Output, what: &'static str, total: u64) -> ProgressBar {
    let style = "{prefix:<10} {wide_bar:.dim} {human_pos} of {human_len}  {rate}  {eta} left";
    started(output, ProgressBar::new(total.max(1)), style, what)
}

/// A bar up to a total that may still grow.
pub fn tally(output: &Output, what: &'static str) -> ProgressBar {
    started(output, ProgressBar::new(1), "{prefix:<10} {wide_bar:.dim} {human_pos} of {human_len}", what)
}

/// For work whose end is not known.
pub fn spinner(output: &Output, what: &'static str) -> ProgressBar {
    started(output, ProgressBar::new_spinner(), "{prefix:<10} {spinner} {elapsed} {msg}", what)
}

fn started(output: &Output, bar: ProgressBar, style: &str, what: &'static str) -> ProgressBar {
    // On anything but a terminal, indicatif itself draws nothing.
    bar.set_draw_target(if output.is_json() {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    });
    let rate = |state: &ProgressState, text: &mut dyn Write| {
        let _ = write!(text, "{}/s", count(state.per_sec() as u64));
    };
    let style = ProgressStyle::with_template(style).expect("the template is valid");
    bar.set_style(style.with_key("rate", rate));
    bar.set_prefix(what);
    bar.enable_steady_tick(TICK);
    bar
}
