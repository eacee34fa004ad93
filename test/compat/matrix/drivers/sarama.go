// The driver of sarama: see the contract in ../driver.ts. The first argument is the version of
// Kafka that it takes the broker for; it never asks the broker.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/Shopify/sarama"
)

const partitions = 4

var (
	version   sarama.KafkaVersion
	addresses []string
	output    sync.Mutex
	producers = map[string]sarama.SyncProducer{}
	member    *groupMember
)

var codecs = map[string]sarama.CompressionCodec{
	"none":   sarama.CompressionNone,
	"gzip":   sarama.CompressionGZIP,
	"snappy": sarama.CompressionSnappy,
	"lz4":    sarama.CompressionLZ4,
	"zstd":   sarama.CompressionZSTD,
}

func say(words ...string) {
	output.Lock()
	defer output.Unlock()
	fmt.Println(strings.Join(words, " "))
}

func tell(message *sarama.ConsumerMessage) {
	place := fmt.Sprintf("%d %d", message.Partition, message.Offset)
	say("record", place, string(message.Key), string(message.Value))
}

func settings() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = version
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.Retry.Max = 50
	config.Producer.Retry.Backoff = 200 * time.Millisecond
	config.Producer.Flush.Frequency = 50 * time.Millisecond
	config.Metadata.Retry.Max = 50
	config.Consumer.MaxWaitTime = 100 * time.Millisecond
	config.Consumer.Retry.Backoff = 200 * time.Millisecond
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.CommitInterval = 100 * time.Millisecond
	config.Consumer.Group.Session.Timeout = 6 * time.Second
	config.Consumer.Group.Heartbeat.Interval = 500 * time.Millisecond
	return config
}

func hasAdmin() bool { return version.IsAtLeast(sarama.V0_10_2_0) }

func create(topic string, count int) error {
	if !hasAdmin() {
		// Asked for by name, it is made as the broker's own settings say.
		client, err := sarama.NewClient(addresses, settings())
		if err != nil {
			return err
		}
		defer client.Close()
		return client.RefreshMetadata(topic)
	}
	admin, err := sarama.NewClusterAdmin(addresses, settings())
	if err != nil {
		return err
	}
	defer admin.Close()
	detail := &sarama.TopicDetail{NumPartitions: int32(count), ReplicationFactor: 1}
	return admin.CreateTopic(topic, detail, false)
}

func remove(topic string) error {
	admin, err := sarama.NewClusterAdmin(addresses, settings())
	if err != nil {
		return err
	}
	defer admin.Close()
	return admin.DeleteTopic(topic)
}

func topics() ([]string, error) {
	client, err := sarama.NewClient(addresses, settings())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return client.Topics()
}

func producer(codec string) (sarama.SyncProducer, error) {
	if found, there := producers[codec]; there {
		return found, nil
	}
	config := settings()
	config.Producer.Compression = codecs[codec]
	if version.IsAtLeast(sarama.V0_11_0_0) {
		config.Producer.Idempotent = true
		config.Net.MaxOpenRequests = 1
	}
	made, err := sarama.NewSyncProducer(addresses, config)
	if err == nil {
		producers[codec] = made
	}
	return made, err
}

func produce(topic, codec string, first, count int) error {
	to, err := producer(codec)
	if err != nil {
		return err
	}
	messages := []*sarama.ProducerMessage{}
	for number := first; number < first+count; number++ {
		value := fmt.Sprintf("%s-%d %s", codec, number, strings.Repeat("seglog.", 20))
		messages = append(messages, &sarama.ProducerMessage{
			Topic:     topic,
			Partition: int32(number % partitions),
			Key:       sarama.StringEncoder(fmt.Sprintf("k%d", number)),
			Value:     sarama.StringEncoder(value),
		})
	}
	return to.SendMessages(messages)
}

func consumePartition(client sarama.Client, consumer sarama.Consumer, topic string, partition int32) error {
	end, err := client.GetOffset(topic, partition, sarama.OffsetNewest)
	if err != nil || end == 0 {
		return err
	}
	reader, err := consumer.ConsumePartition(topic, partition, sarama.OffsetOldest)
	if err != nil {
		return err
	}
	defer reader.Close()
	for message := range reader.Messages() {
		tell(message)
		if message.Offset >= end-1 {
			return nil
		}
	}
	return fmt.Errorf("partition %d ended before %d", partition, end)
}

func consume(topic string, count int) error {
	client, err := sarama.NewClient(addresses, settings())
	if err != nil {
		return err
	}
	defer client.Close()
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		return err
	}
	defer consumer.Close()
	for partition := 0; partition < count; partition++ {
		if err := consumePartition(client, consumer, topic, int32(partition)); err != nil {
			return err
		}
	}
	return nil
}

