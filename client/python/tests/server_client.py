"""The `client` of modules whose `server` is a real one: they import this fixture."""

import pytest


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client
