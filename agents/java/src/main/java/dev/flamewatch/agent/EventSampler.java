package dev.flamewatch.agent;

import dev.flamewatch.agent.JfrReader.Event;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import jdk.jfr.EventSettings;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;

/**
 * Captures CPU, HEAP_ALLOC and CONTENTION profiles by the JDK's Flight Recorder.
 *
 * <p>Each capture is a recording of its own, which starts and stops in some milliseconds. JFR buffers it in memory, unless
 * the program records too. From the first capture on, JFR of JDK 17 wakes a thread up to 100 times a second while no
 * periodic event is enabled, so captures enable one, and a recording of nothing else runs between them.
 */
final class EventSampler {
    private static final String EXECUTION = "jdk.ExecutionSample";
    private static final String ALLOCATION = "jdk.ObjectAllocationSample";
    private static final String MONITOR = "jdk.JavaMonitorEnter";
    private static final String PARK = "jdk.ThreadPark";
    private static final String PERIODIC = "jdk.JavaThreadStatistics";
    private static final Duration LONG_PERIOD = Duration.ofMinutes(1);
    private static final Duration UPDATE = Duration.ofMillis(250); // of threads' counts, for those that end
    private static final Duration PERIOD = Duration.ofMillis(10);
    private static final String PREFIX = "flamewatch-";
    private static final String SUFFIX = ".jfr";
    private static final int ATTEMPTS = 2; // the second is recorded on disk, beside the recording that began
    private static final long MAX_FILE_BYTES = 64 << 20; // the agent's alone have at most 10 MiB
    private static final Duration LONGEST_USE = Duration.ofHours(1); // of a file, which takes milliseconds

    private final JfrReader reader = new JfrReader();
    private Recording idle; // between captures; null before the first one and during each
    private boolean hasDeletedLeftovers;

    Pprof cpu(double seconds) throws IOException, InterruptedException {
        Pprof profile = new Pprof("samples", "count", "cpu", "nanoseconds");
        return capture(profile, seconds, List.of(EXECUTION));
    }

    Pprof allocations(double seconds) throws IOException, InterruptedException {
        return capture(new Pprof("alloc_space", "bytes"), seconds, List.of(ALLOCATION));
    }

    Pprof contention(double seconds) throws IOException, InterruptedException {
        Pprof profile = new Pprof("contentions", "count", "delay", "nanoseconds");
        return capture(profile, seconds, List.of(MONITOR, PARK));
    }

    private Pprof capture(Pprof profile, double seconds, List<String> events) throws IOException, InterruptedException {
        if (idle != null) {
            idle.close();
            idle = null;
        }
        try {
            for (int attempt = 1; !record(profile, seconds, events); attempt++) {
                if (attempt == ATTEMPTS) {
                    throw new IOException("other recordings of JFR began during " + ATTEMPTS + " captures");
                }
            }
            return profile;
        } finally {
            idle = new Recording();
            idle.setName("flamewatch: idle");
            idle.setToDisk(false);
            idle.enable(PERIODIC).withPeriod(LONG_PERIOD);
            idle.start();
        }
    }

