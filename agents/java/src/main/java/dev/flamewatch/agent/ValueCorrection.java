package dev.flamewatch.agent;

import dev.flamewatch.agent.JfrReader.Event;
import java.io.IOException;
import java.util.Set;

/** Correction of the values of JFR's events by what the JVM counts for each thread. Its creation begins the count. */
interface ValueCorrection {
    /** Updates the counts. Threads that end later have those of the last update. */
    void update();

    /** Takes note of an event; all of them come before {@link #complete}. */
    void add(Event event) throws IOException;

    /** Ends the events; {@code own} are the agent's threads, whose counts are not the program's. */
    void complete(Set<Long> own);

    /** Returns the values of an event in the profile. */
    long[] values(Event event) throws IOException;

    /** Adds to the profile what the JVM has counted and no event stands for. */
    default void addRest(Pprof profile) {}
}
