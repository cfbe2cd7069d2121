//! Which addresses may be connected to.
//!
//! Names are resolved here and nowhere else, and the client connects to what this returns, so what is
//! checked is what is connected to: a name that resolves to something else a moment later gains nothing.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// An address of the public internet: nothing that is private, loopback, link-local, shared, reserved, for
/// documentation or many hosts at once, also not inside an IPv6 address that carries an IPv4 one.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let refused = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b));
    !refused
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let [a, b, ..] = segments;
    let inner = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    match (a, b) {
        // Translated (RFC 6052) and 6to4 addresses lead to the IPv4 address inside.
        (0x64, 0xff9b) if segments[2..6] == [0; 4] => is_public_v4(inner(segments[6], segments[7])),
        (0x64, 0xff9b) => false,
        (0x2002, _) => is_public_v4(inner(segments[1], segments[2])),
        // Teredo, benchmarking, ORCHID and other protocol assignments; documentation.
        (0x2001, ..0x200) | (0x2001, 0xdb8) | (0x3fff, ..0x1000) => false,
        // Only 2000::/3 is given out.
        _ => a & 0xe000 == 0x2000,
    }
}

/// No address of a name may be connected to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{host} is at a private or loopback address; BPC_WEBHOOK_ALLOW_PRIVATE=true allows those")]
pub(crate) struct AddressRefused {
    pub host: String,
}

/// Resolves names by the system, and leaves out what may not be connected to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guarded {
    pub allow_private: bool,
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let allow_private = self.allow_private;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let allowed: Vec<SocketAddr> =
                found.into_iter().filter(|it| allow_private || is_public(it.ip())).collect();
            if allowed.is_empty() {
                return Err(AddressRefused { host }.into());
            }
            let addresses: Addrs = Box::new(allowed.into_iter());
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_pass() {
        let public =
            ["93.184.216.34", "8.8.8.8", "100.128.0.1", "172.32.0.1", "2606:2800:220:1::1", "2a00::1"];
        let refused = [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.255.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "203.0.113.9",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "::127.0.0.1",
        ];
        for text in public {
            assert!(is_public(text.parse().expect(text)), "{text}");
        }
        for text in refused {
            assert!(!is_public(text.parse().expect(text)), "{text}");
        }
        assert!(is_public("::ffff:8.8.8.8".parse().expect("mapped")));
        assert!(is_public("64:ff9b::808:808".parse().expect("translated")));
    }
}
