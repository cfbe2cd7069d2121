//! A RabbitMQ broker of one's own.

use std::net::TcpStream;

use bpc_testkit::rabbitmq::Broker;

#[test]
fn it_starts_stops_and_starts_again_on_the_same_port() {
    let broker = Broker::launch();
    let address = ("127.0.0.1", broker.port());
    assert!(broker.url().contains(&broker.port().to_string()));
    TcpStream::connect(address).unwrap();
    broker.stop();
    assert!(TcpStream::connect(address).is_err());
    broker.start();
    TcpStream::connect(address).unwrap();
}
