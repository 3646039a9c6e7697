"""Tasks that wait for the disk: their order, how many may wait, and what comes of one that fails."""

import errno
import threading
import time

import pytest

import eipc
from eipc.disk_queue import MOST_WAITING, DiskQueue


def test_tasks_are_done_in_their_order():
    done, disk = [], DiskQueue()
    for k in range(3 * MOST_WAITING):
        disk.put(lambda k=k: done.append(k))
    disk.flush()
    assert done == list(range(3 * MOST_WAITING))
    disk.close()
    disk.close()  # again
    disk.put(lambda: done.append("more"))
    disk.close()
    assert done[-1] == "more"


def test_no_more_than_some_tasks_wait():
    disk, gate, tasks = DiskQueue(), threading.Semaphore(0), 5 * MOST_WAITING
    begun, backlog = [], []

    def give():
        for k in range(tasks):
            begun.append(k)
            disk.put(lambda k=k: (gate.acquire(), backlog.append(len(begun) - k)))

    giver = threading.Thread(target=give)
    giver.start()
    while len(begun) < MOST_WAITING + 2:  # one is being done, MOST_WAITING wait, and one is being given
        time.sleep(0)
    for _ in range(tasks):
        gate.release()
    giver.join()
    disk.flush()
    # Another task may be taken from the queue, and one given, while a task that is done is counted.
    assert MOST_WAITING + 2 <= max(backlog) <= MOST_WAITING + 4
    disk.close()


def test_a_failure_is_said_by_every_later_call_and_ends_the_work():
    disk, done, gate = DiskQueue(), [], threading.Event()

    def fail():
        raise OSError(errno.ENOSPC, "No space left on device")

    for task in (gate.wait, fail, lambda: done.append("waited behind the one that failed")):
        disk.put(task)
    gate.set()
    for call in (disk.flush, disk.check, lambda: disk.put(lambda: done.append("given later")), disk.flush):
        with pytest.raises(eipc.EpisodeError, match="could not be put on the disk .*No space left"):
            call()
    disk.close()
    assert done == []
