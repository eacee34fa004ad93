/*
 * Runs the command line tools of Apache Kafka one after the other in one virtual machine, each as
 * if it had one of its own: its input, output, errors and exit code are kept apart. Which saves the
 * start of a machine for every call.
 *
 * A call comes on standard input: a count of four bytes and so many strings (the class and its
 * arguments), then the tool's own input; strings have a length of four bytes in front. The answer
 * goes to standard output: the exit code in four bytes, output and errors. The end of the input
 * ends the program.
 */
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Exit;

public class KafkaTools {
  /** Stands for the end of the process, and is no exception that a tool would catch. */
  static class Ended extends Error {
    Ended() {
      super("ended", null, false, false);
    }
  }

  /** What a tool that kept the stream of System at its start writes to, whenever that was. */
  static class Output extends OutputStream {
    private ByteArrayOutputStream kept = new ByteArrayOutputStream();
    /** False between a tool's word that it ends and its end, which a process would not see. */
    volatile boolean open = true;

    @Override
    public synchronized void write(int value) {
      if (open) kept.write(value);
    }

    @Override
    public synchronized void write(byte[] bytes, int from, int count) {
      if (open) kept.write(bytes, from, count);
    }

    synchronized byte[] take() {
      byte[] bytes = kept.toByteArray();
      kept = new ByteArrayOutputStream();
      return bytes;
    }
  }

  static class Input extends InputStream {
    volatile InputStream from = InputStream.nullInputStream();

    @Override
    public int read() throws IOException {
      return from.read();
    }

    @Override
    public int read(byte[] bytes, int at, int count) throws IOException {
      return from.read(bytes, at, count);
    }

    @Override
    public int available() throws IOException {
      return from.available();
    }
  }

  private static final Input input = new Input();
  private static final Output out = new Output();
  private static final Output err = new Output();
  private static final List<Runnable> hooks = new ArrayList<>();
  private static Integer exitCode;

  private static void end(int code) {
    // A tool may catch what stands for its end, and end again: the first word counts.
    if (exitCode == null) exitCode = code;
    open(false);
    throw new Ended();
  }

  private static void open(boolean open) {
    System.out.flush();
    System.err.flush();
    out.open = open;
    err.open = open;
  }

  private static void guarded(Runnable task) {
    open(true);
    try {
      task.run();
    } catch (Ended ended) {
      // It has said how it ends.
    } catch (Throwable thrown) {
      thrown.printStackTrace();
      if (exitCode == null) exitCode = 1;
    }
  }

  private static void main(String name, String[] args) {
    try {
      Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) args);
    } catch (InvocationTargetException thrown) {
      if (thrown.getCause() instanceof Error) throw (Error) thrown.getCause();
      throw new RuntimeException(thrown.getCause());
    } catch (ReflectiveOperationException thrown) {
      throw new RuntimeException(thrown);
    }
  }

  private static String readString(DataInputStream calls) throws IOException {
    return new String(calls.readNBytes(calls.readInt()), "UTF-8");
  }

  private static void answer(DataInputStream calls, DataOutputStream answers) throws IOException {
    String[] words = new String[calls.readInt()];
    for (int i = 0; i < words.length; i++) words[i] = readString(calls);
    input.from = new ByteArrayInputStream(calls.readNBytes(calls.readInt()));
    String[] args = java.util.Arrays.copyOfRange(words, 1, words.length);
    exitCode = null;
    out.take();
    err.take();
    guarded(() -> main(words[0], args));
    List<Runnable> ending = List.copyOf(hooks);
    hooks.clear();
    for (Runnable hook : ending) guarded(hook);
    open(true);
    answers.writeInt(exitCode == null ? 0 : exitCode);
    for (Output each : List.of(out, err)) {
      byte[] bytes = each.take();
      answers.writeInt(bytes.length);
      answers.write(bytes);
    }
    answers.flush();
  }

  public static void main(String[] none) throws IOException {
    DataInputStream calls = new DataInputStream(System.in);
    DataOutputStream answers = new DataOutputStream(System.out);
    System.setIn(input);
    System.setOut(new PrintStream(out, true));
    System.setErr(new PrintStream(err, true));
    Exit.setExitProcedure((code, message) -> end(code));
    Exit.setHaltProcedure((code, message) -> end(code));
    Exit.setShutdownHookAdder((name, hook) -> hooks.add(hook));
    try {
      while (true) answer(calls, answers);
    } catch (EOFException ended) {
      Runtime.getRuntime().halt(0);
    }
  }
}