// groupMember marks what it has told; sarama commits what is marked, ten times a second.
type groupMember struct {
	group  sarama.ConsumerGroup
	topic  string
	cancel context.CancelFunc
	ended  chan struct{}
}

func (m *groupMember) Setup(session sarama.ConsumerGroupSession) error {
	words := []string{"assigned"}
	for _, partition := range session.Claims()[m.topic] {
		words = append(words, strconv.Itoa(int(partition)))
	}
	say(words...)
	return nil
}

func (m *groupMember) Cleanup(sarama.ConsumerGroupSession) error {
	say("assigned")
	return nil
}

func (m *groupMember) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		tell(message)
		session.MarkMessage(message, "")
	}
	return nil
}

func (m *groupMember) run(ctx context.Context) {
	defer close(m.ended)
	for ctx.Err() == nil {
		if err := m.group.Consume(ctx, []string{m.topic}, m); err != nil {
			fmt.Fprintln(os.Stderr, err)
			time.Sleep(200 * time.Millisecond)
		}
	}
}

func join(group, topic, assignor string) error {
	config := settings()
	if assignor == "roundrobin" {
		config.Consumer.Group.Rebalance.Strategy = sarama.BalanceStrategyRoundRobin
	}
	joined, err := sarama.NewConsumerGroup(addresses, group, config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	member = &groupMember{group: joined, topic: topic, cancel: cancel, ended: make(chan struct{})}
	go member.run(ctx)
	return nil
}

func leave() error {
	if member == nil {
		return nil
	}
	member.cancel()
	<-member.ended
	err := member.group.Close()
	member = nil
	return err
}

// store commits through an offset manager, which is a client of the group without being a member.
func store(group, topic string, offsets []string) error {
	client, err := sarama.NewClient(addresses, settings())
	if err != nil {
		return err
	}
	defer client.Close()
	manager, err := sarama.NewOffsetManagerFromClient(group, client)
	if err != nil {
		return err
	}
	for partition, text := range offsets {
		offset, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return err
		}
		managed, err := manager.ManagePartition(topic, int32(partition))
		if err != nil {
			return err
		}
		managed.MarkOffset(offset, "")
		defer managed.Close()
	}
	return manager.Close()
}

func committed(group, topic string, count int) ([]string, error) {
	client, err := sarama.NewClient(addresses, settings())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	coordinator, err := client.Coordinator(group)
	if err != nil {
		return nil, err
	}
	request := &sarama.OffsetFetchRequest{ConsumerGroup: group, Version: 1}
	for partition := 0; partition < count; partition++ {
		request.AddPartition(topic, int32(partition))
	}
	response, err := coordinator.FetchOffset(request)
	if err != nil {
		return nil, err
	}
	offsets := []string{}
	for partition := 0; partition < count; partition++ {
		block := response.GetBlock(topic, int32(partition))
		if block == nil || block.Err != sarama.ErrNoError {
			return nil, fmt.Errorf("partition %d: %v", partition, block)
		}
		offsets = append(offsets, strconv.FormatInt(block.Offset, 10))
	}
	return offsets, nil
}

func number(word string) int {
	value, err := strconv.Atoi(word)
	if err != nil {
		panic(err)
	}
	return value
}

func answer(words []string) ([]string, error) {
	switch words[0] {
	case "create":
		return nil, create(words[1], number(words[2]))
	case "topics":
		return topics()
	case "produce":
		return nil, produce(words[1], words[2], number(words[3]), number(words[4]))
	case "consume":
		return nil, consume(words[1], number(words[2]))
	case "join":
		return nil, join(words[1], words[2], words[3])
	case "commit":
		time.Sleep(time.Second)
		return nil, nil
	case "store":
		return nil, store(words[1], words[2], words[3:])
	case "committed":
		return committed(words[1], words[2], number(words[3]))
	case "leave":
		return nil, leave()
	case "delete":
		return nil, remove(words[1])
	}
	return nil, fmt.Errorf("no command %q", words)
}

func main() {
	parsed, err := sarama.ParseKafkaVersion(os.Args[1])
	if err != nil {
		panic(err)
	}
	version = parsed
	addresses = []string{os.Args[2]}
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		result, err := answer(strings.Split(input.Text(), " "))
		if err != nil {
			say("failed", strings.ReplaceAll(fmt.Sprintf("%v", err), "\n", " | "))
			continue
		}
		say(append([]string{"ok"}, result...)...)
	}
	if err := leave(); err != nil {
		panic(err)
	}
	for _, producer := range producers {
		if err := producer.Close(); err != nil {
			panic(err)
		}
	}
}
