package dev.flamewatch.agent;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reader of JFR files that sums the values of events by stack and skips everything else.
 *
 * <p>A file consists of chunks: a header, events, constant pools, and metadata that describe the fields of all of them.
 * {@code jdk.jfr.consumer} builds objects of the hundreds of types in the metadata of each file, which costs more than all
 * the rest of a capture. This reader decodes them once, because the types of the JVM's own events do not change while it
 * runs, and finds constants by their offset.
 */
final class JfrReader {
    /** Values of an event, one for each metric of the profile; null leaves the event out. */
    interface Values {
        long[] of(Event event) throws IOException;
    }

    private static final int MAGIC = 'F' << 24 | 'L' << 16 | 'R' << 8;
    private static final int VERSION = 2;
    private static final int HEADER_BYTES = 68;
    private static final int HAS_COMPRESSED_INTEGERS = 1; // bit of the header's features
    private static final long METADATA = 0; // types of events
    private static final long CONSTANTS = 1;
    private static final String STACK = "jdk.types.StackTrace";
    private static final String FRAME = "jdk.types.StackFrame";
    private static final String METHOD = "jdk.types.Method";
    private static final String SYMBOL = "jdk.types.Symbol";
    private static final String CLASS = "java.lang.Class";
    private static final String THREAD = "java.lang.Thread";
    private static final String UNKNOWN = "[unknown]"; // constant that the JVM did not write
    private static final String CUT = "[stack deeper than JFR's limit]";

    private static final class Type {
        final String name;
        final List<Field> fields = new ArrayList<>();

        Type(String name) {
            this.name = name;
        }
    }

    private static final class Field {
        final String name;
        final long type;
        final boolean isReference; // to a constant of the type
        final boolean isArray;

        Field(Map<String, String> attributes) {
            name = attributes.get("name");
            type = Long.parseLong(attributes.get("class"));
            isReference = "true".equals(attributes.get("constantPool"));
            isArray = "1".equals(attributes.get("dimension"));
        }
    }

    private final Map<Long, Type> types = new HashMap<>();
    private final Map<String, Type> typesByName = new HashMap<>();
    private byte[] data;
    private int at;

    /** Adds a sample to the profile for each stack of the file's events that have values. */
    void read(byte[] file, Values values, Pprof profile) throws IOException {
        data = file;
        int start = 0;
        while (start < file.length) {
            start += new Chunk(start).read(values, profile);
        }
        data = null;
    }

    /** Event for {@link Values}; valid until the next one. */
    final class Event {
        private final Chunk chunk;
        private Type type;
        private int offset; // of the first field

        private Event(Chunk chunk) {
            this.chunk = chunk;
        }

        String type() {
            return type.name;
        }

        /** Returns an integer field, or the id of a constant; 0 if the event has no such field. */
        long number(String field) throws IOException {
            return JfrReader.this.number(type, offset, field);
        }

        long durationNanos() throws IOException {
            return Math.round(number("duration") * chunk.nanosPerTick);
        }

        /** Returns the time of the event since an arbitrary moment. */
        long startNanos() throws IOException {
            return Math.round(number("startTime") * chunk.nanosPerTick);
        }

        /** Returns the Java id of the thread of a Java event; 0 if the chunk lacks it. */
        long threadId() throws IOException {
            return chunk.constant(THREAD, threadConstant(), "javaThreadId");
        }

        /** Returns false before JDK 21, which has no virtual threads. */
        boolean isVirtualThread() throws IOException {
            return chunk.constant(THREAD, threadConstant(), "virtual") != 0;
        }

        private long threadConstant() throws IOException {
            long thread = number("eventThread");
            return thread == 0 ? number("sampledThread") : thread; // execution samples are those of a sampler
        }

        /** Returns the name of a class that a field refers to, in internal form, such as java/lang/Object. */
        String className(String field) throws IOException {
            return chunk.className(number(field));
        }
    }

    private final class Chunk {
        final int start;
        final int end;
        final int metadata;
        final double nanosPerTick;
        final Map<String, Map<Long, Integer>> constants = new HashMap<>(); // offsets by id, by type
        final Map<Long, Integer> functions = new HashMap<>(); // of the profile, by the method's id

