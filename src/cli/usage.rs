//! From the arguments as typed to the ones meant, or to a usage error in the form that was asked for.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ColorChoice, CommandFactory, FromArgMatches};

use super::Cli;
use crate::error::{Exit, Failure};
use crate::output::{ColorWhen, Output};
use crate::packs;

/// The arguments of this process. On `Err` everything has been said, and the program ends.
pub fn parse() -> Result<(Cli, Output), ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // Usage errors come before there is anything parsed to ask.
    let when = color(&arguments);
    let output = Output::new(says(&arguments, "--json"), when);
    let choice = match when {
        ColorWhen::Auto => ColorChoice::Auto,
        ColorWhen::Always => ColorChoice::Always,
        ColorWhen::Never => ColorChoice::Never,
    };
    let matches = command().color(choice).try_get_matches_from(&arguments);
    match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => {
            let output = Output::new(cli.global.json, cli.global.color);
            Ok((cli, output))
        }
        Err(error) => Err(explain(&error, &output)),
    }
}

/// The arguments, with the job types that the packs have.
fn command() -> clap::Command {
    let help = format!(
        "Job types:\n{}\nExamples:\n  bpc enqueue DRILL_NOOP --delay 10s --json\n  \
         bpc enqueue DRILL_NOOP --payload @order.json --key order-4711",
        packs::types_help()
    );
    Cli::command().mut_subcommand("enqueue", |enqueue| enqueue.after_help(help))
}

fn explain(error: &clap::Error, output: &Output) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A reader that went away has seen enough.
            let _ = error.print();
            Exit::Done.into()
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !output.is_json() => {
            let _ = error.print();
            Exit::WrongUse.into()
        }
        kind => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
            // The first paragraph says what is wrong, the others repeat the usage.
            let message = match (kind, output.is_json()) {
                (ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, _) => "a command is missing".to_owned(),
                (_, true) => text.split("\n\n").next().unwrap_or(text).replace("\n ", ""),
                (_, false) => text.to_owned(),
            };
            output.failure(&Failure::usage(message));
            Exit::WrongUse.into()
        }
    }
}

fn says(arguments: &[OsString], flag: &str) -> bool {
    arguments.iter().skip(1).take_while(|it| *it != "--").any(|it| it == flag)
}

fn color(arguments: &[OsString]) -> ColorWhen {
    let text: Vec<&str> = arguments.iter().filter_map(|it| it.to_str()).collect();
    let joined = text.iter().find_map(|it| it.strip_prefix("--color="));
    let apart = text.iter().position(|it| *it == "--color").and_then(|at| text.get(at + 1)).copied();
    match joined.or(apart) {
        Some("always") => ColorWhen::Always,
        Some("never") => ColorWhen::Never,
        _ => ColorWhen::Auto,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound_and_every_command_has_an_example() {
        let mut command = command();
        command.build();
        check_examples(&command);
        command.debug_assert();
    }

    fn check_examples(command: &clap::Command) {
        for command in command.get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("bpc "), "{} has no example", command.get_name());
            check_examples(command);
        }
    }
}
