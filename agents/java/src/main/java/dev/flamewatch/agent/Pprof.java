package dev.flamewatch.agent;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;

/** Builder of a pprof profile. */
final class Pprof {
    private static final int LINE_BITS = 32;
    // Parts of generated names that differ in each run of a program: equal code gets equal names.
    private static final Pattern ADDRESS = Pattern.compile("(?<=\\$\\$Lambda)(?:\\$\\d+)?(?:[/.+](?:0x[0-9a-f]+|\\d+))*"
            + "|[/.+]0x[0-9a-f]{6,16}(?![0-9a-f])"
            + "|(?<=Generated(?:Method|Constructor)Accessor)\\d+");

    private final Message out = new Message();
    private final Message symbols = new Message();
    private final Map<String, Integer> strings = new HashMap<>();
    private final Message texts = new Message();
    private final Map<String, Integer> functions = new HashMap<>(); // by name
    private final Map<Long, Integer> locations = new HashMap<>(); // by function and line
    private long startMillis = System.currentTimeMillis();
    private long startNanos;
    private long nanos; // 0: a snapshot

    /** Takes names and units of the metrics, in turns. */
    Pprof(String... metrics) {
        string("");
        for (int i = 0; i < metrics.length; i += 2) {
            out.message(1, new Message().number(1, string(metrics[i])).number(2, string(metrics[i + 1])));
        }
    }

    /** Returns the id of a method's function. Its file is that of the class by Java's convention. */
    int method(String generatedOwner, String generatedName) {
        String owner = ADDRESS.matcher(generatedOwner).replaceAll("");
        String name = ADDRESS.matcher(generatedName).replaceAll("");
        int nested = owner.indexOf('$');
        String file = (nested > 0 ? owner.substring(0, nested) : owner).replace('.', '/') + ".java";
        return function(owner + "." + name, file);
    }

    /** Returns the id of a function; one name has one file. */
    int function(String name, String file) {
        Integer found = functions.get(name);
        if (found != null) {
            return found;
        }
        int id = functions.size() + 1;
        functions.put(name, id);
        int text = string(name);
        Message fields = new Message().number(1, id).number(2, text).number(3, text);
        symbols.message(5, fields.number(4, string(file)));
        return id;
    }

    /** Returns the id of the location of a line of a function. */
    int location(int function, int line) {
        long key = (long) function << LINE_BITS | Math.max(0, line);
        Integer found = locations.get(key);
        if (found != null) {
            return found;
        }
        int id = locations.size() + 1;
        locations.put(key, id);
        Message fields = new Message().number(1, function).number(2, Math.max(0, line));
        symbols.message(4, new Message().number(1, id).message(4, fields));
        return id;
    }

    /** Adds a sample: ids of locations, leaf first, and a value for each metric. */
    void add(List<Integer> stack, long... values) {
        Message ids = new Message();
        for (int location : stack) {
            ids.varint(location);
        }
        Message numbers = new Message();
        for (long value : values) {
            numbers.varint(value);
        }
        out.message(2, new Message().message(1, ids).message(2, numbers));
    }

    /** Begins the time of the profile. One without it is a snapshot of when the builder was made. */
    void begin() {
        startMillis = System.currentTimeMillis();
        startNanos = System.nanoTime();
    }

    /** Ends the time of the profile. */
    void end() {
        nanos = System.nanoTime() - startNanos;
    }

    double seconds() {
        return nanos / 1e9;
    }

    /** Returns the gzipped profile. */
    byte[] encode() throws IOException {
        Message times = new Message().number(9, startMillis * 1_000_000).number(10, nanos);
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
            for (Message part : List.of(out, symbols, times, texts)) {
                part.writeTo(gzip);
            }
        }
        return compressed.toByteArray();
    }

    private int string(String text) {
        Integer found = strings.get(text);
        if (found != null) {
            return found;
        }
        int id = strings.size();
        strings.put(text, id);
        texts.bytes(6, text.getBytes(StandardCharsets.UTF_8));
        return id;
    }

    /** Protocol buffer message that is being written. */
    private static final class Message extends ByteArrayOutputStream {
        Message number(int field, long value) {
            if (value != 0) { // 0 is the default
                varint((long) field << 3);
                varint(value);
            }
            return this;
        }

        Message bytes(int field, byte[] value) {
            return bytes(field, value, value.length);
        }

        Message message(int field, Message value) {
            return bytes(field, value.buf, value.count);
        }

        private Message bytes(int field, byte[] value, int size) {
            varint((long) field << 3 | 2);
            varint(size);
            write(value, 0, size);
            return this;
        }

        void varint(long value) {
            long rest = value;
            while ((rest & ~0x7fL) != 0) {
                write((int) (rest & 0x7f | 0x80));
                rest >>>= 7;
            }
            write((int) rest);
        }
    }
}
