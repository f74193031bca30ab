import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Burns CPU time, allocates memory and waits for a lock. Start it with -javaagent. */
public final class Example {
    private static final AtomicLong ROUNDS = new AtomicLong();
    private static final Object LOCK = new Object();
    private static volatile double total;
    private static List<byte[]> blocks = new ArrayList<>();

    private interface Job {
        void run() throws InterruptedException;
    }

    public static void main(String[] arguments) {
        // Rounds of burnCpu: more per second of CPU time is less overhead.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("rounds " + ROUNDS.get())));
        for (Job job : List.<Job>of(Example::burnCpu, Example::allocate, Example::holdLock, Example::holdLock)) {
            new Thread(() -> repeat(job)).start();
        }
    }

    private static void repeat(Job job) {
        try {
            while (true) {
                job.run();
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private static void burnCpu() throws InterruptedException {
        ROUNDS.incrementAndGet();
        double sum = 0;
        for (int i = 0; i < 5_000_000; i++) {
            sum += Math.sqrt(i);
        }
        total = sum;
        Thread.sleep(1);
    }

    private static void allocate() throws InterruptedException {
        blocks.add(new byte[256 << 10]);
        if (blocks.size() > 100) {
            blocks = new ArrayList<>(blocks.subList(50, blocks.size())); // never nothing: a heap profile is of one moment
        }
        Thread.sleep(5);
    }

    private static void holdLock() throws InterruptedException {
        synchronized (LOCK) {
            Thread.sleep(5);
        }
    }
}
