//! A connection for copying rows out, and for nothing else: they are read from the socket straight to where they stay.
//!
//! The driver that does everything else reads 8 KiB at a time, copies every row twice more and polls for each of them.
//! That was a tenth of what verify costs.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use bytes::BytesMut;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;

use crate::error::StoreError;
use crate::postgres::classify;

/// A session of the server.
pub(super) struct Wire {
    socket: Box<dyn Socket>,
    /// What was received and not yet looked at.
    received: BytesMut,
}

trait Socket: Read + Write + Send {}

impl<T: Read + Write + Send> Socket for T {}

/// How much is read at once, before rows come.
const RECEIVE: usize = 8 * 1024;

impl Wire {
    /// Begin a session as the pool does. Where that needs an encrypted connection, the pool has failed before.
    pub(super) fn connect(options: &PgConnectOptions) -> Result<Self, StoreError> {
        let mut wire = Wire { socket: socket(options)?, received: BytesMut::new() };
        let database = options.get_database().unwrap_or(options.get_username());
        let mut parameters =
            vec![("user", options.get_username()), ("database", database), ("client_encoding", "UTF8")];
        parameters.extend(options.get_application_name().map(|name| ("application_name", name)));
        parameters.extend(options.get_options().map(|options| ("options", options)));
        wire.send(|message| frontend::startup_message(parameters, message))?;
        wire.authenticate(options)?;
        Ok(wire)
    }

    /// Run statements that return nothing.
    pub(super) fn execute(&mut self, sql: &str) -> Result<(), StoreError> {
        self.send(|message| frontend::query(sql, message))?;
        self.until_ready()
    }

    /// Begin to copy out. What follows is for [`Wire::read`].
    pub(super) fn copy_out(&mut self, sql: &str) -> Result<(), StoreError> {
        self.send(|message| frontend::query(sql, message))?;
        loop {
            match self.receive()? {
                Message::CopyOutResponse(_) => return Ok(()),
                Message::NoticeResponse(_) | Message::ParameterStatus(_) => {}
                _ => return Err(unexpected()),
            }
        }
    }

    /// Read what the server sends, as much as there is and fits.
    pub(super) fn read(&mut self, to: &mut [u8]) -> Result<usize, StoreError> {
        let count = if self.received.is_empty() {
            self.socket.read(to).map_err(lost)?
        } else {
            let count = self.received.len().min(to.len());
            to[..count].copy_from_slice(&self.received.split_to(count));
            count
        };
        if count == 0 { Err(lost(io::ErrorKind::UnexpectedEof.into())) } else { Ok(count) }
    }

    /// Say goodbye.
    pub(super) fn close(mut self) -> Result<(), StoreError> {
        self.send(|message| {
            frontend::terminate(message);
            Ok(())
        })
    }

    fn authenticate(&mut self, options: &PgConnectOptions) -> Result<(), StoreError> {
        let password = password(options);
        let mut scram = None;
        loop {
            match self.receive()? {
                Message::AuthenticationOk => return self.until_ready(),
                Message::AuthenticationCleartextPassword => {
                    self.send(|message| frontend::password_message(&password, message))?;
                }
                Message::AuthenticationMd5Password(body) => {
                    let hash = md5_hash(options.get_username().as_bytes(), &password, body.salt());
                    self.send(|message| frontend::password_message(hash.as_bytes(), message))?;
                }
                Message::AuthenticationSasl(_) => {
                    let first = ScramSha256::new(&password, ChannelBinding::unsupported());
                    self.send(|message| {
                        frontend::sasl_initial_response(SCRAM_SHA_256, first.message(), message)
                    })?;
                    scram = Some(first);
                }
                Message::AuthenticationSaslContinue(body) => {
                    let scram = scram.as_mut().ok_or_else(unexpected)?;
                    scram.update(body.data()).map_err(lost)?;
                    self.send(|message| frontend::sasl_response(scram.message(), message))?;
                }
                Message::AuthenticationSaslFinal(body) => {
                    scram.as_mut().ok_or_else(unexpected)?.finish(body.data()).map_err(lost)?;
                }
                _ => return Err(unexpected()),
            }
        }
    }

    fn until_ready(&mut self) -> Result<(), StoreError> {
        while !matches!(self.receive()?, Message::ReadyForQuery(_)) {}
        Ok(())
    }

