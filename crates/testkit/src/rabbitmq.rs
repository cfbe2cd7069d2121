//! A private RabbitMQ server.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::account::Account;
use crate::guarded::Guarded;
use crate::guardian::LastWord;
use crate::port;
use crate::random;
use crate::scratch::Scratch;

/// Where Debian's package puts the server, without the wrapper that insists on one account.
const SERVER: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";

/// How long the server may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(120);

/// A RabbitMQ server with its own directory, ports and name registry.
///
/// It keeps its ports and durable messages from one start to the next. Dropping it stops the
/// server and deletes everything.
pub struct Broker {
    account: Account,
    node: String,
    amqp_port: u16,
    distribution_port: u16,
    registry_port: u16,
    server: Mutex<Option<Guarded>>,
    registry: Mutex<Option<Guarded>>,
    directory: Scratch,
}

impl Broker {
    /// Creates a broker and starts it, which takes some seconds.
    ///
    /// # Panics
    ///
    /// When RabbitMQ is not installed or does not start.
    pub fn launch() -> Self {
        let broker = Self {
            account: Account::of_server("rabbitmq"),
            node: format!("bpc-{}@localhost", random::hex()),
            amqp_port: port::free(),
            distribution_port: port::free(),
            registry_port: port::free(),
            server: Mutex::new(None),
            registry: Mutex::new(None),
            directory: Scratch::new("mq"),
        };
        let plugins = broker.directory.path().join("enabled_plugins");
        std::fs::write(&plugins, "[].\n").expect("the list of plugins is writable");
        broker.account.own(&plugins);
        for name in ["mnesia", "log"] {
            broker.account.own(&broker.directory.subdirectory(name));
        }
        broker.account.own(broker.directory.path());
        broker.start();
        broker
    }

    /// The one broker that tests of this process share, started when the first of them asks.
    ///
    /// Only for tests that do not stop it and choose names nobody else chooses.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Broker> = OnceLock::new();
        SHARED.get_or_init(Self::launch)
    }

    /// Starts the server on the port it always had, and waits until it talks AMQP.
    ///
    /// # Panics
    ///
    /// When it does not come up, with its log.
    pub fn start(&self) {
        let mut slot = lock(&self.server);
        if slot.is_some() {
            return;
        }
        self.start_registry();
        let mut server = self.spawn(&mut self.program(SERVER));
        let deadline = Instant::now() + PATIENCE;
        while !self.talks() {
            let ended = server.try_wait().is_some();
            if ended || Instant::now() > deadline {
                panic!("RabbitMQ did not start:\n{}", self.log());
            }
            sleep(Duration::from_millis(50));
        }
        *slot = Some(server);
    }

    /// Stops the server in order, and waits until it is gone.
    pub fn stop(&self) {
        if let Some(mut server) = lock(&self.server).take() {
            server.signal(Signal::SIGTERM);
            server.wait(PATIENCE);
        }
    }

    /// The address of the default virtual host, with the user `guest`.
    pub fn url(&self) -> String {
        format!("amqp://guest:guest@127.0.0.1:{}/%2f", self.amqp_port)
    }

    /// The loopback port of AMQP.
    pub fn port(&self) -> u16 {
        self.amqp_port
    }

    /// What the server has printed since it was first started.
    pub fn log(&self) -> String {
        let log = std::fs::read(self.directory.path().join("output")).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    /// The registry in which Erlang nodes find each other; one of our own leaves others alone.
    fn start_registry(&self) {
        let mut slot = lock(&self.registry);
        if slot.is_none() {
            let mut command = self.program("epmd");
            let port = self.registry_port.to_string();
            command.args(["-address", "127.0.0.1", "-port", &port]);
            *slot = Some(self.spawn(&mut command));
        }
    }

    fn spawn(&self, command: &mut Command) -> Guarded {
        let output = File::options()
            .create(true)
            .append(true)
            .open(self.directory.path().join("output"))
            .expect("the server's output is writable");
        command
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("a second handle on the output"))
            .stderr(output);
        let spawned = Guarded::spawn(command, LastWord::Kill);
        spawned.expect("RabbitMQ runs: install the package rabbitmq-server")
    }

    fn program(&self, name: &str) -> Command {
        let directory = self.directory.path();
        let loopback = "-kernel inet_dist_use_interface {127,0,0,1}";
        let mut command = Command::new(name);
        command
            .current_dir(directory)
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("LANG", "C.UTF-8")
            .env("HOME", directory)
            .env("ERL_EPMD_ADDRESS", "127.0.0.1")
            .env("ERL_EPMD_PORT", self.registry_port.to_string())
            .env("RABBITMQ_NODENAME", &self.node)
            .env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1")
            .env("RABBITMQ_NODE_PORT", self.amqp_port.to_string())
            .env("RABBITMQ_DIST_PORT", self.distribution_port.to_string())
            .env("RABBITMQ_MNESIA_BASE", directory.join("mnesia"))
            .env("RABBITMQ_LOG_BASE", directory.join("log"))
            .env("RABBITMQ_PID_FILE", directory.join("rabbitmq.pid"))
            .env("RABBITMQ_ENABLED_PLUGINS_FILE", directory.join("enabled_plugins"))
            .env("RABBITMQ_CONFIG_FILE", directory.join("none"))
            .env("RABBITMQ_CONF_ENV_FILE", directory.join("none"))
            .env("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", loopback);
        self.account.apply(&mut command);
        command
    }

    /// Whether something answers the protocol header with the first frame of a connection.
    fn talks(&self) -> bool {
        let greet = || -> std::io::Result<bool> {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.amqp_port));
            let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
            stream.set_read_timeout(Some(Duration::from_secs(5)))?;
            stream.write_all(b"AMQP\x00\x00\x09\x01")?;
            let mut frame_type = [0];
            stream.read_exact(&mut frame_type)?;
            Ok(frame_type == [1])
        };
        greet().unwrap_or(false)
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        // The data is deleted next, so an orderly stop would be time lost.
        lock(&self.server).take();
        lock(&self.registry).take();
    }
}

fn lock(slot: &Mutex<Option<Guarded>>) -> MutexGuard<'_, Option<Guarded>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
