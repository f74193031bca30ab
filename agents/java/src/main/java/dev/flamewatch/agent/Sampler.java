package dev.flamewatch.agent;

import java.io.IOException;
import java.util.List;

/** Captures profiles of each type. */
final class Sampler {
    static final List<String> TYPES = List.of("CPU", "WALL", "HEAP_ALLOC", "CONTENTION", "THREADS");

    private final EventSampler events = new EventSampler();
    private final StackSampler stacks = new StackSampler();

    Pprof capture(String type, double seconds) throws IOException, InterruptedException {
        return switch (type) {
            case "CPU" -> events.cpu(seconds);
            case "WALL" -> stacks.wall(seconds);
            case "HEAP_ALLOC" -> events.allocations(seconds);
            case "CONTENTION" -> events.contention(seconds);
            case "THREADS" -> stacks.threads();
            default -> throw new IOException("unknown profile type " + type);
        };
    }
}