    fn send(&mut self, write: impl FnOnce(&mut BytesMut) -> io::Result<()>) -> Result<(), StoreError> {
        let mut message = BytesMut::new();
        write(&mut message).and_then(|()| self.socket.write_all(&message)).map_err(lost)
    }

    /// The next message; if it tells of an error, that one.
    fn receive(&mut self) -> Result<Message, StoreError> {
        loop {
            if self.received.first() == Some(&ERROR)
                && let Some(error) = server_error(&self.received)
            {
                return Err(error);
            }
            if let Some(message) = Message::parse(&mut self.received).map_err(lost)? {
                return Ok(message);
            }
            let before = self.received.len();
            self.received.resize(before + RECEIVE, 0);
            let count = self.socket.read(&mut self.received[before..]).map_err(lost)?;
            self.received.truncate(before + count);
            if count == 0 {
                return Err(lost(io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }
}

/// The first byte of a message that tells of an error.
pub(super) const ERROR: u8 = b'E';

/// What a message at the beginning of these bytes tells of, which is an error; `None` if it is not all there.
pub(super) fn server_error(bytes: &[u8]) -> Option<StoreError> {
    let length = u32::from_be_bytes(*bytes.get(1..)?.first_chunk()?) as usize;
    let fields = bytes.get(5..1 + length)?;
    // Each begins with a letter and ends with a zero.
    let field = |kind: u8| {
        let field = fields.split(|byte| *byte == 0).find(|field| field.first() == Some(&kind));
        field.map_or_else(String::new, |field| String::from_utf8_lossy(&field[1..]).into_owned())
    };
    let code = field(b'C');
    let told = sqlx::Error::Protocol(format!("{} (SQLSTATE {code})", field(b'M')));
    Some(classify(&code, told))
}

/// The server sent what it should not.
pub(super) fn unexpected() -> StoreError {
    lost(io::Error::new(io::ErrorKind::InvalidData, "the server sent something unexpected"))
}

fn lost(error: io::Error) -> StoreError {
    sqlx::Error::Io(error).into()
}

fn socket(options: &PgConnectOptions) -> Result<Box<dyn Socket>, StoreError> {
    let (host, port) = (options.get_host(), options.get_port());
    let directory = options.get_socket().cloned().or_else(|| host.starts_with('/').then(|| host.into()));
    if let Some(directory) = directory {
        let socket = UnixStream::connect(directory.join(format!(".s.PGSQL.{port}")));
        return Ok(Box::new(socket.map_err(lost)?));
    }
    // As in a URL, an address of IPv6 may stand in brackets.
    let socket = TcpStream::connect((host.trim_matches(['[', ']']), port)).map_err(lost)?;
    socket.set_nodelay(true).map_err(lost)?;
    Ok(Box::new(socket))
}

/// The password, which options give out as part of a URL only.
fn password(options: &PgConnectOptions) -> Vec<u8> {
    // Any host and user that are easily written; what they are is known.
    let url = options.clone().host("localhost").username("user").to_url_lossy();
    percent_decoded(url.password().unwrap_or_default().as_bytes())
}

fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let (mut decoded, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|_| *first == b'%').and_then(|digits| hex::decode(digits).ok());
        match digits {
            Some(byte) => {
                decoded.extend(byte);
                rest = &behind[2..];
            }
            None => {
                decoded.push(*first);
                rest = behind;
            }
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_found_whatever_is_in_it() {
        for text in ["", "secret", "a:b@c/d?e%20f#[]", "pässwörd €", "100%"] {
            let options = PgConnectOptions::new_without_pgpass().host("::1").username("a@b").password(text);
            assert_eq!(password(&options), text.as_bytes());
            assert_eq!(password(&options.socket("/tmp/a b")), text.as_bytes());
        }
    }

    #[test]
    fn an_error_is_told_with_its_code_once_it_is_all_there() {
        let fields = b"SERROR\0C57P01\0Mgoing down\0\0";
        let length = (fields.len() as u32 + 4).to_be_bytes();
        let message = [b"E", &length[..], fields].concat();
        assert!((0..message.len()).all(|end| server_error(&message[..end]).is_none()));
        let error = server_error(&message).unwrap();
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    }
}
