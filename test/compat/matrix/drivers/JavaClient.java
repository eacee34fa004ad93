/*
 * The driver of Apache Kafka's Java client, for 3.6.2 and 4.3.1 alike: see the contract in
 * ../driver.ts. The producers are idempotent; a member polls in a thread of its own.
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public class JavaClient {
  private static final int PARTITIONS = 4;
  private static final String STRATEGIES = "org.apache.kafka.clients.consumer.";
  private static final Map<String, String> ASSIGNORS = Map.of(
      "range", STRATEGIES + "RangeAssignor",
      "roundrobin", STRATEGIES + "RoundRobinAssignor",
      "sticky", STRATEGIES + "StickyAssignor",
      "cooperative-sticky", STRATEGIES + "CooperativeStickyAssignor");

  private final String bootstrap;
  private final Admin admin;
  private final Map<String, KafkaProducer<String, String>> producers = new HashMap<>();
  private Member member;

  private JavaClient(String bootstrap) {
    this.bootstrap = bootstrap;
    this.admin = Admin.create(common());
  }

  private Properties common() {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", bootstrap);
    properties.put("reconnect.backoff.max.ms", "500");
    return properties;
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  private static void tell(ConsumerRecord<String, String> record) {
    say("record " + record.partition() + " " + record.offset() + " " + record.key() + " "
        + record.value());
  }

  private static List<TopicPartition> places(String topic, int count) {
    return IntStream.range(0, count)
        .mapToObj(partition -> new TopicPartition(topic, partition))
        .collect(Collectors.toList());
  }

  /** Creates it, and holds what the admin client then sees against what was asked for. */
  private void create(String topic, int count) throws Exception {
    NewTopic wanted = new NewTopic(topic, count, (short) 1).configs(Map.of("retention.ms", "7200000"));
    admin.createTopics(List.of(wanted)).all().get(30, TimeUnit.SECONDS);
    TopicDescription seen = admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic);
    int nodes = admin.describeCluster().nodes().get().size();
    if (seen.partitions().size() != count || nodes != 1) throw new Exception("sees " + seen);
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    String retention = admin.describeConfigs(List.of(resource)).all().get().get(resource)
        .get("retention.ms").value();
    if (!retention.equals("7200000")) throw new Exception("retention.ms is " + retention);
    Map<TopicPartition, OffsetSpec> latest = places(topic, count).stream()
        .collect(Collectors.toMap(place -> place, place -> OffsetSpec.latest()));
    for (ListOffsetsResult.ListOffsetsResultInfo info : admin.listOffsets(latest).all().get().values()) {
      if (info.offset() != 0) throw new Exception("a new partition ends at " + info.offset());
    }
  }

  private KafkaProducer<String, String> producer(String codec) {
    return producers.computeIfAbsent(codec, key -> {
      Properties properties = common();
      properties.put("enable.idempotence", "true");
      properties.put("compression.type", codec);
      properties.put("linger.ms", "50");
      return new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer());
    });
  }

  private void produce(String topic, String codec, int first, int count) throws Exception {
    List<Future<RecordMetadata>> answers = new ArrayList<>();
    for (int number = first; number < first + count; number++) {
      String value = codec + "-" + number + " " + "seglog.".repeat(20);
      answers.add(producer(codec)
          .send(new ProducerRecord<>(topic, number % PARTITIONS, "k" + number, value)));
    }
    for (Future<RecordMetadata> answer : answers) answer.get(30, TimeUnit.SECONDS);
  }

  private KafkaConsumer<String, String> consumer(Map<String, String> settings) {
    Properties properties = common();
    properties.put("auto.offset.reset", "earliest");
    properties.put("enable.auto.commit", "false");
    properties.put("fetch.max.wait.ms", "100");
    properties.putAll(settings);
    return new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer());
  }

  private void consume(String topic, int count) {
    try (KafkaConsumer<String, String> consumer = consumer(Map.of())) {
      List<TopicPartition> places = places(topic, count);
      consumer.assign(places);
      consumer.seekToBeginning(places);
      Map<TopicPartition, Long> ends = consumer.endOffsets(places);
      while (places.stream().anyMatch(place -> consumer.position(place) < ends.get(place))) {
        consumer.poll(Duration.ofMillis(100)).forEach(JavaClient::tell);
      }
    }
  }

  private final class Member extends Thread {
    private final KafkaConsumer<String, String> consumer;
    private volatile CompletableFuture<Void> commit;
    private volatile boolean ended;
    private Set<Integer> told = Set.of();

    Member(String group, String topic, String assignor) {
      consumer = consumer(Map.of(
          "group.id", group,
          "session.timeout.ms", "6000",
          "heartbeat.interval.ms", "500",
          "partition.assignment.strategy", ASSIGNORS.get(assignor)));
      consumer.subscribe(List.of(topic));
    }

    private void tellAssigned() {
      Set<Integer> now = new TreeSet<>();
      for (TopicPartition place : consumer.assignment()) now.add(place.partition());
      if (now.equals(told)) return;
      told = now;
      say("assigned " + now.stream().map(String::valueOf).collect(Collectors.joining(" ")));
    }

    @Override
    public void run() {
      while (!ended) {
        try {
          Iterable<ConsumerRecord<String, String>> records = consumer.poll(Duration.ofMillis(100));
          tellAssigned();
          records.forEach(JavaClient::tell);
          if (commit == null) continue;
          consumer.commitSync(Duration.ofSeconds(10));
          commit.complete(null);
          commit = null;
        } catch (Exception error) {
          error.printStackTrace();
        }
      }
      consumer.close(Duration.ofSeconds(10));
    }

    /** What fails is tried again, as after a restart of the broker. */
    void commit() throws Exception {
      CompletableFuture<Void> done = new CompletableFuture<>();
      commit = done;
      done.get(30, TimeUnit.SECONDS);
    }

    void leave() throws Exception {
      ended = true;
      join(20_000);
    }
  }

  private String committed(String group, String topic, int count) throws Exception {
    Map<TopicPartition, OffsetAndMetadata> found =
        admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
    return places(topic, count).stream()
        .map(place -> found.get(place) == null ? "-1" : String.valueOf(found.get(place).offset()))
        .collect(Collectors.joining(" "));
  }

  private void leave() throws Exception {
    if (member != null) member.leave();
    member = null;
  }

  private String answer(String[] words) throws Exception {
    switch (words[0]) {
      case "create":
        create(words[1], Integer.parseInt(words[2]));
        return "";
      case "topics":
        return String.join(" ", admin.listTopics().names().get(30, TimeUnit.SECONDS));
      case "produce":
        produce(words[1], words[2], Integer.parseInt(words[3]), Integer.parseInt(words[4]));
        return "";
      case "consume":
        consume(words[1], Integer.parseInt(words[2]));
        return "";
      case "join":
        member = new Member(words[1], words[2], words[3]);
        member.start();
        return "";
      case "commit":
        member.commit();
        return "";
      case "committed":
        return committed(words[1], words[2], Integer.parseInt(words[3]));
      case "leave":
        leave();
        return "";
      case "delete":
        admin.deleteTopics(List.of(words[1])).all().get(30, TimeUnit.SECONDS);
        return "";
      default:
        throw new IllegalArgumentException(Arrays.toString(words));
    }
  }

  private void close() throws Exception {
    leave();
    producers.values().forEach(producer -> producer.close(Duration.ofSeconds(10)));
    admin.close(Duration.ofSeconds(10));
  }

  public static void main(String[] arguments) throws Exception {
    JavaClient client = new JavaClient(arguments[0]);
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      try {
        say(("ok " + client.answer(line.split(" "))).trim());
      } catch (Exception error) {
        error.printStackTrace();
        say("failed " + error);
      }
    }
    client.close();
    System.exit(0);
  }
}
