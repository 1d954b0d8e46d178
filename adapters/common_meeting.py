"""Processes that train together, for frameworks that want to know of each of them where it listens."""

import array
import fcntl
import json
import os
import socket
import struct
import time

from common_channel import BuildFailed

PATIENCE_S = 120


def addresses():
    """(interface, address of IPv4) of this host, as ("eth0", "10.0.0.2"); an interface has as many as it has. Where an address was
    given a label of its own ("eth0:1"), the kernel says that for the interface."""
    SIOCGIFCONF, ROOM = 0x8912, 1 << 16
    entry = struct.Struct("16s4x4s%dx" % (struct.calcsize("2LHBBB0L") - 8))  # struct ifreq with a struct sockaddr_in
    told = array.array("B", bytes(ROOM))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        size, _ = struct.unpack("iP", fcntl.ioctl(asker.fileno(), SIOCGIFCONF, struct.pack("iP", ROOM, told.buffer_info()[0])))
    return [(name.partition(b"\0")[0].decode(), socket.inet_ntoa(address)) for name, address in entry.iter_unpack(told.tobytes()[:size])]


def interface_of(address, variable):
    """The network interface by which this host has an address; `variable` is what says another."""
    if address.startswith("127."):  # all of 127.0.0.0/8, of which an interface lists one
        return "lo"
    for interface, its in addresses():
        if its == address:
            return interface
    raise BuildFailed("no network interface of this host has the address %s: say with env.%s which one leads to the other hosts, or name the "
                      "host's own address in hosts" % (address, variable))


def name_interface(address):
    """For gloo, unless its own variable says which."""
    if "GLOO_SOCKET_IFNAME" not in os.environ:
        os.environ["GLOO_SOCKET_IFNAME"] = interface_of(address, "GLOO_SOCKET_IFNAME")


def share_places(plan):
    """"ADDRESS:PORT" of every rank. All ports are held until all are known, so that they differ; from then on this one's own
    is free for its server."""
    with socket.socket() as holder:
        holder.bind((plan.address, 0))
        return share(plan, "%s:%d" % (plan.address, holder.getsockname()[1]))


def share(plan, own):
    """What each rank has to tell the others, anything that JSON has: a list, by rank."""
    host, port = plan.rendezvous.rsplit(":", 1)
    return gather((host, int(port)), own, plan.world) if plan.rank == 0 else tell((host, int(port)), plan.rank, own)


def gather(place, own, world):
    """Rank 0 hears the others, and tells all."""
    told, connections = [own] + [None] * (world - 1), []
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.settimeout(PATIENCE_S)
        server.bind(place)
        server.listen(world)
        while len(connections) < world - 1:
            connection, _ = server.accept()
            connection.settimeout(PATIENCE_S)
            with connection.makefile("r") as lines:
                rank, told[rank] = json.loads(lines.readline())
            connections.append(connection)
        for connection in connections:
            with connection:
                connection.sendall(json.dumps(told).encode() + b"\n")
    return told


def tell(place, rank, own):
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            connection = socket.create_connection(place, timeout=PATIENCE_S)
            break
        except ConnectionRefusedError:  # rank 0 does not listen yet
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
    with connection, connection.makefile("r") as lines:
        connection.sendall(json.dumps([rank, own]).encode() + b"\n")
        return json.loads(lines.readline())
