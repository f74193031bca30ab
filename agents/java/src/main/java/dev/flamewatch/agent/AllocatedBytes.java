package dev.flamewatch.agent;

import dev.flamewatch.agent.JfrReader.Event;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
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
final class AllocatedBytes implements ValueCorrection {
    private static final class Samples {
        long firstTicks = Long.MAX_VALUE;
        long firstWeight;
        long otherWeights;
    }

    private final ThreadCounts bytes;
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
        bytes = new ThreadCounts(counting, counting::getThreadAllocatedBytes);
    }

    @Override
    public void update() {
        bytes.update();
    }

    @Override
    public void add(Event event) throws IOException {
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

    @Override
    public void complete(Set<Long> own) {
        Set<Long> excluded = new HashSet<>(own);
        excluded.addAll(samples.keySet());
        Set<Long> otherThreads = bytes.grownThreads(excluded);
        long others = otherThreads.stream().mapToLong(bytes::growth).sum();
        long sampled = samples.keySet().stream()
                .filter(bytes::isKnown)
                .mapToLong(bytes::growth)
                .sum();
        if (!virtualWeights.isEmpty()) {
            scaleVirtual(others, otherThreads.size());
        } else if (sampled > 0) {
            scale = 1 + (double) others / sampled;
        }
    }

    private void scaleVirtual(long allocated, int carriers) {
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
        virtualScale = total > 0 ? allocated / total : 0;
    }

    private double limited(long virtualWeight) {
        return virtualWeight > virtualLimit ? virtualMean : virtualWeight;
    }

    @Override
    public long[] values(Event event) throws IOException {
        return new long[] {weight(event)};
    }

    /** Returns the bytes that an event stands for. */
    private long weight(Event event) throws IOException {
        long weight = event.number("weight");
        if (event.isVirtualThread()) {
            return Math.round(virtualScale * limited(weight));
        }
        long thread = event.threadId();
        Samples sums = samples.get(thread);
        if (bytes.isKnown(thread) && event.number("startTime") == sums.firstTicks) {
            weight = Math.max(0, bytes.growth(thread) - sums.otherWeights);
        }
        return Math.round(scale * weight);
    }
}
