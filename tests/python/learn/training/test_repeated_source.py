# SPDX-License-Identifier: Apache-2.0
"""A source that begins again: which batches it gives, also after a lost replica."""

from itertools import islice

from xshards.learn.training.source import Feed, RepeatedSource, Source


class Numbers(Source):
    """Three batches, named after the order's epoch and their number."""

    def open(self, adapter, descriptors, settings):
        return self

    def shares(self, feed):
        for number in range(feed.first_batch, 3):
            yield 2, 4, (feed.epoch % 1000, feed.epoch >> 40, number)


class Nothing(Numbers):
    def shares(self, feed):
        return iter(())


def feed_from(first_batch):
    return Feed(
        epoch=7,
        batch_size=4,
        shuffle=True,
        seed=1,
        rank=0,
        num_replicas=2,
        first_batch=first_batch,
    )


def batches(source, first_batch, count):
    opened = RepeatedSource(source, count).open(None, [], None)
    return [batch for *_, batch in islice(opened.shares(feed_from(first_batch)), count)]


def test_batches_begin_again_in_another_order():
    found = batches(Numbers(), 0, 7)
    orders = [visit for _, visit, _ in found]
    assert orders == [0, 0, 0, 1, 1, 1, 2]
    assert [number for *_, number in found] == [0, 1, 2, 0, 1, 2, 0]
    assert {epoch for epoch, *_ in found[:3]} == {7}


def test_a_replica_that_begins_later_sees_the_same_batches():
    whole = batches(Numbers(), 0, 8)
    assert batches(Numbers(), 5, 3) == whole[5:]


def test_a_source_without_batches_ends():
    assert batches(Nothing(), 0, 5) == []
