"""Processes that train together, for frameworks that want to know of each of them where it listens."""

import json
import socket
import time

PATIENCE_S = 120


def share_places(rank, world, rendezvous):
    """"127.0.0.1:PORT" of every rank. All ports are held until all are known, so that they differ; from then on this one's own
    is free for its server."""
    host, port = rendezvous.rsplit(":", 1)
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        own = "127.0.0.1:%d" % holder.getsockname()[1]
        return gather((host, int(port)), own, world) if rank == 0 else tell((host, int(port)), rank, own)


def gather(place, own, world):
    """Rank 0 hears where the others are, and tells all."""
    places, connections = [own] + [None] * (world - 1), []
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.settimeout(PATIENCE_S)
        server.bind(place)
        server.listen(world)
        while None in places:
            connection, _ = server.accept()
            connection.settimeout(PATIENCE_S)
            with connection.makefile("r") as lines:
                rank, its = json.loads(lines.readline())
            places[rank] = its
            connections.append(connection)
        for connection in connections:
            with connection:
                connection.sendall(json.dumps(places).encode() + b"\n")
    return places


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
