package dev.flamewatch.agent;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Captures WALL and THREADS profiles by stacks of all threads, without those of the agent.
 *
 * <p>Reading a stack stops its thread, and copies the names of all its frames. A thread that used no CPU time since then is
 * where it was: its stack is not read again.
 */
final class StackSampler {
    private static final long PERIOD_MICROS = 20_000;
    // With many threads samples are rarer, so that a capture takes a bounded share of a core.
    private static final long MICROS_PER_STACK = 100;
    private static final long MICROS_PER_THREAD = 20;
    private static final long UNKNOWN = -1; // CPU time of a thread that ended

    private static final class Observation {
        boolean hasMoved = true;
        long cpuNanos;
        long[] sums; // of the stack: samples and nanoseconds; null for threads without Java frames and the agent's
    }

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final boolean hasCpuTimes = threads.isThreadCpuTimeSupported() && threads.isThreadCpuTimeEnabled();

    Pprof threads() {
        Pprof profile = new Pprof("thread", "count");
        Map<List<StackTraceElement>, long[]> stacks = new HashMap<>();
        Set<Long> own = Agent.ownThreads();
        for (ThreadInfo thread : threads.dumpAllThreads(false, false)) {
            long[] sums = sums(stacks, thread, own, 1);
            if (sums != null) {
                sums[0]++;
            }
        }
        addAll(profile, stacks);
        return profile;
    }

    Pprof wall(double seconds) throws InterruptedException {
        Pprof profile = new Pprof("sample", "count", "wall", "nanoseconds");
        Map<List<StackTraceElement>, long[]> stacks = new HashMap<>();
        Map<Long, Observation> observations = Map.of(); // of live threads, by id
        profile.begin();
        long last = System.nanoTime();
        long end = last + Math.round(seconds * 1e9);
        long micros = PERIOD_MICROS;
        while (last < end) {
            // A fixed period could run in step with a periodic program.
            micros = Math.round(micros * (0.5 + ThreadLocalRandom.current().nextDouble()));
            Thread.sleep(Math.max(1, Math.min(micros / 1000, (end - last) / 1_000_000)));
            Set<Long> own = Agent.ownThreads();
            long[] ids = threads.getAllThreadIds();
            observations = observe(ids, observations);
            long[] moved = moved(ids, observations);
            ThreadInfo[] dump = threads.getThreadInfo(moved, Integer.MAX_VALUE);
            for (int i = 0; i < moved.length; i++) {
                observations.get(moved[i]).sums = dump[i] == null ? null : sums(stacks, dump[i], own, 2);
            }
            long now = System.nanoTime();
            for (long id : ids) {
                long[] sums = observations.get(id).sums;
                if (sums != null) {
                    sums[0]++;
                    sums[1] += now - last;
                }
            }
            last = now;
            micros = PERIOD_MICROS + MICROS_PER_STACK * moved.length + MICROS_PER_THREAD * ids.length;
        }
        profile.end();
        addAll(profile, stacks);
        return profile;
    }

    /** Returns an observation of each thread, which has moved since the last one if it used CPU time. */
    private Map<Long, Observation> observe(long[] ids, Map<Long, Observation> last) {
        Map<Long, Observation> observations = new HashMap<>();
        for (long id : ids) {
            long cpuNanos = hasCpuTimes ? threads.getThreadCpuTime(id) : UNKNOWN;
            Observation observation = last.get(id);
            if (observation == null) {
                observation = new Observation();
            } else {
                observation.hasMoved = cpuNanos == UNKNOWN || cpuNanos != observation.cpuNanos;
            }
            observation.cpuNanos = cpuNanos;
            observations.put(id, observation);
        }
        return observations;
    }

    private static long[] moved(long[] ids, Map<Long, Observation> observations) {
        long[] moved = new long[ids.length];
        int count = 0;
        for (long id : ids) {
            if (observations.get(id).hasMoved) {
                moved[count++] = id;
            }
        }
        return Arrays.copyOf(moved, count);
    }

    /** Returns the sums of a thread's stack; null for threads without Java frames and those of the agent. */
    private static long[] sums(
            Map<List<StackTraceElement>, long[]> stacks, ThreadInfo thread, Set<Long> own, int metrics) {
        StackTraceElement[] elements = thread.getStackTrace();
        if (elements.length == 0 || own.contains(thread.getThreadId())) {
            return null;
        }
        List<StackTraceElement> stack = Arrays.asList(elements);
        long[] sums = stacks.get(stack);
        if (sums == null) {
            sums = new long[metrics];
            stacks.put(stack, sums);
        }
        return sums;
    }

    private static void addAll(Pprof profile, Map<List<StackTraceElement>, long[]> stacks) {
        for (Map.Entry<List<StackTraceElement>, long[]> sample : stacks.entrySet()) {
            List<Integer> locations = new ArrayList<>();
            for (StackTraceElement frame : sample.getKey()) {
                int function = profile.method(frame.getClassName(), frame.getMethodName());
                locations.add(profile.location(function, frame.getLineNumber()));
            }
            profile.add(locations, sample.getValue());
        }
    }
}
