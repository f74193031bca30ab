package dev.flamewatch.agent;

import java.util.function.DoubleSupplier;

/** Counter of consecutive failures that returns the pause in seconds after each of them. */
final class Backoff {
    private static final double FIRST = 60;
    private static final double GROWTH = 1.3;
    private static final double LONGEST = 3600;
    private static final double LONGEST_SERVER_DELAY = 24 * 3600; // a wrong delay must not end profiling

    private final DoubleSupplier uniform; // random, from 0 to 1
    private int failures;

    Backoff(DoubleSupplier uniform) {
        this.uniform = uniform;
    }

    void succeed() {
        failures = 0;
    }

    /**
     * Returns the server's delay or slightly more; without one (null) a random time from a range that grows with each
     * failure, so that a restarting server is not overloaded.
     */
    double next(Double serverDelay) {
        double range = range();
        failures++;
        if (serverDelay == null) {
            return uniform.getAsDouble() * range;
        }
        return Math.min(serverDelay, LONGEST_SERVER_DELAY) * (1 + 0.1 * uniform.getAsDouble());
    }

    /** Returns a pause for errors that waiting does not cure, such as a rejected key. */
    double nextLong(Double serverDelay) {
        double range = range();
        return Math.max(next(serverDelay), range / 2 * (1 + uniform.getAsDouble()));
    }

    private double range() {
        return Math.min(LONGEST, FIRST * Math.pow(GROWTH, Math.min(failures, 64)));
    }
}
