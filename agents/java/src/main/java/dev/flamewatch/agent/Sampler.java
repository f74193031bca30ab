package dev.flamewatch.agent;

import dev.flamewatch.agent.Pprof.Frame;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordingFile;

/** Captures profiles: CPU, HEAP_ALLOC and CONTENTION by JFR, WALL and THREADS by thread dumps. */
final class Sampler {
    static final List<String> TYPES = List.of("CPU", "WALL", "HEAP_ALLOC", "CONTENTION", "THREADS");

    private static final String EXECUTION = "jdk.ExecutionSample";
    private static final String ALLOCATION = "jdk.ObjectAllocationSample";
    private static final String MONITOR = "jdk.JavaMonitorEnter";
    private static final String PARK = "jdk.ThreadPark";
    private static final Duration PERIOD = Duration.ofMillis(10);
    // A dump stops all threads, for some microseconds each: with many threads dumps are rarer.
    private static final long WALL_MICROS = 20_000;
    private static final long WALL_MICROS_PER_THREAD = 100;
    private static final Frame CUT = new Frame("[stack deeper than JFR's limit]", "", 0);

    /** Profile as gzipped pprof, and its real duration in seconds (0 for a snapshot). */
    record Captured(byte[] profile, double duration) {}

    private long nanos; // duration of the latest capture, without starting and reading the recording

    Captured capture(String type, double seconds) throws IOException, InterruptedException {
        long startMillis = System.currentTimeMillis();
        nanos = 0;
        Pprof profile = switch (type) {
            case "CPU" -> recorded(new Pprof("samples", "count", "cpu", "nanoseconds"), seconds, EXECUTION);
            case "HEAP_ALLOC" -> recorded(new Pprof("alloc_space", "bytes"), seconds, ALLOCATION);
            case "CONTENTION" ->
                recorded(new Pprof("contentions", "count", "delay", "nanoseconds"), seconds, MONITOR, PARK);
            case "WALL" -> wall(seconds);
            case "THREADS" -> threads();
            default -> throw new IOException("unknown profile type " + type);
        };
        return new Captured(profile.encode(startMillis, nanos), nanos / 1e9);
    }

    private Pprof recorded(Pprof profile, double seconds, String... events)
            throws IOException, InterruptedException {
        Path file = Files.createTempFile("flamewatch-", ".jfr");
        try (Recording recording = new Recording()) {
            for (String event : events) {
                var settings = recording.enable(event).withStackTrace();
                if (event.equals(EXECUTION)) {
                    settings.withPeriod(PERIOD);
                } else if (event.equals(ALLOCATION)) {
                    settings.with("throttle", "300/s");
                } else {
                    settings.withoutThreshold();
                }
            }
            recording.start();
            long start = System.nanoTime();
            Thread.sleep(Math.round(seconds * 1000));
            nanos = System.nanoTime() - start;
            recording.stop();
            recording.dump(file);
            try (RecordingFile reader = new RecordingFile(file)) {
                while (reader.hasMoreEvents()) {
                    add(profile, reader.readEvent());
                }
            }
            return profile;
        } finally {
            Files.deleteIfExists(file);
        }
    }

    private static void add(Pprof profile, RecordedEvent event) {
        RecordedStackTrace trace = event.getStackTrace();
        if (trace == null) {
            return;
        }
        switch (event.getEventType().getName()) {
            case EXECUTION -> profile.add(frames(trace), 1, PERIOD.toNanos());
            case ALLOCATION -> profile.add(frames(trace), event.getLong("weight"));
            case MONITOR -> profile.add(frames(trace), 1, event.getDuration().toNanos());
            case PARK -> {
                if (isLock(event.getClass("parkedClass"))) {
                    profile.add(frames(trace), 1, event.getDuration().toNanos());
                }
            }
            default -> { } // other recordings of this process share the file's chunk
        }
    }

    /** Returns true for locks; threads that wait for work park on conditions, which are no contention. */
    private static boolean isLock(RecordedClass parked) {
        String name = parked == null ? "" : parked.getName();
        return name.startsWith("java.util.concurrent.locks.Reentrant") && name.contains("Sync");
    }

    private static List<Frame> frames(RecordedStackTrace trace) {
        List<Frame> frames = new ArrayList<>();
        for (RecordedFrame frame : trace.getFrames()) {
            RecordedMethod method = frame.getMethod();
            String owner = method.getType().getName();
            frames.add(new Frame(owner + "." + method.getName(), fileOf(owner), frame.getLineNumber()));
        }
        if (trace.isTruncated()) {
            frames.add(CUT);
        }
        return frames;
    }

    /** Returns the path of a class's source file, by Java's convention: JFR does not record it. */
    private static String fileOf(String owner) {
        int nested = owner.indexOf('$');
        return (nested > 0 ? owner.substring(0, nested) : owner).replace('.', '/') + ".java";
    }

    private Pprof wall(double seconds) throws InterruptedException {
        Pprof profile = new Pprof("sample", "count", "wall", "nanoseconds");
        long start = System.nanoTime();
        long last = start;
        long end = start + Math.round(seconds * 1e9);
        while (last < end) {
            long micros = WALL_MICROS + WALL_MICROS_PER_THREAD * Thread.activeCount();
            // A fixed period could run in step with a periodic program.
            micros = Math.round(micros * (0.5 + ThreadLocalRandom.current().nextDouble()));
            Thread.sleep(Math.max(1, Math.min(micros / 1000, (end - last) / 1_000_000)));
            Map<Thread, StackTraceElement[]> dump = Thread.getAllStackTraces();
            long now = System.nanoTime();
            for (List<Frame> stack : stacks(dump)) {
                profile.add(stack, 1, now - last);
            }
            last = now;
        }
        nanos = last - start;
        return profile;
    }

    private static Pprof threads() {
        Pprof profile = new Pprof("thread", "count");
        for (List<Frame> stack : stacks(Thread.getAllStackTraces())) {
            profile.add(stack, 1);
        }
        return profile;
    }

    /** Returns the stacks of a dump, leaf first, without those of the agent's own threads. */
    private static List<List<Frame>> stacks(Map<Thread, StackTraceElement[]> dump) {
        List<List<Frame>> stacks = new ArrayList<>();
        dump.forEach((thread, elements) -> {
            if (elements.length > 0 && !Agent.isOwn(thread)) {
                List<Frame> stack = new ArrayList<>();
                for (StackTraceElement element : elements) {
                    String owner = element.getClassName();
                    stack.add(new Frame(owner + "." + element.getMethodName(), fileOf(owner), element.getLineNumber()));
                }
                stacks.add(stack);
            }
        });
        return Collections.unmodifiableList(stacks);
    }
}