    /** Returns false when another recording began, which takes the events of one in memory: nothing was captured. */
    private boolean record(Pprof profile, double seconds, List<String> events) throws IOException, InterruptedException {
        Path file = null;
        try (Recording recording = new Recording()) {
            // Files of JFR's repository stay behind when the process is killed; recordings beside each other need it.
            recording.setToDisk(isAnotherRunning());
            for (String event : events) {
                EventSettings settings = recording.enable(event).withStackTrace();
                if (event.equals(EXECUTION)) {
                    settings.withPeriod(PERIOD);
                } else if (event.equals(ALLOCATION)) {
                    settings.with("throttle", "300/s");
                } else {
                    settings.withoutThreshold();
                }
            }
            recording.enable(PERIODIC).withPeriod(LONG_PERIOD);
            recording.start();
            ValueCorrection correction = correction(events);
            Set<Long> own = Agent.ownThreads();
            profile.begin();
            wait(seconds, correction);
            profile.end();
            own.addAll(Agent.ownThreads());
            file = Files.createTempFile(PREFIX, SUFFIX);
            if (!hasDeletedLeftovers) {
                hasDeletedLeftovers = true;
                deleteLeftovers(file);
            }
            recording.setDestination(file);
            recording.stop(); // writes the file
            long size = Files.size(file);
            if (size == 0) {
                return false;
            }
            if (size > MAX_FILE_BYTES) {
                throw new IOException("the recording has " + size + " bytes; the limit is " + MAX_FILE_BYTES);
            }
            // Events of the program's recordings are in the file too.
            byte[] recorded = Files.readAllBytes(file);
            if (correction != null) {
                reader.read(recorded, event -> note(event, events, own, correction), profile);
                correction.complete(own);
            }
            JfrReader.Values values = correction == null ? EventSampler::values : correction::values;
            reader.read(recorded, event -> isCounted(event, events, own) ? values.of(event) : null, profile);
            if (correction != null) {
                correction.addRest(profile);
            }
            return true;
        } finally {
            if (file != null) {
                Files.deleteIfExists(file);
            }
        }
    }

    /** Returns null for events whose values are exact. */
    private static ValueCorrection correction(List<String> events) throws IOException {
        if (events.contains(ALLOCATION)) {
            return new AllocatedBytes();
        }
        return events.contains(EXECUTION) ? new CpuTimes(PERIOD.toNanos()) : null;
    }

    private static void wait(double seconds, ValueCorrection correction) throws InterruptedException {
        long end = System.nanoTime() + Math.round(seconds * 1e9);
        for (long rest = end - System.nanoTime(); rest > 0; rest = end - System.nanoTime()) {
            Thread.sleep(Math.min(UPDATE.toMillis(), rest / 1_000_000 + 1));
            if (correction != null) {
                correction.update();
            }
        }
    }

    private static boolean isCounted(Event event, List<String> events, Set<Long> own) throws IOException {
        return events.contains(event.type()) && !own.contains(event.threadId());
    }

    /** Passes an event to the correction, and leaves it out of the profile. */
    private static long[] note(Event event, List<String> events, Set<Long> own, ValueCorrection correction)
            throws IOException {
        if (isCounted(event, events, own)) {
            correction.add(event);
        }
        return null;
    }

    private static boolean isAnotherRunning() {
        for (Recording recording : FlightRecorder.getFlightRecorder().getRecordings()) {
            if (recording.getState() == RecordingState.RUNNING) {
                return true;
            }
        }
        return false;
    }

    /** Deletes old files of agents that were killed while they read them: those in this file's folder, of its owner. */
    private static void deleteLeftovers(Path file) throws IOException {
        UserPrincipal user = Files.getOwner(file);
        Instant limit = Instant.now().minus(LONGEST_USE);
        try (DirectoryStream<Path> others = Files.newDirectoryStream(file.getParent(), PREFIX + "*" + SUFFIX)) {
            for (Path other : others) {
                try {
                    if (Files.isRegularFile(other, LinkOption.NOFOLLOW_LINKS)
                            && Files.getOwner(other, LinkOption.NOFOLLOW_LINKS).equals(user)
                            && Files.getLastModifiedTime(other, LinkOption.NOFOLLOW_LINKS).toInstant().isBefore(limit)) {
                        Files.deleteIfExists(other);
                    }
                } catch (NoSuchFileException deleted) {
                    continue; // by another agent
                }
            }
        }
    }

    private static long[] values(Event event) throws IOException {
        return switch (event.type()) {
            case MONITOR -> new long[] {1, event.durationNanos()};
            case PARK -> isLock(event.className("parkedClass")) ? new long[] {1, event.durationNanos()} : null;
            default -> throw new IOException("no values of " + event.type());
        };
    }

    /** Returns true for locks; threads that wait for work park on conditions, which are no contention. */
    private static boolean isLock(String parked) {
        return parked.startsWith("java/util/concurrent/locks/Reentrant") && parked.contains("Sync");
    }
}
