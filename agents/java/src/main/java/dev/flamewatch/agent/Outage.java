package dev.flamewatch.agent;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/** Log throttle: one line for the first failure of each kind, and one when the outage ends. */
final class Outage {
    private final Consumer<String> log;
    private final Set<String> kinds = new HashSet<>();
    private long since;

    Outage(Consumer<String> log) {
        this.log = log;
    }

    void failed(String kind, String line) {
        if (kinds.isEmpty()) {
            since = System.nanoTime();
        }
        if (kinds.add(kind)) {
            log.accept(line + " The program is not affected.");
        }
    }

    /** Ends the outage without a line. */
    void forget() {
        kinds.clear();
    }

    void over(String server) {
        if (!kinds.isEmpty()) {
            kinds.clear();
            log.accept(server + " works again, after " + (System.nanoTime() - since) / 1_000_000_000 + " s.");
        }
    }
}
