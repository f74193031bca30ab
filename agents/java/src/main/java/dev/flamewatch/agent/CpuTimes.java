package dev.flamewatch.agent;

import dev.flamewatch.agent.JfrReader.Event;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * CPU time that each of JFR's execution samples stands for.
 *
 * <p>JFR samples threads that could run Java code, also those that wait for a core, and at most five per period; on a crowded
 * machine its own thread waits for a core, too. The CPU time that the JVM counts for each thread corrects this: samples never
 * stand for more than it, and for all of it if JFR left threads out or the machine was crowded. Otherwise a sample stands for
 * the interval that JFR kept, since threads also use CPU time in native code and in the JVM, which has no samples: a frame of
 * its own shows it.
 */
final class CpuTimes implements ValueCorrection {
    private static final int MAX_THREADS_PER_PERIOD = 5; // of JFR
    private static final int MIN_SAMPLES = 100; // of a thread that is corrected alone: its sampling error is small
    private static final double MAX_ERROR = 0.1; // of the interval: a smaller difference is sampling error

    private static final double MAX_DEVIATIONS = 3; // of the number of samples: less time without samples is sampling error
    private static final String UNSAMPLED = "[native code or JVM, not sampled]";

    private static final double CROWDED = 0.5; // share of the time in which a thread of the machine waited for a core
    // Of the container, whose limit of CPU time may be lower than the machine's, and of the machine.
    private static final List<Path> PRESSURES =
            List.of(Path.of("/sys/fs/cgroup/cpu.pressure"), Path.of("/proc/pressure/cpu"));
    private static final Pattern PRESSURE = Pattern.compile("some .*total=(\\d+)"); // microseconds

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final boolean isCounted = threads.isThreadCpuTimeSupported() && threads.isThreadCpuTimeEnabled();
    private final ThreadCounts nanos = new ThreadCounts(threads, this::read);
    private final long beganNanos = System.nanoTime();
    private final long beganWaitingMicros = waitingMicros();
    private final long periodNanos;
    private final SamplingInterval interval;
    private final Map<Long, Integer> samples = new HashMap<>(); // by thread
    private final List<Long> times = new ArrayList<>(); // of all samples
    private final Map<Long, Long> ownNanosPerSample = new HashMap<>(); // of threads with MIN_SAMPLES
    private long otherNanosPerSample;
    private long unsampledNanos;

    /** Begins to count. */
    CpuTimes(long periodNanos) {
        this.periodNanos = periodNanos;
        interval = new SamplingInterval(periodNanos);
    }

    private long[] read(long[] ids) {
        long[] found = new long[ids.length];
        for (int i = 0; i < ids.length; i++) {
            found[i] = isCounted ? threads.getThreadCpuTime(ids[i]) : -1;
        }
        return found;
    }

    @Override
    public void update() {
        nanos.update();
    }

    @Override
    public void add(Event sample) throws IOException {
        interval.add(sample);
        times.add(sample.startNanos());
        samples.merge(sample.threadId(), 1, Integer::sum);
    }

    @Override
    public void complete(Set<Long> own) {
        boolean isIncomplete = isCrowded() || areThreadsLeftOut();
        Set<Long> corrected = new HashSet<>(own);
        int otherSamples = 0;
        for (Map.Entry<Long, Integer> thread : samples.entrySet()) {
            long id = thread.getKey();
            if (thread.getValue() >= MIN_SAMPLES && nanos.isKnown(id)) {
                corrected.add(id);
                long nanosPerSample = correct(nanos.growth(id), thread.getValue(), isIncomplete);
                ownNanosPerSample.put(id, nanosPerSample);
                noteRest(nanos.growth(id), thread.getValue(), nanosPerSample);
            } else {
                otherSamples += thread.getValue();
            }
        }
        long otherNanos = nanos.grownThreads(corrected).stream().mapToLong(nanos::growth).sum();
        otherNanosPerSample = isCounted ? correct(otherNanos, otherSamples, isIncomplete) : interval.nanos();
        noteRest(otherNanos, otherSamples, otherNanosPerSample);
    }

    private void noteRest(long cpuNanos, int count, long nanosPerSample) {
        long rest = cpuNanos - count * nanosPerSample;
        if (rest > MAX_DEVIATIONS * Math.sqrt(count + 1) * interval.nanos()) {
            unsampledNanos += rest;
        }
    }

    private long correct(long cpuNanos, int count, boolean isIncomplete) {
        double nanosPerSample = (double) cpuNanos / Math.max(1, count);
        if (isIncomplete || nanosPerSample < (1 - MAX_ERROR) * interval.nanos()) {
            return Math.round(nanosPerSample);
        }
        return interval.nanos();
    }

    private boolean isCrowded() {
        double micros = (System.nanoTime() - beganNanos) / 1e3;
        return waitingMicros() - beganWaitingMicros > CROWDED * micros;
    }

    /** Returns for how long any thread has waited for a core; 0 on systems that do not count it. */
    private static long waitingMicros() {
        for (Path file : PRESSURES) {
            try {
                Matcher found = PRESSURE.matcher(Files.readString(file));
                if (found.find()) {
                    return Long.parseLong(found.group(1));
                }
            } catch (IOException missing) {
                continue; // only Linux has these files, and not all kernels
            }
        }
        return 0;
    }

    /** Returns true if most samples come from periods in which JFR took as many as it takes at most. */
    private boolean areThreadsLeftOut() {
        times.sort(null);
        int inFullPeriods = 0;
        int start = 0;
        for (int i = 1; i <= times.size(); i++) {
            if (i == times.size() || times.get(i) - times.get(i - 1) > periodNanos / 2) {
                if (i - start >= MAX_THREADS_PER_PERIOD) {
                    inFullPeriods += i - start;
                }
                start = i;
            }
        }
        return inFullPeriods > times.size() / 2;
    }

    @Override
    public long[] values(Event sample) throws IOException {
        return new long[] {1, ownNanosPerSample.getOrDefault(sample.threadId(), otherNanosPerSample)};
    }

    @Override
    public void addRest(Pprof profile) {
        if (unsampledNanos > 0) {
            profile.add(List.of(profile.location(profile.function(UNSAMPLED, ""), 0)), 0, unsampledNanos);
        }
    }
}
