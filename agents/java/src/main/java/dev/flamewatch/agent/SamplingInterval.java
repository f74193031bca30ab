package dev.flamewatch.agent;

import dev.flamewatch.agent.JfrReader.Event;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * Real interval of JFR's execution samples. JFR waits for the period after each sample, so the interval is longer by the
 * time that sampling takes, and on a busy machine by that until its thread runs. The samples of a thread that runs for
 * several intervals show it.
 */
final class SamplingInterval {
    private static final int MIN_INTERVALS = 10; // fewer tell nothing

    private final long periodNanos;
    private final Map<Long, Long> lastNanos = new HashMap<>(); // time of a thread's last sample
    private long sumNanos;
    private int count;

    SamplingInterval(long periodNanos) {
        this.periodNanos = periodNanos;
    }

    void add(Event sample) throws IOException {
        long nanos = sample.startNanos();
        Long last = lastNanos.put(sample.threadId(), nanos);
        // Longer ones have a moment between them in which the thread did not run.
        if (last != null && nanos - last > periodNanos / 2 && nanos - last < 3 * periodNanos / 2) {
            sumNanos += nanos - last;
            count++;
        }
    }

    long nanos() {
        return count < MIN_INTERVALS ? periodNanos : sumNanos / count;
    }
}