        Chunk(int start) throws IOException {
            ByteBuffer header = ByteBuffer.wrap(data, start, HEADER_BYTES).slice();
            if (header.getInt(0) != MAGIC || header.getShort(4) != VERSION) {
                throw new IOException("the recording has an unknown format");
            }
            if ((header.getInt(64) & HAS_COMPRESSED_INTEGERS) == 0) {
                throw new IOException("the recording has integers of fixed size, which the agent does not read");
            }
            this.start = start;
            end = start + (int) header.getLong(8);
            metadata = start + (int) header.getLong(24);
            nanosPerTick = 1e9 / header.getLong(56);
            for (String type : List.of(STACK, METHOD, CLASS, SYMBOL, THREAD)) {
                constants.put(type, new HashMap<>());
            }
        }

        /** Returns the size of the chunk in bytes. */
        int read(Values values, Pprof profile) throws IOException {
            if (types.isEmpty()) {
                readTypes(metadata);
            }
            indexConstants();
            for (Map.Entry<Long, long[]> sum : sums(values).entrySet()) {
                profile.add(stack(sum.getKey(), profile), sum.getValue());
            }
            return end - start;
        }

        private void indexConstants() throws IOException {
            for (int event = start + HEADER_BYTES; event < end; ) {
                at = event;
                event += (int) number();
                if (number() == CONSTANTS) {
                    indexPools();
                }
            }
        }

        private void indexPools() throws IOException {
            number(); // time
            number(); // duration
            number(); // distance to the previous event of constants
            at++; // reason for writing them
            for (long pools = number(); pools > 0; pools--) {
                Type type = type(number());
                Map<Long, Integer> offsets = constants.get(type.name);
                for (long entries = number(); entries > 0; entries--) {
                    long id = number();
                    if (offsets != null) {
                        offsets.put(id, at);
                    }
                    skip(type);
                }
            }
        }

        /** Returns the sums of events by the id of their stack. */
        private Map<Long, long[]> sums(Values values) throws IOException {
            Map<Long, long[]> sums = new HashMap<>();
            Event current = new Event(this);
            for (int event = start + HEADER_BYTES; event < end; ) {
                at = event;
                event += (int) number();
                current.type = types.get(number());
                current.offset = at;
                if (current.type == null) {
                    continue; // an event of the program
                }
                long[] added = values.of(current);
                long stack = added == null ? 0 : current.number("stackTrace");
                if (stack == 0) {
                    continue;
                }
                long[] sum = sums.putIfAbsent(stack, added);
                for (int i = 0; sum != null && i < sum.length; i++) {
                    sum[i] += added[i];
                }
            }
            return sums;
        }

        /** Returns the locations of a stack, leaf first. */
        private List<Integer> stack(long id, Pprof profile) throws IOException {
            List<Integer> locations = new ArrayList<>();
            Integer offset = constants.get(STACK).get(id);
            if (offset == null) {
                locations.add(profile.location(profile.function(UNKNOWN, ""), 0));
                return locations;
            }
            boolean isTruncated = false;
            at = offset;
            for (Field field : typeOf(STACK).fields) {
                if (field.name.equals("frames")) {
                    for (long frames = number(); frames > 0; frames--) {
                        locations.add(frame(profile));
                    }
                } else if (field.name.equals("truncated")) {
                    isTruncated = data[at++] != 0;
                } else {
                    skip(field);
                }
            }
            if (isTruncated) {
                locations.add(profile.location(profile.function(CUT, ""), 0));
            }
            return locations;
        }

        private int frame(Pprof profile) throws IOException {
            long method = 0;
            int line = 0;
            for (Field field : typeOf(FRAME).fields) {
                if (field.name.equals("method")) {
                    method = number();
                } else if (field.name.equals("lineNumber")) {
                    line = (int) number();
                } else {
                    skip(field);
                }
            }
            Integer function = functions.get(method);
            if (function == null) {
                int next = at;
                String owner = className(constant(METHOD, method, "type")).replace('/', '.');
                function = profile.method(owner, symbol(constant(METHOD, method, "name")));
                functions.put(method, function);
                at = next;
            }
            return profile.location(function, line);
        }

