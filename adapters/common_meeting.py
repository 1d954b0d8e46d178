"""Processes that train together, for frameworks that want to know of each of them where it listens."""

import fcntl
import json
import socket
import struct
import time

PATIENCE_S = 120


def interface_of(address):
    """The name of this host's network interface that has an address ("10.0.0.2"); "lo" where none has."""
    SIOCGIFADDR = 0x8915
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        for _, name in socket.if_nameindex():
            try:
                its = fcntl.ioctl(asker.fileno(), SIOCGIFADDR, struct.pack("256s", name.encode()))[20:24]
            except OSError:  # it has none
                continue
            if socket.inet_ntoa(its) == address:
                return name
    return "lo"


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
