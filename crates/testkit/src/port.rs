//! Choosing a loopback port nobody uses.

use std::net::{Ipv4Addr, TcpListener};
use std::ops::RangeInclusive;

use crate::random;

/// Where the kernel says which ports it hands to outgoing connections.
const OUTGOING_RANGE: &str = "/proc/sys/net/ipv4/ip_local_port_range";

/// A port that was free a moment ago, outside the range of outgoing connections where possible.
///
/// Inside that range a stopped server can lose its port: clients that keep reconnecting are sooner
/// or later given the very port they dial as their own and connect to themselves.
pub(crate) fn free() -> u16 {
    if let Some(range) = beside_outgoing() {
        let width = u64::from(range.end() - range.start()) + 1;
        for _ in 0..100 {
            let offset = u16::try_from(random::number() % width).expect("a width of ports");
            if let Ok(port) = bind(range.start() + offset) {
                return port;
            }
        }
    }
    bind(0).expect("a free loopback port")
}

fn bind(port: u16) -> std::io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    Ok(listener.local_addr()?.port())
}

fn beside_outgoing() -> Option<RangeInclusive<u16>> {
    let text = std::fs::read_to_string(OUTGOING_RANGE).ok()?;
    let mut bounds = text.split_whitespace().map(str::parse::<u16>);
    let (low, high) = (bounds.next()?.ok()?, bounds.next()?.ok()?);
    if low > 12_000 {
        Some(10_000..=low - 1)
    } else if high < 63_000 {
        Some(high + 1..=u16::MAX)
    } else {
        None
    }
}
