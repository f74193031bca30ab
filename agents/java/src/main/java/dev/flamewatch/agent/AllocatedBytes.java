package dev.flamewatch.agent;

import dev.flamewatch.agent.JfrReader.Event;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Corrects the weights of {@code jdk.ObjectAllocationSample} by the bytes that each thread allocated during a capture.
 *
 * <p>A weight is what the thread allocated since its last sample, which for the first one in a capture includes the time
 * before it. That sample gets what the thread allocated during the capture less the weights of its other samples. JFR of
 * virtual threads counts by carrier thread, which the events do not name: their weights are scaled to the bytes of the threads
 * without samples of their own, after as many of the largest weights as there are such threads became the mean of the others.
 */
final class AllocatedBytes {
    private static final String JFR_THREADS = "JFR ";

    private static final class Samples {
        long firstTicks = Long.MAX_VALUE;
        long firstWeight;
        long otherWeights;
    }

    private final com.sun.management.ThreadMXBean threads;
    private final Map<Long, Long> before;
    private final Map<Long, Long> latest = new HashMap<>();
    private final Map<Long, Samples> samples = new HashMap<>(); // by thread
    private final List<Long> virtualWeights = new ArrayList<>();
    private double scale = 1; // of threads with samples, for those without
    private double virtualScale = 1;
    private long virtualLimit = Long.MAX_VALUE; // weights above it become `virtualMean`
    private double virtualMean;

    /** Begins to count. */
    AllocatedBytes() throws IOException {
        if (!(ManagementFactory.getThreadMXBean() instanceof com.sun.management.ThreadMXBean counting)
                || !counting.isThreadAllocatedMemorySupported()
                || !counting.isThreadAllocatedMemoryEnabled()) {
            throw new IOException("this JVM does not count the bytes that threads allocate");
        }
        threads = counting;
        before = read();
    }

    /** Updates the counts. Threads that end later have those of the last update. */
    void update() {
        latest.putAll(read());
    }

    private Map<Long, Long> read() {
        long[] ids = threads.getAllThreadIds();
        long[] bytes = threads.getThreadAllocatedBytes(ids);
        Map<Long, Long> found = new HashMap<>();
        for (int i = 0; i < ids.length; i++) {
            if (bytes[i] >= 0) { // negative: the thread has ended
                found.put(ids[i], bytes[i]);
            }
        }
        return found;
    }

    /** Takes note of an event; all of them come before the first call of {@link #weight}. */
    void add(Event event) throws IOException {
        long weight = event.number("weight");
        if (event.isVirtualThread()) {
            virtualWeights.add(weight);
            return;
        }
        Samples sums = samples.computeIfAbsent(event.threadId(), id -> new Samples());
        long ticks = event.number("startTime");
        if (ticks < sums.firstTicks) {
            sums.otherWeights += sums.firstWeight;
            sums.firstTicks = ticks;
            sums.firstWeight = weight;
        } else {
            sums.otherWeights += weight;
        }
    }

    /** Ends the events; {@code own} are the agent's threads, whose bytes are not the program's. */
    void complete(Set<Long> own) {
        long sampled = 0;
        long others = 0;
        int otherThreads = 0;
        for (long id : latest.keySet()) {
            if (samples.containsKey(id)) {
                sampled += bytes(id);
            } else if (!own.contains(id) && bytes(id) > 0 && !isOfJfr(id)) {
                others += bytes(id);
                otherThreads++;
            }
        }
        if (!virtualWeights.isEmpty()) {
            scaleVirtual(others, otherThreads);
        } else if (sampled > 0) {
            scale = 1 + (double) others / sampled;
        }
    }

    private void scaleVirtual(long bytes, int carriers) {
        virtualWeights.sort(null);
        int rest = virtualWeights.size() - carriers;
        if (rest > 0) {
            virtualLimit = virtualWeights.get(rest - 1);
        } else {
            virtualLimit = 0; // all have one weight
            rest = 0;
        }
        long sum = virtualWeights.subList(0, rest).stream().mapToLong(Long::longValue).sum();
        virtualMean = rest > 0 ? (double) sum / rest : 1;
        double total = virtualWeights.stream().mapToDouble(this::limited).sum();
        virtualScale = total > 0 ? bytes / total : 0;
    }

    private double limited(long virtualWeight) {
        return virtualWeight > virtualLimit ? virtualMean : virtualWeight;
    }

    private boolean isOfJfr(long id) {
        ThreadInfo thread = threads.getThreadInfo(id);
        return thread != null && thread.getThreadName().startsWith(JFR_THREADS);
    }

    private long bytes(long thread) {
        return latest.get(thread) - before.getOrDefault(thread, 0L); // 0: the thread began during the capture
    }

    /** Returns the bytes that an event stands for. */
    long weight(Event event) throws IOException {
        long weight = event.number("weight");
        if (event.isVirtualThread()) {
            return Math.round(virtualScale * limited(weight));
        }
        long thread = event.threadId();
        Samples sums = samples.get(thread);
        if (latest.containsKey(thread) && event.number("startTime") == sums.firstTicks) {
            weight = Math.max(0, bytes(thread) - sums.otherWeights);
        }
        return Math.round(scale * weight);
    }
}
