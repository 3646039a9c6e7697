#!/usr/bin/python3
"""A relay for TCP that holds every piece of data for a while, in both directions: a network with delay, where the kernel has no netem.

farm_relay.py LISTEN_HOST:PORT TARGET_HOST:PORT DELAY_S JITTER_S SEED; says "ready" when it listens.
"""

from __future__ import annotations

import asyncio
import random
import sys


class DelayRelay:
    """Connections to `listen` go on to `target`, with delay_s ± jitter_s in each direction; what came first goes on first."""

    def __init__(self, target: tuple[str, int], delay_s: float, jitter_s: float, seed: int) -> None:
        self._target, self._delay, self._jitter = target, delay_s, jitter_s
        self._draw = random.Random(seed)

    async def serve(self, listen: tuple[str, int]) -> None:
        server = await asyncio.start_server(self._connected, *listen)
        print("ready", flush=True)
        async with server:
            await server.serve_forever()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, onward = await asyncio.open_connection(*self._target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self._carry(reader, onward), self._carry(there, writer))

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held: "asyncio.Queue[tuple[float, bytes]]" = asyncio.Queue()
        sender = asyncio.ensure_future(self._release(held, writer))
        clock = asyncio.get_running_loop().time
        try:
            while data := await reader.read(1 << 16):
                held.put_nowait((clock() + self._delay + self._draw.uniform(-self._jitter, self._jitter), data))
        except OSError:
            pass
        held.put_nowait((0.0, b""))
        await sender

    async def _release(self, held: "asyncio.Queue[tuple[float, bytes]]", writer: asyncio.StreamWriter) -> None:
        clock = asyncio.get_running_loop().time
        try:
            while (entry := await held.get())[1]:
                await asyncio.sleep(max(0.0, entry[0] - clock()))
                writer.write(entry[1])
                await writer.drain()
        except OSError:
            pass
        writer.close()


def address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


if __name__ == "__main__":
    listen, target, delay, jitter, seed = sys.argv[1:]
    asyncio.run(DelayRelay(address(target), float(delay), float(jitter), int(seed)).serve(address(listen)))
