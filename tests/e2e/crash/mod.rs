//! Workers that die, freeze, are brought down by a job, or are asked to stop.

mod frozen;
mod killed;
mod poison;
mod stop;
mod zombie;
