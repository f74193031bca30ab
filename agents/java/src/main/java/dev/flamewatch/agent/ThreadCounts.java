package dev.flamewatch.agent;

import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** A count that the JVM keeps for each thread, such as CPU nanoseconds, by how much it grew during a capture. */
final class ThreadCounts {
    private static final String JFR_THREADS = "JFR ";

    private final ThreadMXBean threads;
    private final UnaryOperator<long[]> counter; // of ids; negative for threads that ended
    private final Map<Long, Long> before;
    private final Map<Long, Long> latest = new HashMap<>();

    /** Begins to count. */
    ThreadCounts(ThreadMXBean threads, UnaryOperator<long[]> counter) {
        this.threads = threads;
        this.counter = counter;
        before = read();
    }

    /** Updates the counts. Threads that end later have those of the last update. */
    void update() {
        latest.putAll(read());
    }

    private Map<Long, Long> read() {
        long[] ids = threads.getAllThreadIds();
        long[] counts = counter.apply(ids);
        Map<Long, Long> found = new HashMap<>();
        for (int i = 0; i < ids.length; i++) {
            if (counts[i] >= 0) {
                found.put(ids[i], counts[i]);
            }
        }
        return found;
    }

    /** Returns false for a thread that {@link #update} never saw. */
    boolean isKnown(long id) {
        return latest.containsKey(id);
    }

    /** Returns by how much a known thread's count grew until the last update. */
    long growth(long id) {
        return latest.get(id) - before.getOrDefault(id, 0L); // 0: the thread began during the capture
    }

    /** Returns the known threads whose count grew, without those in {@code excluded} and those of JFR. */
    Set<Long> grownThreads(Set<Long> excluded) {
        return latest.keySet().stream()
                .filter(id -> growth(id) > 0 && !excluded.contains(id) && !isOfJfr(id))
                .collect(Collectors.toSet());
    }

    private boolean isOfJfr(long id) {
        ThreadInfo thread = threads.getThreadInfo(id);
        return thread != null && thread.getThreadName().startsWith(JFR_THREADS);
    }
}
