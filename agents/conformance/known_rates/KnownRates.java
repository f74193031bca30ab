import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Prints what its functions used in total, for comparison with profiles. Start it with -javaagent.
 *
 * <p>KNOWN_RATES_BURNERS: threads that use CPU time (default 1); more than cores make them wait for one.
 */
public final class KnownRates {
    private static final int PARKED_THREADS = 7;
    private static final int BLOCK_BYTES = 10_000;
    private static final int HEADER_BYTES = 16;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Object LOCK = new Object();
    private static final AtomicLong CPU = new AtomicLong();
    private static final AtomicLong WALL = new AtomicLong();
    private static final AtomicLong ALLOCATED = new AtomicLong();
    private static final AtomicLong DELAY = new AtomicLong();
    private static volatile double total;
    private static volatile byte[] block;

    private interface Job {
        void run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        // The agent captures after the threads have allocated much: their first samples must not carry it.
        for (int i = 0; i < 20_000; i++) {
            allocate();
        }
        for (int i = 0; i < Integer.parseInt(System.getenv().getOrDefault("KNOWN_RATES_BURNERS", "1")); i++) {
            start(KnownRates::burn);
        }
        start(KnownRates::waitHere);
        start(KnownRates::allocateSome);
        start(KnownRates::hold);
        start(KnownRates::hold);
        for (int i = 0; i < PARKED_THREADS; i++) {
            start(KnownRates::park);
        }
        while (true) {
            Instant now = Instant.now();
            System.out.println("rates time=" + (now.getEpochSecond() * 1_000_000_000 + now.getNano())
                    + " cpu=" + CPU.get() + " wall=" + WALL.get() + " allocated=" + ALLOCATED.get()
                    + " delay=" + DELAY.get() + " threads=" + PARKED_THREADS);
            Thread.sleep(5);
        }
    }

    private static void start(Job job) {
        new Thread(() -> repeat(job)).start();
    }

    private static void repeat(Job job) {
        try {
            while (true) {
                job.run();
            }
        } catch (Exception error) {
            error.printStackTrace();
            System.exit(1);
        }
    }

    private static void pause(int most) throws InterruptedException {
        Thread.sleep(1 + ThreadLocalRandom.current().nextInt(most)); // never in step with a sampler
    }

    private static void burn() throws InterruptedException {
        long start = THREADS.getCurrentThreadCpuTime();
        double sum = 0;
        for (int i = 0; i < 2_000_000; i++) {
            sum += Math.sqrt(i);
        }
        total = sum;
        CPU.addAndGet(THREADS.getCurrentThreadCpuTime() - start);
        pause(3);
    }

    private static void waitHere() throws InterruptedException {
        long start = System.nanoTime();
        pause(40);
        WALL.addAndGet(System.nanoTime() - start);
    }

    private static void allocateSome() throws InterruptedException {
        for (int i = 0; i < 20; i++) {
            allocate();
        }
        pause(5);
    }

    private static void allocate() {
        block = new byte[BLOCK_BYTES];
        ALLOCATED.addAndGet(HEADER_BYTES + BLOCK_BYTES);
    }

    private static void hold() throws InterruptedException {
        long start = System.nanoTime();
        synchronized (LOCK) {
            DELAY.addAndGet(System.nanoTime() - start);
            pause(5);
        }
    }

    private static void park() {
        LockSupport.parkNanos(Duration.ofHours(1).toNanos());
    }
}
