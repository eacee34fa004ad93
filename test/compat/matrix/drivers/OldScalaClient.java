/*
 * The driver of the clients of Apache Kafka 0.8.2.2 in Scala, as they offer themselves to Java: its
 * Producer, and its SimpleConsumer, which knows brokers and no groups. See the contract in
 * ../driver.ts. What is stored goes both ways that it knows: version 0, which is kept in the
 * coordination tree, and version 1, which is kept as offsets of a group; both must come back.
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import kafka.api.FetchRequestBuilder;
import kafka.api.PartitionOffsetRequestInfo;
import kafka.common.OffsetAndMetadata;
import kafka.common.OffsetMetadataAndError;
import kafka.common.TopicAndPartition;
import kafka.javaapi.FetchResponse;
import kafka.javaapi.OffsetCommitRequest;
import kafka.javaapi.OffsetCommitResponse;
import kafka.javaapi.OffsetFetchRequest;
import kafka.javaapi.OffsetRequest;
import kafka.javaapi.OffsetResponse;
import kafka.javaapi.TopicMetadata;
import kafka.javaapi.TopicMetadataRequest;
import kafka.javaapi.consumer.SimpleConsumer;
import kafka.javaapi.producer.Producer;
import kafka.message.Message;
import kafka.message.MessageAndOffset;
import kafka.producer.KeyedMessage;
import kafka.producer.Partitioner;
import kafka.producer.ProducerConfig;
import kafka.utils.VerifiableProperties;

public class OldScalaClient {
  private static final String CLIENT = "matrix";

  /** Record N, whose key is kN, goes to partition N modulo the number of partitions. */
  public static class ByNumber implements Partitioner {
    public ByNumber(VerifiableProperties properties) {}

    @Override
    public int partition(Object key, int count) {
      return Integer.parseInt(key.toString().substring(1)) % count;
    }
  }

  private final String bootstrap;
  private final Map<String, Producer<String, String>> producers = new HashMap<>();

  private OldScalaClient(String bootstrap) {
    this.bootstrap = bootstrap;
  }

  private SimpleConsumer consumer() {
    String[] address = bootstrap.split(":");
    return new SimpleConsumer(address[0], Integer.parseInt(address[1]), 30_000, 1 << 16, CLIENT);
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  private static String text(ByteBuffer bytes) {
    return StandardCharsets.UTF_8.decode(bytes).toString();
  }

  private List<TopicMetadata> metadata(List<String> topics) {
    SimpleConsumer consumer = consumer();
    try {
      return consumer.send(new TopicMetadataRequest(topics)).topicsMetadata();
    } finally {
      consumer.close();
    }
  }

  /** Asked for by name, it is made as the broker's own settings say. */
  private void create(String topic, int count) throws Exception {
    TopicMetadata seen = metadata(List.of(topic)).get(0);
    while (seen.errorCode() != 0) {
      Thread.sleep(50);
      seen = metadata(List.of(topic)).get(0);
    }
    if (seen.partitionsMetadata().size() != count) throw new Exception("sees " + seen);
  }

  private String topics() {
    List<String> names = new ArrayList<>();
    for (TopicMetadata each : metadata(Collections.emptyList())) names.add(each.topic());
    return String.join(" ", names);
  }

  private Producer<String, String> producer(String codec) {
    return producers.computeIfAbsent(codec, key -> {
      Properties properties = new Properties();
      properties.put("metadata.broker.list", bootstrap);
      properties.put("serializer.class", "kafka.serializer.StringEncoder");
      properties.put("partitioner.class", ByNumber.class.getName());
      properties.put("request.required.acks", "-1");
      properties.put("compression.codec", codec);
      properties.put("message.send.max.retries", "30");
      properties.put("retry.backoff.ms", "300");
      return new Producer<>(new ProducerConfig(properties));
    });
  }

  private void produce(String topic, String codec, int first, int count) {
    List<KeyedMessage<String, String>> messages = new ArrayList<>();
    for (int number = first; number < first + count; number++) {
      String value = codec + "-" + number + " " + "seglog.".repeat(20);
      messages.add(new KeyedMessage<>(topic, "k" + number, value));
    }
    producer(codec).send(messages);
  }

  private static long end(SimpleConsumer consumer, TopicAndPartition place) throws Exception {
    PartitionOffsetRequestInfo latest = new PartitionOffsetRequestInfo(-1L, 1);
    OffsetResponse response =
        consumer.getOffsetsBefore(new OffsetRequest(Map.of(place, latest), (short) 0, CLIENT));
    if (response.hasError()) throw new Exception("no end of " + place);
    return response.offsets(place.topic(), place.partition())[0];
  }

  private static void consume(SimpleConsumer consumer, TopicAndPartition place) throws Exception {
    long end = end(consumer, place);
    long next = 0;
    while (next < end) {
      FetchResponse response = consumer.fetch(new FetchRequestBuilder().clientId(CLIENT)
          .addFetch(place.topic(), place.partition(), next, 1 << 16).build());
      if (response.hasError()) {
        throw new Exception("error " + response.errorCode(place.topic(), place.partition()));
      }
      for (MessageAndOffset each : response.messageSet(place.topic(), place.partition())) {
        // A compressed set comes whole, with what lies before the offset.
        if (each.offset() < next) continue;
        Message message = each.message();
        message.ensureValid();
        say("record " + place.partition() + " " + each.offset() + " " + text(message.key()) + " "
            + text(message.payload()));
        next = each.offset() + 1;
      }
    }
  }

  private void consume(String topic, int count) throws Exception {
    SimpleConsumer consumer = consumer();
    try {
      for (int partition = 0; partition < count; partition++) {
        consume(consumer, new TopicAndPartition(topic, partition));
      }
    } finally {
      consumer.close();
    }
  }

  private void store(String group, String topic, List<String> offsets) throws Exception {
    SimpleConsumer consumer = consumer();
    try {
      for (short version = 0; version <= 1; version++) {
        Map<TopicAndPartition, OffsetAndMetadata> wanted = new HashMap<>();
        for (int partition = 0; partition < offsets.size(); partition++) {
          long offset = Long.parseLong(offsets.get(partition));
          wanted.put(new TopicAndPartition(topic, partition),
              new OffsetAndMetadata(offset, "", OffsetAndMetadata.InvalidTime()));
        }
        OffsetCommitResponse response = consumer
            .commitOffsets(new OffsetCommitRequest(group, wanted, 1, CLIENT, version));
        if (response.hasError()) throw new Exception("version " + version + ": " + response.errors());
      }
    } finally {
      consumer.close();
    }
  }

  private static List<String> committed(SimpleConsumer consumer, String group, String topic,
      int count, short version) throws Exception {
    List<TopicAndPartition> places = new ArrayList<>();
    for (int each = 0; each < count; each++) places.add(new TopicAndPartition(topic, each));
    Map<TopicAndPartition, OffsetMetadataAndError> found = consumer
        .fetchOffsets(new OffsetFetchRequest(group, places, version, 2, CLIENT)).offsets();
    List<String> offsets = new ArrayList<>();
    for (TopicAndPartition place : places) {
      OffsetMetadataAndError each = found.get(place);
      if (each.error() != 0) throw new Exception("version " + version + ": " + found);
      offsets.add(String.valueOf(each.offset()));
    }
    return offsets;
  }

  private String committed(String group, String topic, int count) throws Exception {
    SimpleConsumer consumer = consumer();
    try {
      List<String> inTree = committed(consumer, group, topic, count, (short) 0);
      List<String> ofGroup = committed(consumer, group, topic, count, (short) 1);
      if (!inTree.equals(ofGroup)) throw new Exception(inTree + " in the tree, not " + ofGroup);
      return String.join(" ", ofGroup);
    } finally {
      consumer.close();
    }
  }

  private String answer(String[] words) throws Exception {
    switch (words[0]) {
      case "create":
        create(words[1], Integer.parseInt(words[2]));
        return "";
      case "topics":
        return topics();
      case "produce":
        produce(words[1], words[2], Integer.parseInt(words[3]), Integer.parseInt(words[4]));
        return "";
      case "consume":
        consume(words[1], Integer.parseInt(words[2]));
        return "";
      case "store":
        store(words[1], words[2], Arrays.asList(words).subList(3, words.length));
        return "";
      case "committed":
        return committed(words[1], words[2], Integer.parseInt(words[3]));
      default:
        throw new IllegalArgumentException(Arrays.toString(words));
    }
  }

  public static void main(String[] arguments) throws Exception {
    OldScalaClient client = new OldScalaClient(arguments[0]);
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      try {
        say(("ok " + client.answer(line.split(" "))).trim());
      } catch (Exception error) {
        error.printStackTrace();
        say("failed " + error);
      }
    }
    client.producers.values().forEach(Producer::close);
    System.exit(0);
  }
}