        String className(long id) throws IOException {
            return symbol(constant(CLASS, id, "name"));
        }

        private String symbol(long id) throws IOException {
            Integer offset = constants.get(SYMBOL).get(id);
            if (offset == null) {
                return UNKNOWN;
            }
            at = offset;
            String text = string();
            return text == null ? UNKNOWN : text;
        }

        /** Returns a field of a constant; 0, which is the id of no constant, if the chunk lacks it. */
        private long constant(String type, long id, String field) throws IOException {
            Integer offset = constants.get(type).get(id);
            return offset == null ? 0 : JfrReader.this.number(typeOf(type), offset, field);
        }
    }

    private void readTypes(int metadata) throws IOException {
        at = metadata;
        number(); // size
        if (number() != METADATA) {
            throw new IOException("the recording has no metadata");
        }
        number(); // time
        number(); // duration
        number(); // id
        String[] strings = new String[(int) number()];
        for (int i = 0; i < strings.length; i++) {
            strings[i] = string();
        }
        readElement(strings, null);
    }

    /** Reads an element with its children, such as a field of the type {@code parent}. */
    private void readElement(String[] strings, Type parent) {
        String name = strings[(int) number()];
        Map<String, String> attributes = new HashMap<>();
        for (long rest = number(); rest > 0; rest--) {
            String attribute = strings[(int) number()];
            attributes.put(attribute, strings[(int) number()]);
        }
        Type type = parent;
        if (name.equals("class")) {
            type = new Type(attributes.get("name"));
            types.put(Long.valueOf(attributes.get("id")), type);
            typesByName.put(type.name, type);
        } else if (name.equals("field") && parent != null) {
            parent.fields.add(new Field(attributes));
        }
        for (long children = number(); children > 0; children--) {
            readElement(strings, type);
        }
    }

    private Type type(long id) throws IOException {
        Type type = types.get(id);
        if (type == null) {
            throw new IOException("the recording has no type " + id);
        }
        return type;
    }

    private Type typeOf(String name) throws IOException {
        Type type = typesByName.get(name);
        if (type == null) {
            throw new IOException("the recording has no type " + name);
        }
        return type;
    }

    private long number(Type type, int offset, String name) throws IOException {
        at = offset;
        for (Field field : type.fields) {
            if (field.name.equals(name)) {
                return number();
            }
            skip(field);
        }
        return 0;
    }

    private void skip(Field field) throws IOException {
        for (long items = field.isArray ? number() : 1; items > 0; items--) {
            if (field.isReference) {
                number();
            } else {
                skip(type(field.type));
            }
        }
    }

    private void skip(Type type) throws IOException {
        switch (type.name) {
            case "boolean", "byte" -> at++;
            case "short", "char", "int", "long" -> number();
            case "float" -> at += Float.BYTES;
            case "double" -> at += Double.BYTES;
            case "java.lang.String" -> string();
            default -> {
                for (Field field : type.fields) {
                    skip(field);
                }
            }
        }
    }

    /** Reads an integer: seven bits in each byte, the lowest first, and eight bits in the ninth byte. */
    private long number() {
        long value = 0;
        for (int shift = 0; shift < 56; shift += 7) {
            byte next = data[at++];
            value |= (next & 0x7fL) << shift;
            if (next >= 0) {
                return value;
            }
        }
        return value | (data[at++] & 0xffL) << 56;
    }

    /** Reads a string; null for one that is absent or in a constant pool, which has none of those that the agent needs. */
    private String string() throws IOException {
        byte encoding = data[at++];
        switch (encoding) {
            case 0:
                return null;
            case 1:
                return "";
            case 2:
                number();
                return null;
            case 3, 5:
                int size = (int) number();
                at += size;
                return new String(data, at - size, size,
                        encoding == 3 ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1);
            case 4:
                char[] letters = new char[(int) number()];
                for (int i = 0; i < letters.length; i++) {
                    letters[i] = (char) number();
                }
                return new String(letters);
            default:
                throw new IOException("the recording has a string in an unknown encoding");
        }
    }
}
