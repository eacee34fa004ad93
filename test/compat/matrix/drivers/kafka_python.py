"""The driver of python3-kafka: see the contract in ../driver.ts. The first argument is the version
that it takes the broker for: auto, newest, 0.8.1, 0.9 or 0.10. Before 0.9 there were no members of
groups, before 0.10.1 no calls to create and delete topics."""

import sys
import threading
import time
import traceback

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.structs import OffsetAndMetadata

VERSIONS = {"auto": None, "0.8.1": (0, 8, 1), "0.9": (0, 9), "0.10": (0, 10), "newest": (2, 5, 0)}
ASSIGNORS = {"range": RangePartitionAssignor, "roundrobin": RoundRobinPartitionAssignor}
PARTITIONS = 4

version = VERSIONS[sys.argv[1]]
common = {"bootstrap_servers": sys.argv[2], "api_version": version, "reconnect_backoff_max_ms": 500}
output = threading.Lock()
producers = {}


def say(line):
    with output:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def tell(record):
    key, value = record.key.decode(), record.value.decode()
    say("record %d %d %s %s" % (record.partition, record.offset, key, value))


def create(topic, partitions):
    if sys.argv[1] in ("auto", "newest"):
        admin = KafkaAdminClient(**common)
        answer = admin.create_topics([NewTopic(topic, int(partitions), 1)])
        if answer.topic_errors[0][1] != 0:
            raise RuntimeError("not created: %r" % (answer,))
        admin.close()
        return
    # Asked for by name, it is made as the broker's own settings say.
    producer = KafkaProducer(**common)
    if len(producer.partitions_for(topic)) != int(partitions):
        raise RuntimeError("%r" % (producer.partitions_for(topic),))
    producer.close()


def topics():
    consumer = KafkaConsumer(**common)
    names = consumer.topics()
    consumer.close()
    return sorted(names)


def produce(topic, codec, first, count):
    if codec not in producers:
        kind = None if codec == "none" else codec
        producers[codec] = KafkaProducer(compression_type=kind, acks="all", retries=50, **common)
    futures = []
    for number in range(int(first), int(first) + int(count)):
        key = ("k%d" % number).encode()
        value = ("%s-%d %s" % (codec, number, "seglog." * 20)).encode()
        future = producers[codec].send(topic, value, key, partition=number % PARTITIONS)
        futures.append((number, future))
    producers[codec].flush(30)
    for number, future in futures:
        if future.get(30).offset < 0:
            raise RuntimeError("no offset of %d" % number)


def consume(topic, partitions):
    consumer = KafkaConsumer(auto_offset_reset="earliest", fetch_max_wait_ms=100, **common)
    places = [TopicPartition(topic, number) for number in range(int(partitions))]
    consumer.assign(places)
    consumer.seek_to_beginning()
    ends = consumer.end_offsets(places)
    while any(consumer.position(place) < ends[place] for place in places):
        for records in consumer.poll(timeout_ms=100).values():
            for record in records:
                tell(record)
    consumer.close()


class Member(ConsumerRebalanceListener):
    """Polls in a thread of its own; what it is asked meanwhile is done between two polls."""

    def __init__(self, group, topic, assignor):
        self.consumer = KafkaConsumer(
            group_id=group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=6000,
            heartbeat_interval_ms=500,
            fetch_max_wait_ms=100,
            partition_assignment_strategy=[ASSIGNORS[assignor]],
            **common
        )
        self.consumer.subscribe([topic], listener=self)
        self.wish = None
        self.done = threading.Event()
        self.ended = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def on_partitions_revoked(self, revoked):
        say("assigned")

    def on_partitions_assigned(self, assigned):
        say("assigned " + " ".join(str(place.partition) for place in sorted(assigned)))

    def run(self):
        while not self.ended:
            try:
                for records in self.consumer.poll(timeout_ms=100).values():
                    for record in records:
                        tell(record)
                if self.wish:
                    self.wish()
                    self.wish = None
                    self.done.set()
            except Exception:
                traceback.print_exc()
                time.sleep(0.2)

    def ask(self, wish):
        """What fails is tried again, as after a restart of the broker."""
        self.done.clear()
        self.wish = wish
        if not self.done.wait(30):
            raise RuntimeError("not done within 30 s")

    def leave(self):
        self.ended = True
        self.thread.join(30)
        self.consumer.close(autocommit=False)


def store(group, topic, *offsets):
    consumer = KafkaConsumer(group_id=group, enable_auto_commit=False, **common)
    places = [TopicPartition(topic, number) for number in range(len(offsets))]
    consumer.assign(places)
    wanted = zip(places, offsets)
    consumer.commit({place: OffsetAndMetadata(int(offset), "") for place, offset in wanted})
    consumer.close(autocommit=False)


def committed(group, topic, partitions):
    consumer = KafkaConsumer(group_id=group, enable_auto_commit=False, **common)
    places = [TopicPartition(topic, number) for number in range(int(partitions))]
    consumer.assign(places)
    found = [consumer.committed(place) for place in places]
    consumer.close(autocommit=False)
    return [str(-1 if offset is None else offset) for offset in found]


member = None


def join(group, topic, assignor):
    global member
    member = Member(group, topic, assignor)


def leave():
    global member
    if member:
        member.leave()
    member = None


def delete(topic):
    admin = KafkaAdminClient(**common)
    answer = admin.delete_topics([topic])
    if answer.topic_error_codes[0][1] != 0:
        raise RuntimeError("not deleted: %r" % (answer,))
    admin.close()


commands = {
    "create": create,
    "topics": topics,
    "produce": produce,
    "consume": consume,
    "join": join,
    "commit": lambda: member.ask(member.consumer.commit),
    "store": store,
    "committed": committed,
    "leave": leave,
    "delete": delete,
}

for line in sys.stdin:
    command, *words = line.split()
    try:
        result = commands[command](*words)
        say(" ".join(["ok", *(result or [])]))
    except Exception:
        say("failed " + traceback.format_exc().replace("\n", " | "))
leave()
for producer in producers.values():
    producer.close()
