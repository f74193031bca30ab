package dev.flamewatch.agent;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/** Builder of a pprof profile. Sums samples of equal stacks. */
final class Pprof {
    /** Frame of a stack; the method's name includes its class. */
    record Frame(String name, String file, int line) {}

    private record Function(String name, String file) {}

    private final Map<String, Integer> strings = new LinkedHashMap<>();
    private final Map<Frame, Integer> locations = new LinkedHashMap<>();
    private final Map<Function, Integer> functions = new LinkedHashMap<>();
    private final Map<List<Frame>, long[]> samples = new LinkedHashMap<>();
    private final Message types = new Message();

    /** Takes names and units of the metrics, in turns. */
    Pprof(String... metrics) {
        string("");
        for (int i = 0; i < metrics.length; i += 2) {
            types.message(1, new Message().number(1, string(metrics[i])).number(2, string(metrics[i + 1])));
        }
    }

    /** Adds a sample: frames, leaf first, and a value for each metric. */
    void add(List<Frame> stack, long... values) {
        long[] sums = samples.computeIfAbsent(stack, absent -> new long[values.length]);
        Arrays.setAll(sums, i -> sums[i] + values[i]);
    }

    /** Returns the gzipped profile. */
    byte[] encode(long startMillis, long durationNanos) throws IOException {
        Message profile = new Message().append(types);
        for (Map.Entry<List<Frame>, long[]> sample : samples.entrySet()) {
            long[] stack = sample.getKey().stream().mapToLong(this::location).toArray();
            profile.message(2, new Message().packed(1, stack).packed(2, sample.getValue()));
        }
        locations.forEach((frame, id) -> {
            int function = functions.computeIfAbsent(
                    new Function(frame.name(), frame.file()), absent -> functions.size() + 1);
            Message line = new Message().number(1, function).number(2, Math.max(0, frame.line()));
            profile.message(4, new Message().number(1, id).message(4, line));
        });
        functions.forEach((function, id) -> {
            int name = string(function.name());
            Message fields = new Message().number(1, id).number(2, name).number(3, name);
            profile.message(5, fields.number(4, string(function.file())));
        });
        profile.number(9, startMillis * 1_000_000).number(10, durationNanos);
        strings.keySet().forEach(text -> profile.bytes(6, text.getBytes(StandardCharsets.UTF_8)));
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
            gzip.write(profile.toByteArray());
        }
        return compressed.toByteArray();
    }

    private int string(String text) {
        return strings.computeIfAbsent(text, absent -> strings.size());
    }

    private int location(Frame frame) {
        return locations.computeIfAbsent(frame, absent -> locations.size() + 1);
    }

    /** Protocol buffer message that is being written. */
    private static final class Message {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();

        Message number(int field, long value) {
            if (value != 0) { // 0 is the default
                varint((long) field << 3);
                varint(value);
            }
            return this;
        }

        Message bytes(int field, byte[] value) {
            varint((long) field << 3 | 2);
            varint(value.length);
            out.writeBytes(value);
            return this;
        }

        Message message(int field, Message value) {
            return bytes(field, value.toByteArray());
        }

        Message packed(int field, long[] values) {
            Message packed = new Message();
            for (long value : values) {
                packed.varint(value);
            }
            return message(field, packed);
        }

        Message append(Message other) {
            out.writeBytes(other.toByteArray());
            return this;
        }

        byte[] toByteArray() {
            return out.toByteArray();
        }

        private void varint(long value) {
            long rest = value;
            while ((rest & ~0x7fL) != 0) {
                out.write((int) (rest & 0x7f | 0x80));
                rest >>>= 7;
            }
            out.write((int) rest);
        }
    }
}
