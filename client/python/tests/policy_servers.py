"""Small servers that speak the formats of OpenPI's and GR00T's policy servers, written from their descriptions, not with our packing."""

import asyncio
import io
import threading

import msgpack
import numpy as np


def _openpi_pack(value):
    def array(x):
        return {b"__ndarray__": True, b"data": x.tobytes(), b"dtype": x.dtype.str, b"shape": list(x.shape)}
    return msgpack.packb(value, default=array)


def _openpi_unpack(data):
    def array(x):
        return np.ndarray(buffer=x[b"data"], dtype=np.dtype(x[b"dtype"]), shape=x[b"shape"]) if b"__ndarray__" in x else x
    return msgpack.unpackb(data, object_hook=array)


class OpenPiServer:
    """answer: observation -> what is sent back: a map, text (an error), bytes, or None for silence."""

    def __init__(self, answer, api_key=None):
        self.answer, self.api_key, self.seen, self.headers = answer, api_key, [], None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self):
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _serve(self):
        import websockets.server
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with websockets.server.serve(self._talk, "127.0.0.1", 0, compression=None, max_size=None) as server:
            self.port = server.sockets[0].getsockname()[1]
            self._ready.set()
            await self._stop.wait()

    async def _talk(self, socket):
        self.headers = dict(socket.request_headers)
        if self.api_key is not None and self.headers.get("authorization") != f"Api-Key {self.api_key}":
            await socket.close(1008, "wrong key")
            return
        await socket.send(_openpi_pack({"model": "small", "image_size": 224}))
        async for message in socket:
            self.seen.append(_openpi_unpack(message))
            answer = self.answer(self.seen[-1])
            if answer is not None:
                await socket.send(answer if isinstance(answer, (str, bytes)) else _openpi_pack(answer))


def _gr00t_pack(value):
    def array(x):
        file = io.BytesIO()
        np.save(file, x, allow_pickle=False)
        return {"__ndarray_class__": True, "as_npy": file.getvalue()}
    return msgpack.packb(value, default=array)


def _gr00t_unpack(data):
    def array(x):
        return np.load(io.BytesIO(x["as_npy"]), allow_pickle=False) if "__ndarray_class__" in x else x
    return msgpack.unpackb(data, object_hook=array)


class Gr00tServer:
    """actions: observation -> (actions, info), or bytes to be sent as they are, or None for silence."""

    def __init__(self, actions, token=None):
        self.actions, self.token, self.requests = actions, token, []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._ready = threading.Event()

    def __enter__(self):
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_):
        self._stopping = True
        self._thread.join()

    def _serve(self):
        import zmq
        self._stopping = False
        context = zmq.Context()
        socket = context.socket(zmq.ROUTER)
        socket.setsockopt(zmq.LINGER, 0)
        self.port = socket.bind_to_random_port("tcp://127.0.0.1")
        self._ready.set()
        while not self._stopping:
            if not socket.poll(20):
                continue
            peer, _, message = socket.recv_multipart()
            answer = self._answer(_gr00t_unpack(message))
            if answer is not None:
                socket.send_multipart([peer, b"", answer if isinstance(answer, bytes) else _gr00t_pack(answer)])
        socket.close()
        context.term()

    def _answer(self, request):
        self.requests.append(request)
        if self.token is not None and request.get("api_token") != self.token:
            return {"error": "Unauthorized: Invalid API token"}
        endpoint = request.get("endpoint", "get_action")
        if endpoint == "ping":
            return {"status": "ok", "message": "Server is running"}
        if endpoint == "reset":
            return {}
        if endpoint == "get_action":
            return self.actions(request["data"]["observation"])
        return {"error": f"Unknown endpoint: {endpoint}"}
